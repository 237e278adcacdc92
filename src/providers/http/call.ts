// One call to a provider with what every one of them needs: address, parameters, body, certificate, time limit.
import type { Readable } from "node:stream";
import type { Secret } from "../../contracts/shared/values.js";
import { refused, mismatchError, misuseError } from "./answer.js";
import { AnswerMismatch } from "./described.js";
import type { Described } from "./described.js";
import type { ProviderOperation } from "../effect-classes.js";
import { ProviderError } from "../errors/provider-error.js";
import { exchange } from "./exchange.js";
import type { HttpRequest, Keep } from "./exchange.js";
import type { TlsIdentity } from "./mutual-tls.js";
import type { Received, Sent } from "../errors/redaction.js";

export interface Host {
  /** Scheme, host and perhaps a prefix; the path is added. */
  baseUrl: string;
  timeoutMs: number;
  /** A client certificate; read again for each call, so that a renewed one is used at once. */
  tls?: { identity(): TlsIdentity };
}

/** A stream is read once: a call that is made again needs a new one. */
export interface RawBody {
  content: Buffer | Readable;
  mediaType: string;
  /** The length of a stream, where it is known. */
  bytes?: number | undefined;
}

export interface Request {
  method: HttpRequest["method"];
  path: string;
  parameters?: readonly (readonly [string, string])[] | undefined;
  /** Sent as it is written, with `Content-Type: application/json`. */
  json?: unknown;
  form?: FormData | undefined;
  /** Sent as it is, and never copied. */
  raw?: RawBody | undefined;
  headers?: Record<string, string>;
  /** Sent as HTTP Basic (P1 §5.1, 5.3; P2 §5): UTF-8. Both forms of the password are kept out of errors. */
  basic?: { username: string; password: Secret };
  /** Names what else of all this is secret. */
  sent?: Sent;
  /** Keeps the file of the answer; with `keptFile` of described.ts. */
  keepIn?: Keep | undefined;
  signal?: AbortSignal | undefined;
}

/** An answer that is what the specification describes; `value` is what it brings. */
export type Answered<T> = Received & { value: T };

/**
 * Throws what `refusal` makes of any status outside 2xx, and for a 2xx that is not the described answer what `mismatchError` says;
 * what a failed connection means stands in exchange.ts.
 */
export async function call<T>(
  asked: ProviderOperation,
  host: Host,
  request: Request,
  described: Described<T>,
  refusal: (answer: Received) => ProviderError,
): Promise<Answered<T>> {
  const url = new URL(host.baseUrl.replace(/\/+$/, "") + request.path);
  for (const [name, value] of request.parameters ?? []) url.searchParams.append(name, value);
  try {
    const { authorization, sent } = credentialsOf(request);
    const received = await exchange({
      ...asked,
      method: request.method,
      url,
      headers: {
        accept: "application/json",
        // Without it any coding is acceptable (RFC 9110 §12.5.3), and none is decoded.
        "accept-encoding": "identity",
        "user-agent": "trustflow",
        ...(authorization && { authorization }),
        ...(request.json === undefined ? {} : { "content-type": "application/json" }),
        ...(request.raw && rawHeaders(request.raw)),
        ...request.headers,
      },
      body: bodyOf(request),
      tls: identityOf(asked, host),
      timeoutMs: host.timeoutMs,
      signal: request.signal,
      keepIn: request.keepIn,
      maxBytes: described.maxBytes,
    });
    const answer: Received = { ...received, sent };
    if (host.tls && isCertificatePage(answer)) {
      const problem = "answered 400: the client certificate is refused or missing";
      throw refused(asked, answer, { kind: "accessDenied", effect: "none", problem });
    }
    if (answer.status < 200 || answer.status >= 300) throw refusal(answer);
    const value = described.read(answer);
    if (value instanceof AnswerMismatch) throw mismatchError(asked, answer, value, described);
    return { ...answer, value };
  } catch (error) {
    if (error instanceof ProviderError) error.host = url.host;
    throw error;
  }
}

function bodyOf({ form, raw, json }: Request): HttpRequest["body"] {
  if (form || raw) return form ?? raw?.content;
  return json === undefined ? undefined : JSON.stringify(json);
}

function rawHeaders({ mediaType, bytes }: RawBody): Record<string, string> {
  return {
    "content-type": mediaType,
    ...(bytes === undefined ? {} : { "content-length": String(bytes) }),
  };
}

/** nginx lets any certificate through the handshake, and refuses by a page of its own. */
function isCertificatePage({ status, body }: Received): boolean {
  return status === 400 && /<title>400 [^<]*SSL certificate/.test(body.toString("utf8", 0, 500));
}

/** While it is being renewed, a certificate and its key may not fit, or a file may be missing: nothing is sent then. */
function identityOf(asked: ProviderOperation, host: Host): TlsIdentity | undefined {
  try {
    return host.tls?.identity();
  } catch (error) {
    const { code } = error as { code?: string };
    const problem = "the client certificate is unreadable";
    throw new ProviderError({ ...asked, kind: "accessDenied", effect: "none", problem, code });
  }
}

function credentialsOf({ basic, sent }: Pick<Request, "basic" | "sent">): {
  authorization?: string;
  sent?: Sent | undefined;
} {
  if (!basic) return { sent };
  const password = basic.password.reveal();
  const encoded = Buffer.from(`${basic.username}:${password}`, "utf8").toString("base64");
  const credentials = [...(sent?.credentials ?? []), password, encoded];
  return { authorization: `Basic ${encoded}`, sent: { ...sent, credentials } };
}

/** Whether an id stays one segment of a path: another one would make another path of it, or no URL can hold it. */
export const isSegment = (id: string) => !/^\.{0,2}$|\p{Surrogate}/u.test(id);

/** Fills the id into the place of `{name}`. One that is no segment is never sent: `protocol`. */
export function filledPath(
  asked: ProviderOperation,
  path: string,
  name: string,
  id: string,
): string {
  if (!isSegment(id)) throw misuseError(asked, `this ${name} cannot be part of a path`);
  return path.replaceAll(`{${name}}`, () => encodeURIComponent(id));
}
