// One HTTP exchange, once: no retry, no redirect, no proxy. Temporal is the retry loop; what a failure means is decided by
// whether a byte can have left this machine. The error of got never leaves this file: it prints URL, headers and body.
import http from "node:http";
import type { IncomingHttpHeaders } from "node:http";
import https from "node:https";
import { got } from "got";
import type { Method } from "got";
import { ProviderError, withoutAnswer } from "./errors.js";
import type { EffectClass } from "./effects.js";

export interface HttpRequest {
  provider: string;
  operation: string;
  effectClass: EffectClass;
  method: "GET" | "POST" | "PATCH" | "DELETE";
  url: URL;
  headers: Record<string, string>;
  /** A form is sent as multipart/form-data, with its own content type. */
  body?: string | FormData | undefined;
  /** Our own certificate and the authorities that the provider's is checked by; the same object means the same connections. */
  tls?: TlsIdentity | undefined;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  /** The most bytes of an answer that are read. */
  maxBytes?: number;
}

/** As `node:tls` takes them. */
export interface TlsIdentity {
  cert?: Buffer;
  key?: Buffer;
  pfx?: Buffer;
  passphrase?: string;
  ca?: Buffer;
}

export interface HttpAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

const MAX_ANSWER_BYTES = 128 * 1024 * 1024;
const MAX_CONNECT_MS = 10_000;
const MAX_RETRY_AFTER_MS = 24 * 60 * 60 * 1000;

interface Agents {
  http: http.Agent;
  https: https.Agent;
}

const kept = {
  http: new http.Agent({ keepAlive: true }),
  https: new https.Agent({ keepAlive: true }),
};
// A call that nobody can look up never rides on an idle connection that the other side may just be closing.
const fresh = { http: new http.Agent(), https: new https.Agent() };
const ofIdentities = new WeakMap<TlsIdentity, { kept: Agents; fresh: Agents }>();

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
    throw transportFailure(request, written, tooLarge ? "ANSWER_TOO_LARGE" : codeOf(error));
  }
}

function agentsOf({ effectClass, tls }: HttpRequest): Agents {
  if (!tls) return effectClass === "once" ? fresh : kept;
  let own = ofIdentities.get(tls);
  if (!own) {
    own = {
      kept: { ...kept, https: new https.Agent({ keepAlive: true, ...tls }) },
      fresh: { ...fresh, https: new https.Agent(tls) },
    };
    ofIdentities.set(tls, own);
  }
  return effectClass === "once" ? own.fresh : own.kept;
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

function transportFailure(
  request: HttpRequest,
  written: boolean,
  code: string | undefined,
): ProviderError {
  const { provider, operation, effectClass } = request;
  const about = { provider, operation, code };
  // The other side ended the handshake over our certificate: in TLS 1.3 that arrives after the request was written.
  if (
    /^ERR_SSL_.*_ALERT_(BAD_CERT|UNSUPPORTED_CERT|CERT|UNKNOWN_CA|ACCESS_DENIED)/.test(code ?? "")
  ) {
    const problem = "the client certificate is refused";
    return new ProviderError({ ...about, kind: "accessDenied", effect: "none", problem });
  }
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
