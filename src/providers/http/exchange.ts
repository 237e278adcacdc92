// One HTTP exchange, once: no retry, no redirect, no proxy. Temporal is the retry loop; what a failure means is decided by
// whether a byte can have left this machine. The error of got never leaves this file: it prints URL, headers and body.
import http from "node:http";
import type { IncomingHttpHeaders } from "node:http";
import https from "node:https";
import type { Readable } from "node:stream";
import { got } from "got";
import type { Method } from "got";
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
  /** The most bytes of an answer that are read. */
  maxBytes?: number;
}

export interface HttpAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

const MAX_ANSWER_BYTES = 128 * 1024 * 1024;
const MAX_CONNECT_MS = 10_000;
const MAX_RETRY_AFTER_MS = 24 * 60 * 60 * 1000;

const plain = {
  kept: {
    http: new http.Agent({ keepAlive: true }),
    https: new https.Agent({ keepAlive: true }),
  },
  // A call without a look-up never uses an idle connection, because the other side may just be closing it.
  fresh: { http: new http.Agent(), https: new https.Agent() },
};

/**
 * Throws ProviderError: `unavailable` with effect `none` where nothing can have been written (name, connection, TLS,
 * abort before that), `protocol` where the request could not be built; else as `withoutAnswer` says for the class.
 */
export async function exchange(request: HttpRequest): Promise<HttpAnswer> {
  const { timeoutMs, maxBytes = MAX_ANSWER_BYTES } = request;
  const connectMs = Math.min(timeoutMs, MAX_CONNECT_MS);
  let written = false;
  let tooLarge = false;
  try {
    request.signal?.throwIfAborted();
    const call = got(request.url, {
      method: request.method as Method,
      headers: request.headers,
      ...(request.body === undefined ? {} : { body: request.body }),
      ...(request.signal === undefined ? {} : { signal: request.signal }),
      agent: agentsOf(request),
      timeout: {
        request: timeoutMs,
        lookup: connectMs,
        connect: connectMs,
        secureConnect: connectMs,
      },
      responseType: "buffer",
      decompress: false,
      throwHttpErrors: false,
      followRedirect: false,
      retry: { limit: 0 },
    });
    void call.on("request", (sent) => watchWrites(sent, () => (written = true)));
    void call.on("downloadProgress", ({ transferred }) => {
      if (transferred <= maxBytes || tooLarge) return;
      tooLarge = true;
      call.cancel();
    });
    const { statusCode, headers, body } = await call;
    return { status: statusCode, headers, body: Buffer.from(body) };
  } catch (error) {
    const code = tooLarge ? "ANSWER_TOO_LARGE" : codeOf(error);
    if (refusesCertificate(error)) throw certificateRefused(request, code);
    throw transportFailure(request, written, code);
  }
}

function agentsOf({ effectClass, tls }: HttpRequest): { http: http.Agent; https: https.Agent } {
  const connections = effectClass === "once" ? "fresh" : "kept";
  const agents = plain[connections];
  return tls ? { ...agents, https: mutualTlsAgent(tls, connections) } : agents;
}

/** `Retry-After` in milliseconds: seconds or an HTTP date, which is measured against the answer's own `Date`. */
export function retryAfterMs(
  headers: IncomingHttpHeaders,
  now: number = Date.now(),
): number | undefined {
  const value = headers["retry-after"]?.trim();
  if (value === undefined || value === "") return undefined;
  if (/^\d+$/.test(value)) return Math.min(Number(value) * 1000, MAX_RETRY_AFTER_MS);
  const until = httpDate(value);
  if (until === undefined) return undefined;
  const since = httpDate(headers.date) ?? now;
  return Math.min(Math.max(until - since, 0), MAX_RETRY_AFTER_MS);
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
  if (code === "ANSWER_TOO_LARGE" && effectClass === "read") meaning.kind = "protocol";
  return new ProviderError({ ...about, ...meaning, problem: "no answer" });
}

function codeOf(error: unknown): string | undefined {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  if (name === "AbortError") return "ABORTED";
  return typeof code === "string" && /^[A-Z0-9_]{1,64}$/.test(code) ? code : undefined;
}

function httpDate(value: string | undefined): number | undefined {
  if (value === undefined || !/^[A-Za-z]{3,9},? .*\d{2}:\d{2}:\d{2}/.test(value)) return undefined;
  const time = Date.parse(value);
  return Number.isNaN(time) ? undefined : time;
}
