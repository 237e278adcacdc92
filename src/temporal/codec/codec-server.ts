// Lets the Web UI and the CLI read encrypted payloads: POST …/decode and …/encode, as Temporal's codec server protocol
// says. Who can call it can read everything, so every call needs the token, as a bearer token or, for the dev server's
// fixed endpoint, as the path segment before the operation.
import { createHash, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { KeyRing } from "../../crypto/key-ring.js";
import { ConfigurationError } from "../../errors/connection/configuration-error.js";
import { EncryptionCodec } from "./codec.js";
import { decodeReadably, parsePayloads, writePayloads } from "./payload-json.js";

export interface CodecServerOptions {
  ring: KeyRing;
  /** It encodes nothing. */
  isReadOnly?: boolean;
  host: string;
  port: number;
  token: string;
  /** The Web UI's exact origins. */
  corsOrigins: string[];
  maxBodyBytes?: number;
  /** Handles /health and /ready; returns false for any other request. */
  health?: (request: IncomingMessage, response: ServerResponse) => boolean;
  logger?: { info(message: string, details?: object): void };
}

const MAX_BODY_BYTES = 16 * 1024 * 1024;
const MAX_CALL_MS = 5_000;
const MIN_TOKEN_LENGTH = 16;
const ALLOWED_HEADERS = "content-type, x-namespace, authorization, authorization-extras";

class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export async function startCodecServer(
  options: CodecServerOptions,
): Promise<{ url: string; close(): Promise<void> }> {
  checkOptions(options);
  const answer = answerWith(options);
  const server = createServer(
    { headersTimeout: 10_000, requestTimeout: 30_000 },
    (request, response) => void (options.health?.(request, response) || answer(request, response)),
  );
  server.listen(options.port, options.host);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const host = options.host.includes(":") ? `[${options.host}]` : options.host;
  return {
    url: `http://${host}:${port}`,
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error ? reject(error) : resolve()));
        // Requests that never come to their end; a closing server does not look after them any more.
        setTimeout(() => server.closeAllConnections(), MAX_CALL_MS).unref();
      }),
  };
}

function answerWith(options: CodecServerOptions) {
  const codec = new EncryptionCodec(options.ring);

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    response.setHeader("cache-control", "no-store");
    try {
      allowOrigin(request, response, options.corsOrigins);
      if (request.method === "OPTIONS") return void response.writeHead(204).end();
      const segments = (request.url ?? "").replace(/\?.*$/s, "").split("/");
      const operation = segments.pop();
      if (operation !== "encode" && operation !== "decode")
        throw new Refusal(404, "only /encode and /decode exist");
      if (request.method !== "POST") throw new Refusal(405, "use POST");
      if (!isToken(bearer(request) ?? segments.pop(), options.token))
        throw new Refusal(401, "a valid token is required");
      if (operation === "encode" && options.isReadOnly)
        throw new Refusal(403, "this codec server only reads (keys.codecRead)");
      const namespace = String(request.headers["x-namespace"] ?? "").slice(0, 255);
      const payloads = parse(await read(request, options.maxBodyBytes ?? MAX_BODY_BYTES));
      const { decoded, failed } =
        operation === "decode"
          ? await decodeReadably(codec, payloads)
          : { decoded: await codec.encode(payloads), failed: 0 };
      options.logger?.info("codec call", {
        operation,
        namespace,
        payloads: payloads.length,
        failed,
      });
      send(response, 200, writePayloads(decoded));
    } catch (error) {
      const { status, message } =
        error instanceof Refusal ? error : new Refusal(500, "internal error");
      options.logger?.info("codec call refused", { status });
      // The rest of the body is read past, so that the caller gets to see the answer; the request timeout bounds it.
      request.resume();
      send(response, status, JSON.stringify({ error: message }));
    }
  };
}

function checkOptions({ token, corsOrigins }: CodecServerOptions): void {
  if (token.length < MIN_TOKEN_LENGTH || !/^[\w.~-]+$/.test(token)) {
    throw new ConfigurationError([
      `codecServer.token: must be at least ${MIN_TOKEN_LENGTH} of A-Z a-z 0-9 _ . ~ -`,
    ]);
  }
  for (const origin of corsOrigins) {
    if (!URL.canParse(origin) || new URL(origin).origin !== origin) {
      throw new ConfigurationError([
        `codecServer.corsOrigins: "${origin}" must be scheme://host[:port] and nothing more`,
      ]);
    }
  }
}

/** Callers that are no browser send no origin: for them the token decides alone. */
function allowOrigin(request: IncomingMessage, response: ServerResponse, allowed: string[]): void {
  const { origin } = request.headers;
  response.setHeader("vary", "origin");
  if (origin === undefined) return;
  if (!allowed.includes(origin)) throw new Refusal(403, "this origin is not allowed");
  response.setHeader("access-control-allow-origin", origin);
  response.setHeader("access-control-allow-credentials", "true");
  response.setHeader("access-control-allow-methods", "POST");
  response.setHeader("access-control-allow-headers", ALLOWED_HEADERS);
  response.setHeader("access-control-max-age", "600");
}

function bearer(request: IncomingMessage): string | undefined {
  return /^Bearer (.+)$/i.exec(request.headers.authorization ?? "")?.[1];
}

function isToken(given: string | undefined, token: string): boolean {
  const hash = (text: string): Buffer => createHash("sha256").update(text).digest();
  return given !== undefined && timingSafeEqual(hash(given), hash(token));
}

async function read(request: IncomingMessage, limit: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) throw new Refusal(413, `the body is over ${limit} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function parse(body: string) {
  try {
    return parsePayloads(body);
  } catch (error) {
    throw new Refusal(
      400,
      error instanceof TypeError ? error.message : "the payloads cannot be read",
    );
  }
}

function send(response: ServerResponse, status: number, json: string): void {
  response.writeHead(status, { "content-type": "application/json" }).end(json);
}
