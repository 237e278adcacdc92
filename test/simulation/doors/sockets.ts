// TCP in memory: who listens, and pairs of streams whose chunks arrive after a seeded latency. Import it before anything that
// connects. `http.Agent`, `net.connect`, `new net.Socket` (pg) and `fetch` of an installed world end here; there is no DNS, and
// the time limits of Node's HTTP server for slow requests, which count real time, are off. TLS is a flag and the certificate of
// the client.
import { AsyncResource } from "node:async_hooks";
import { X509Certificate } from "node:crypto";
import http from "node:http";
import https from "node:https";
import { syncBuiltinESMExports, createRequire } from "node:module";
import net from "node:net";
import type { AddressInfo } from "node:net";
import { Duplex, PassThrough, setDefaultHighWaterMark } from "node:stream";
import { buffer } from "node:stream/consumers";
import tls from "node:tls";
import type { Random } from "../random.js";
import { runningProgram, theWorld } from "../world.js";
import type { Program, World } from "../world.js";

export interface ConnectionAttempt {
  host: string;
  port: number;
  from: Program | undefined;
  to: Program | undefined;
}

export interface SeenRequest extends ConnectionAttempt {
  method: string;
  url: string;
  headers: http.IncomingHttpHeaders;
}

/** As its server has answered it, whatever then becomes of the answer. */
export interface SeenAnswer extends SeenRequest {
  status: number;
  /** Of the request. */
  body: Buffer;
}

export interface OtherAnswer {
  status: number;
  headers?: Record<string, string>;
  body?: string;
}

/** What happens to one HTTP exchange. */
export interface ExchangeFault {
  /** Before the server sees the request. It has it then, also where its caller has gone meanwhile. */
  delayMs?: number;
  /** The caller sees its connection cut at once, and the server gets the request all the same. */
  isAbandoned?: true;
  /** Instead of the request: the connection is cut, or something else answers. */
  before?: "cut" | OtherAnswer;
  /** Instead of the answer that the server has made. */
  after?: "cut" | OtherAnswer;
  /** Before the answer, or what is in its place, leaves the server. */
  answerDelayMs?: number;
}

interface Listener {
  accept: (endpoint: Endpoint) => void;
  /** Under TLS: the code of the alert for this client certificate. */
  refusal?: ((certificate: X509Certificate | undefined) => string | undefined) | undefined;
}

interface Listening extends Listener {
  program: Program | undefined;
  scope: AsyncResource;
}

const FIRST_FREE_PORT = 40_000;

export class Network {
  readonly world: World;
  /** Faults: refuses a connection. */
  onConnection: (attempt: ConnectionAttempt) => "refuse" | undefined = () => undefined;
  /** Faults of one HTTP exchange. */
  onRequest: (request: SeenRequest) => ExchangeFault | undefined = () => undefined;
  /** Told of each answer of a server. */
  onAnswer: (answer: SeenAnswer) => void = () => undefined;
  /** Virtual milliseconds of each chunk. */
  latencyMs: () => number;
  readonly #listening = new Map<string, Listening>();
  readonly #random: Random;
  #nextPort = FIRST_FREE_PORT;

  constructor(world: World) {
    this.world = world;
    this.#random = world.fork("network");
    this.latencyMs = () => this.#random.int(0, 3);
  }

  /** Listens for the running program; returns how to stop. Port 0 is a free one. */
  listen(host: string, port: number, listener: Listener): { port: number; close: () => void } {
    const chosen = port === 0 ? this.#nextPort++ : port;
    const key = keyOf(host, chosen);
    if (this.#listening.has(key)) throw failure("EADDRINUSE", "listen", host, chosen);
    const program = runningProgram();
    const scope = new AsyncResource("Listening");
    this.#listening.set(key, { ...listener, program, scope });
    const close = () => void this.#listening.delete(key);
    const forget = program?.atEnd(close);
    return {
      port: chosen,
      close: () => {
        close();
        forget?.();
      },
    };
  }

  listenerAt(host: string, port: number): Listening | undefined {
    return this.#listening.get(keyOf(host, port)) ?? this.#listening.get(keyOf("", port));
  }
}

/** All addresses of this machine are one; a name that listens is a host of its own. */
function keyOf(host: string, port: number): string {
  const isHere = host === "" || host === "localhost" || net.isIP(host) !== 0;
  return `${isHere ? "" : host}:${port}`;
}

function failure(code: string, call: string, host: string, port: number): Error {
  const error = new Error(`${call} ${code} ${host}:${port}`);
  return Object.assign(error, { code, syscall: call, address: host, port });
}

/** One end of a connection, with what `net.Socket` has. */
export class Endpoint extends Duplex {
  readonly network: Network;
  readonly program = runningProgram();
  readonly #scope = new AsyncResource("Endpoint");
  peer: Endpoint | undefined;
  connecting = false;
  secureConnecting = false;
  authorized = false;
  /** Of the client, on both sides. */
  certificate: X509Certificate | undefined;
  /** What is written from now on gets lost. */
  isMute = false;
  /** The request is under way to its server, which does not learn that the caller has gone. */
  #isHeld = false;
  #isLeft = false;
  timeout = 0;
  remoteAddress: string | undefined;
  remotePort: number | undefined;
  readonly remoteFamily = "IPv4";
  readonly localAddress = "127.0.0.1";
  host = "";
  #arrivesAt = 0;
  #activeAt = 0;
  #stopTimeout: (() => void) | undefined;
  readonly #unsent: (() => void)[] = [];
  readonly #forget: (() => void) | undefined;

  constructor(network: Network, options: { allowHalfOpen?: boolean; isSecure?: boolean } = {}) {
    super({ allowHalfOpen: options.allowHalfOpen ?? false });
    this.network = network;
    // What asks for it looks whether there is such a property.
    if (options.isSecure) Object.assign(this, { encrypted: true, secureConnecting: true });
    this.#forget = this.program?.atEnd(() => {
      this.#toPeer((peer) => peer.reset());
      // The agent forgets it, as it outlives the program.
      this.emit("agentRemove");
    });
  }

  connect(...args: unknown[]): this {
    const [first, second] = args;
    const given = (typeof first === "object" ? first : { port: first, host: second }) as {
      port: number | string;
      host?: string;
    };
    const done = args.at(-1);
    if (typeof done === "function") this.once("connect", done as () => void);
    const host = typeof given.host === "string" ? given.host : "localhost";
    const port = Number(given.port);
    Object.assign(this, { connecting: true, remotePort: port, host });
    this.network.world.after(this.network.latencyMs(), () => this.#reach(host, port));
    return this;
  }

  #reach(host: string, port: number): void {
    if (this.destroyed) return;
    this.emit("lookup", null, "127.0.0.1", 4, host);
    const found = this.network.listenerAt(host, port);
    const attempt = { host, port, from: this.program, to: found?.program };
    if (!found || this.network.onConnection(attempt) === "refuse")
      return void this.destroy(failure("ECONNREFUSED", "connect", host, port));
    this.connecting = false;
    this.remoteAddress = "127.0.0.1";
    const isSecure = this.secureConnecting;
    const alert = isSecure ? found.refusal?.(this.certificate) : undefined;
    if (!alert) found.scope.runInAsyncScope(() => this.#meet(found, isSecure));
    this.emit("connect");
    this.emit("ready");
    if (alert) return void this.destroy(failure(alert, "read", host, port));
    if (isSecure) {
      Object.assign(this, { secureConnecting: false, authorized: true });
      this.emit("secureConnect");
    }
    for (const send of this.#unsent.splice(0)) send();
  }

  /** In the program that listens. */
  #meet(found: Listening, isSecure: boolean): void {
    const { host, certificate, remotePort } = this;
    const other = new Endpoint(this.network, { allowHalfOpen: true, isSecure });
    const address = { host, remoteAddress: "127.0.0.1", remotePort };
    Object.assign(other, { ...address, certificate, secureConnecting: false, peer: this });
    this.peer = other;
    found.accept(other);
  }

  /** The other side is gone. */
  reset(): void {
    if (this.#isHeld) this.#isLeft = true;
    else this.destroy(failure("ECONNRESET", "read", this.host, this.remotePort ?? 0));
  }

  /** Does not notice that the other side is gone, until it is released. */
  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
    if (this.#isLeft) this.reset();
  }

  /** The other side sees the connection cut. */
  abandon(): void {
    this.hold();
    this.isMute = true;
    this.#toPeer((peer) => peer.reset());
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#send(chunk);
    done();
  }

  override _writev(chunks: { chunk: Buffer }[], done: () => void): void {
    this.#send(Buffer.concat(chunks.map(({ chunk }) => chunk)));
    done();
  }

  override _final(done: () => void): void {
    if (!this.#isSilent) this.#toPeer((peer) => peer.#endReading());
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#forget?.();
    this.#stopTimeout?.();
    this.connecting = false;
    if (!this.writableFinished) this.#toPeer((peer) => peer.#endReading());
    done(error);
  }

  get #isSilent(): boolean {
    return this.isMute || this.program?.isAlive === false;
  }

  #endReading(): void {
    if (this.#isHeld) this.#isLeft = true;
    else if (!this.destroyed) this.push(null);
  }

  #send(chunk: Buffer): void {
    if (this.#isSilent) return;
    const copy = Buffer.from(chunk);
    this.#toPeer((peer) => {
      this.network.world.trace("tcp", nameOf(this), nameOf(peer), copy);
      if (peer.destroyed) peer.#toPeer(() => this.reset());
      else peer.push(copy);
    });
  }

  /** Runs `work` after a latency, in the other's program, in the order of the calls. */
  #toPeer(work: (peer: Endpoint) => void): void {
    if (this.connecting) return void this.#unsent.push(() => this.#toPeer(work));
    const { peer, network } = this;
    if (!peer) return;
    this.#activeAt = network.world.now;
    this.#arrivesAt = Math.max(this.#arrivesAt, network.world.now + network.latencyMs());
    const later = this.#arrivesAt - network.world.now;
    peer.#scope.runInAsyncScope(() =>
      network.world.after(later, () => {
        peer.#activeAt = network.world.now;
        work(peer);
      }),
    );
  }

  address(): Partial<AddressInfo> {
    if (this.connecting) return {};
    return { address: this.localAddress, family: "IPv4", port: this.remotePort ?? 0 };
  }

  setTimeout(ms: number, done?: () => void): this {
    this.timeout = ms;
    this.#stopTimeout?.();
    if (done && ms > 0) this.once("timeout", done);
    else if (done) this.off("timeout", done);
    this.#activeAt = this.network.world.now;
    const watch = (later: number): void => {
      this.#stopTimeout = this.network.world.after(later, () => {
        const left = this.#activeAt + ms - this.network.world.now;
        if (left > 0) return watch(left);
        this.emit("timeout");
      });
    };
    if (ms > 0) watch(ms);
    return this;
  }

  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once("finish", () => this.destroy());
  }

  getProtocol(): string {
    return "TLSv1.2";
  }

  getPeerCertificate(): { subject?: { CN: string } } {
    const name = /^CN=(.*)$/m.exec(this.certificate?.subject ?? "")?.[1];
    return name === undefined ? {} : { subject: { CN: name } };
  }

  setNoDelay = (): this => this;
  setKeepAlive = (): this => this;
  ref = (): this => this;
  unref = (): this => this;
}

function nameOf({ program }: Endpoint): string {
  return program?.name ?? "-";
}

/** A server with TLS takes certificates that are valid now; who issued them is not looked at. */
function refusalOf(certificate: X509Certificate | undefined): string | undefined {
  if (!certificate) return "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED";
  const isOver = Date.parse(certificate.validTo) < Date.now();
  return isOver ? "ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED" : undefined;
}

/** Only a TLS socket tells the certificate of a context. */
function certificateOf(options: https.AgentOptions): X509Certificate | undefined {
  const { secureContext, cert } = options;
  if (!secureContext) return cert ? new X509Certificate(cert as string) : undefined;
  const socket = new tls.TLSSocket(new PassThrough(), { secureContext });
  const certificate = socket.getX509Certificate();
  socket.destroy();
  return certificate;
}

let network: Network | undefined;

/** The network of the installed world. */
export function installNetwork(world: World): Network {
  network = new Network(world);
  return network;
}

const active = (): Network | undefined => (theWorld() === network?.world ? network : undefined);

type ServerOfNode = net.Server & {
  _connections: number;
  _handle: object | null;
  _emitCloseIfDrained(): void;
};

/** A server of Node whose handle is ours; `close`, `address` and `listening` then work as they are. */
function listenOn(at: Network, server: ServerOfNode, args: unknown[]): net.Server {
  const [first] = args;
  const options = (typeof first === "object" ? first : { port: first, host: args[1] }) as {
    port?: number;
    host?: string;
  };
  const done = args.at(-1);
  if (typeof done === "function") server.once("listening", done as () => void);
  const isSecure = server instanceof tls.Server;
  const accept = (endpoint: Endpoint): void => {
    server["_connections"] += 1;
    endpoint.once("close", () => {
      server["_connections"] -= 1;
      server["_emitCloseIfDrained"]();
    });
    server.emit(isSecure ? "secureConnection" : "connection", endpoint);
  };
  try {
    const host = typeof options.host === "string" ? options.host : "";
    const { port, close } = at.listen(host, options.port ?? 0, {
      accept,
      refusal: isSecure ? refusalOf : undefined,
    });
    const address = { address: host || "127.0.0.1", family: "IPv4", port };
    server["_handle"] = { close, getsockname: (out: object) => void Object.assign(out, address) };
    if (server instanceof http.Server || server instanceof https.Server)
      watchRequests(at, server, port);
    process.nextTick(() => server.emit("listening"));
  } catch (error) {
    process.nextTick(() => server.emit("error", error));
  }
  return server;
}

/** Asks for the fault of each request, before a listener sees it. */
function watchRequests(at: Network, server: http.Server | https.Server, port: number): void {
  const emit = server.emit.bind(server) as (event: string | symbol, ...args: unknown[]) => boolean;
  server.once("listening", () => {
    // It counts real time.
    const symbols = Object.getOwnPropertySymbols(server);
    const checking = symbols.find((one) =>
      one.description?.endsWith("connectionsCheckingInterval"),
    );
    if (checking) clearInterval((server as unknown as Record<symbol, NodeJS.Timeout>)[checking]);
  });
  server.emit = ((event: string | symbol, ...args: unknown[]): boolean => {
    if (event !== "request") return emit(event, ...args);
    const [request, response] = args as [http.IncomingMessage, http.ServerResponse];
    const endpoint = request.socket as unknown as Endpoint;
    const seen = {
      host: endpoint.host,
      port,
      from: endpoint.peer?.program,
      to: endpoint.program,
      method: request.method ?? "",
      url: request.url ?? "",
      headers: request.headers,
    };
    watchAnswer(at, seen, request, response);
    const fault = at.onRequest(seen);
    if (!fault) return emit(event, ...args);
    spoil(at, endpoint, response, fault, () => emit(event, ...args));
    return true;
  }) as typeof server.emit;
}

function watchAnswer(
  at: Network,
  seen: SeenRequest,
  request: http.IncomingMessage,
  response: http.ServerResponse,
): void {
  const chunks: Buffer[] = [];
  const push = request.push.bind(request);
  request.push = (chunk: Buffer | null) => {
    if (chunk) chunks.push(chunk);
    return push(chunk);
  };
  response.once("finish", () =>
    at.onAnswer({ ...seen, status: response.statusCode, body: Buffer.concat(chunks) }),
  );
}

function spoil(
  { world }: Network,
  endpoint: Endpoint,
  response: http.ServerResponse,
  { before, after, delayMs = 0, answerDelayMs = 0, isAbandoned }: ExchangeFault,
  handle: () => void,
): void {
  const instead = (what: "cut" | OtherAnswer) => {
    endpoint.isMute = false;
    if (what === "cut") endpoint.destroy();
    else endpoint.end(rawAnswer(what));
  };
  const go = () => {
    if (before) return instead(before);
    if (!after && answerDelayMs === 0) return handle();
    if (after) {
      endpoint.isMute = true;
      response.once("close", () => void world.after(answerDelayMs, () => instead(after)));
      return handle();
    }
    const end = response.end.bind(response) as (...args: unknown[]) => http.ServerResponse;
    response.end = (...args: unknown[]) => {
      world.after(answerDelayMs, () => void end(...args));
      return response;
    };
    handle();
  };
  if (isAbandoned) endpoint.abandon();
  if (delayMs === 0) return go();
  endpoint.hold();
  response.once("close", () => endpoint.release());
  world.after(delayMs, go);
}

function rawAnswer({ status, headers = {}, body = "" }: OtherAnswer): string {
  const all = {
    ...headers,
    "content-length": String(Buffer.byteLength(body)),
    connection: "close",
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${http.STATUS_CODES[status] ?? ""}\r\n${lines.join("")}\r\n${body}`;
}

/** `fetch` over `http.request`. */
async function fetchOver(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const { method, url, headers, body, signal } = new Request(input, init);
  const sent = http.request(url, { method, headers: Object.fromEntries(headers), signal });
  const answer = new Promise<http.IncomingMessage>((resolve, reject) =>
    sent
      .once("response", resolve)
      .once("error", (cause) => reject(new TypeError("fetch failed", { cause }))),
  );
  sent.end(body ? await buffer(body as never) : undefined);
  const {
    statusCode: status = 0,
    headers: found,
    ...rest
  } = await answer.then(async (message) => ({
    statusCode: message.statusCode,
    headers: message.headers,
    bytes: await buffer(message),
  }));
  const isEmpty = [204, 205, 304].includes(status);
  return new Response(isEmpty ? null : rest.bytes, {
    status,
    headers: found as Record<string, string>,
  });
}

function replaceNetwork(): void {
  const module = createRequire(import.meta.url)("node:net") as typeof net;
  const native = { listen: net.Server.prototype.listen, connect: net.connect, Socket: net.Socket };
  net.Server.prototype.listen = function listen(this: ServerOfNode, ...args: unknown[]) {
    const at = active();
    return at ? listenOn(at, this, args) : (native.listen as Function).apply(this, args);
  } as typeof native.listen;
  const connect = ((...args: unknown[]) => {
    const at = active();
    return at ? new Endpoint(at).connect(...args) : (native.connect as Function)(...args);
  }) as typeof net.connect;
  const Socket: typeof net.Socket = new Proxy(native.Socket, {
    construct: (target, args, self): object => {
      const at = active();
      return at && self === Socket ? new Endpoint(at) : Reflect.construct(target, args, self);
    },
  });
  Object.assign(module, { connect, createConnection: connect, Socket });
  const { prototype } = http.Agent as unknown as { prototype: Record<string, Function> };
  prototype.createConnection = connect;
  const secure = https.Agent.prototype as unknown as Record<string, Function>;
  const connectSecure = secure.createConnection as Function;
  secure.createConnection = function connected(...args: unknown[]): unknown {
    const at = active();
    if (!at) return connectSecure.apply(this, args);
    const endpoint = new Endpoint(at, { isSecure: true });
    endpoint.certificate = certificateOf(args[0] as https.AgentOptions);
    return endpoint.connect(args[0]);
  };
  const isTls = (socket: object) =>
    Object.prototype.isPrototypeOf.call(tls.TLSSocket.prototype, socket) ||
    (socket instanceof Endpoint && "encrypted" in socket);
  Object.defineProperty(tls.TLSSocket, Symbol.hasInstance, { value: isTls });
  // Programs share the modules, and so the agents, but no connections.
  const getName = prototype.getName as Function;
  prototype.getName = function named(...args: unknown[]) {
    return `${getName.apply(this, args)}:${active() ? (runningProgram()?.id ?? "") : ""}`;
  };
  // Node's own date header reads the real clock.
  const writeHead = http.ServerResponse.prototype.writeHead as Function;
  http.ServerResponse.prototype.writeHead = function dated(
    this: http.ServerResponse,
    ...args: unknown[]
  ) {
    if (active() && this.sendDate && !this.hasHeader("date"))
      this.setHeader("date", new Date().toUTCString());
    return writeHead.apply(this, args);
  } as typeof http.ServerResponse.prototype.writeHead;
  // What the releases of Node differ in: how much a stream takes at once, and what got asks for where Node has it.
  setDefaultHighWaterMark(false, 65_536);
  delete (process.versions as NodeJS.Dict<string>)["zstd"];
  const { fetch } = globalThis;
  globalThis.fetch = (...args) => (active() ? fetchOver(...args) : fetch(...args));
  syncBuiltinESMExports();
}

replaceNetwork();
