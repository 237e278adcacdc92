// One HTTP exchange, once: no redirect, no proxy, and no retry but that of a question on a kept connection that was just being closed.
// Temporal is the retry loop; what a failure means is decided by whether a byte can have left this machine. The error of got never leaves
// this file: it prints URL, headers and body.
import { once } from "node:events";
import http from "node:http";
import type { IncomingHttpHeaders } from "node:http";
import https from "node:https";
import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import type { Span, SpanOptions } from "@opentelemetry/api";
import { got } from "got";
import type { Method, PlainResponse } from "got";
import { ProviderError, withoutAnswer } from "../errors/provider-error.js";
import type { EffectClass } from "../effect-classes.js";
import { mutualTlsAgent, refusesCertificate } from "./mutual-tls.js";
import type { TlsIdentity } from "./mutual-tls.js";

export interface HttpRequest {
  provider: string;
  operation: string;
  effectClass: EffectClass;
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "QUERY";
  url: URL;
  headers: Record<string, string>;
  /** A form is sent as multipart/form-data, with its own content type. */
  body?: string | Buffer | Readable | FormData | undefined;
  /** For a host that wants a client certificate; the same object means the same connections. */
  tls?: TlsIdentity | undefined;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  /** A success with more bytes is no answer. */
  maxBytes?: number | undefined;
  /** Keeps the body of a success, which may be large. */
  keepIn?: Keep | undefined;
}

export interface HttpAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  /** With `keepIn` and a success only the first 64 KB, and of any other status the first megabyte. */
  body: Buffer;
  /** With `keepIn` and a success: the whole body. */
  kept?: KeptFile;
}

/** Stores a body while it arrives, so that it can be read several times. */
export interface Keep {
  keep(pieces: AsyncIterable<Uint8Array>): Promise<KeptFile>;
}

export interface KeptFile {
  readonly size: number;
  readonly sha256: string;
  /** The bytes from `start` up to, and without, `end`; by default all bytes. */
  pieces(start?: number, end?: number): AsyncIterable<Buffer>;
}

/** Limits an answer that is no file, and holds none. */
export const MAX_ANSWER_BYTES = 1024 * 1024;
const MAX_KEPT_BYTES = 1024 * 1024 * 1024;
const BODY_BYTES = 64 * 1024;
const MAX_CONNECT_MS = 10_000;

const plain = {
  kept: {
    http: new http.Agent({ keepAlive: true }),
    https: new https.Agent({ keepAlive: true }),
  },
  // A call with an effect never uses an idle connection: the other side may just be closing it, and then nobody knows whether it arrived.
  fresh: { http: new http.Agent(), https: new https.Agent() },
};

/**
 * Throws ProviderError: `unavailable` with effect `none` where nothing can have been written (name, connection, TLS,
 * abort before that), `protocol` where the request could not be built; else as `withoutAnswer` says for the class.
 */
export function exchange(request: HttpRequest): Promise<HttpAnswer> {
  const { provider, operation, effectClass, method, url } = request;
  const attributes = {
    "http.request.method": method,
    "server.address": url.hostname,
    "trustflow.effect_class": effectClass,
  };
  return inSpan(`${provider} ${operation}`, { kind: SpanKind.CLIENT, attributes }, async (span) => {
    const answer = await exchangeOnce(request);
    span.setAttribute("http.response.status_code", answer.status);
    if (answer.status >= 400) failed(span, String(answer.status));
    return answer;
  });
}

/** The other side may close a kept connection while a question is on its way; the question is then asked anew (RFC 9112 §9.3.1). */
async function exchangeOnce(
  request: HttpRequest,
  connections: keyof typeof plain = request.effectClass === "read" ? "kept" : "fresh",
): Promise<HttpAnswer> {
  const running = new Exchange(request, connections);
  try {
    request.signal?.throwIfAborted();
    return await running.answer();
  } catch (error) {
    if (running.isOfKeeping) throw error;
    const code = running.tooLarge ? "ANSWER_TOO_LARGE" : codeOf(error);
    if (running.isUnread && /^(ECONNRESET|EPIPE)$/.test(code ?? ""))
      return exchangeOnce(request, "fresh");
    if (refusesCertificate(error)) throw certificateRefused(request, code);
    throw transportFailure(request, running.written, code);
  }
}

class Exchange {
  readonly #request: HttpRequest;
  readonly #connections: keyof typeof plain;
  written = false;
  /** It had a kept connection, and no answer has begun. */
  isUnread = false;
  tooLarge = false;
  /** `keepIn` has failed, which is no failure of the provider. */
  isOfKeeping = false;

  constructor(request: HttpRequest, connections: keyof typeof plain) {
    this.#request = request;
    this.#connections = connections;
  }

  async answer(): Promise<HttpAnswer> {
    const { url, keepIn } = this.#request;
    const maxBytes = this.#request.maxBytes ?? (keepIn ? MAX_KEPT_BYTES : MAX_ANSWER_BYTES);
    const agent = agentsOf(this.#request, this.#connections);
    const call = got.stream(url, { ...optionsOf(this.#request), agent, isStream: true });
    call.on("request", (sent: http.ClientRequest) =>
      watchWrites(sent, () => {
        this.written = true;
        this.isUnread = sent.reusedSocket;
      }),
    );
    // The reader of the body gets the error. Until a reader listens, an error without a listener would end the worker.
    call.on("error", () => undefined);
    try {
      const [{ statusCode: status, headers }] = (await once(call, "response")) as [PlainResponse];
      this.isUnread = false;
      if (status < 200 || status >= 300) return { status, headers, body: await headOf(call) };
      const pieces = this.#upTo(maxBytes, call);
      if (!keepIn) return { status, headers, body: await buffer(pieces) };
      const kept = await this.#keep(keepIn, pieces);
      return { status, headers, body: await this.#startOf(kept), kept };
    } finally {
      call.destroy();
    }
  }

  async #keep(keepIn: Keep, pieces: AsyncIterable<Buffer>): Promise<KeptFile> {
    let ofCall: unknown;
    async function* watched() {
      try {
        yield* pieces;
      } catch (error) {
        throw (ofCall = error);
      }
    }
    try {
      return await keepIn.keep(watched());
    } catch (error) {
      this.isOfKeeping = error !== ofCall;
      throw error;
    }
  }

  async #startOf(kept: KeptFile): Promise<Buffer> {
    try {
      return await buffer(kept.pieces(0, Math.min(BODY_BYTES, kept.size)));
    } catch (error) {
      this.isOfKeeping = true;
      throw error;
    }
  }

  async *#upTo(most: number, pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let size = 0;
    for await (const piece of pieces) {
      size += piece.length;
      this.tooLarge = size > most;
      if (this.tooLarge) throw new Error("the answer is too large");
      yield piece;
    }
  }
}

/** A refusal is read up to its first megabyte. */
async function headOf(pieces: AsyncIterable<Buffer>): Promise<Buffer> {
  const head: Buffer[] = [];
  let size = 0;
  for await (const piece of pieces) {
    head.push(piece);
    size += piece.length;
    if (size >= MAX_ANSWER_BYTES) break;
  }
  return Buffer.concat(head).subarray(0, MAX_ANSWER_BYTES);
}

function optionsOf(request: HttpRequest) {
  const { timeoutMs, method } = request;
  // The stream of these waits for a body.
  const body = request.body ?? (["POST", "PUT", "QUERY"].includes(method) ? "" : undefined);
  const connectMs = Math.min(timeoutMs, MAX_CONNECT_MS);
  return {
    method: method as Method,
    headers: request.headers,
    ...(body === undefined ? {} : { body }),
    ...(request.signal === undefined ? {} : { signal: request.signal }),
    timeout: {
      // A file takes as long as it takes, while its bytes come.
      ...(request.keepIn ? { response: timeoutMs, socket: timeoutMs } : { request: timeoutMs }),
      lookup: connectMs,
      connect: connectMs,
      secureConnect: connectMs,
    },
    decompress: false,
    throwHttpErrors: false,
    followRedirect: false,
    retry: { limit: 0 },
  };
}

function agentsOf(
  { tls }: HttpRequest,
  connections: keyof typeof plain,
): { http: http.Agent; https: https.Agent } {
  const agents = plain[connections];
  return tls ? { ...agents, https: mutualTlsAgent(tls, connections) } : agents;
}

/** Calls back once the request has a connection to write to; a kept connection is one from the start. */
function watchWrites(sent: http.ClientRequest, onWritable: () => void): void {
  const attach = (socket: NonNullable<http.ClientRequest["socket"]>) => {
    const secure = "encrypted" in socket;
    const opening =
      socket.connecting || ("secureConnecting" in socket && socket.secureConnecting === true);
    if (sent.reusedSocket || !opening) onWritable();
    else socket.once(secure ? "secureConnect" : "connect", onWritable);
  };
  if (sent.socket === null) sent.once("socket", attach);
  else attach(sent.socket);
}

function certificateRefused(
  { provider, operation }: HttpRequest,
  code: string | undefined,
): ProviderError {
  const problem = "the client certificate is refused";
  const about = { provider, operation, problem, code };
  return new ProviderError({ ...about, kind: "accessDenied", effect: "none" });
}

function transportFailure(
  request: HttpRequest,
  written: boolean,
  code: string | undefined,
): ProviderError {
  const { provider, operation, effectClass } = request;
  const about = { provider, operation, code };
  if (!written) {
    const ourFault = /^ERR_(HTTP_)?(INVALID|UNESCAPED|UNSUPPORTED)_/.test(code ?? "");
    return ourFault
      ? new ProviderError({
          ...about,
          kind: "protocol",
          effect: "none",
          problem: "the request could not be built",
        })
      : new ProviderError({ ...about, kind: "unavailable", effect: "none", problem: "not sent" });
  }
  const meaning = withoutAnswer(effectClass);
  const isTooLarge = code === "ANSWER_TOO_LARGE";
  if (isTooLarge && effectClass === "read") meaning.kind = "protocol";
  const problem = isTooLarge ? "the answer is larger than is read" : "no answer";
  return new ProviderError({ ...about, ...meaning, problem });
}

function codeOf(error: unknown): string | undefined {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  if (name === "AbortError") return "ABORTED";
  return typeof code === "string" && /^[A-Z0-9_]{1,64}$/.test(code) ? code : undefined;
}

// Spans of OpenTelemetry (docs/operations/watch.md). They are made in any case, and go nowhere unless src/roles/tracing.ts has set up an
// export. They carry names and ids that are in clear everywhere, and no text of an input, an answer or an error.

const tracer = trace.getTracer("trustflow");
const NAME = /^[\w.$-]{1,80}$/;

/** A span around `work`; an error ends it with its type, and passes on. */
export function inSpan<T>(
  name: string,
  options: SpanOptions,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  return tracer.startActiveSpan(name, options, async (span) => {
    try {
      return await work(span);
    } catch (error) {
      failed(span, typeOf(error));
      throw error;
    } finally {
      span.end();
    }
  });
}

function failed(span: Span, type: string): void {
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute("error.type", type);
}

/** The kind of a ProviderError, the type of Temporal's failures, else the name of the class. */
function typeOf(error: unknown): string {
  const { kind, type, name } = (error ?? {}) as Record<string, unknown>;
  const named = [kind, type, name].find((text) => typeof text === "string" && NAME.test(text));
  return (named as string | undefined) ?? "Error";
}
