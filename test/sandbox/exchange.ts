// One exchange with the sandbox, over plain HTTP or mutual TLS, and what differs from the answer of a fixture.
import { got } from "got";
import type { Certificate } from "../../src/sandbox/tls/certificate.js";
import type { Sandbox } from "../../src/sandbox/sandbox.js";
import { fill, matches, type Fixture, type Values } from "../harness/fixtures/fixtures.js";
import { basic, mutualTls } from "./caller.js";

export interface SentRequest {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  path: string;
  /** Over mutual TLS. */
  clientCertificate?: boolean;
  headers?: Record<string, string>;
  body?: unknown;
  text?: string;
  /** The parts of a multipart body; the content in base64. */
  form?: { name: string; fileName: string; content: string }[];
}

export interface Answered {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  bytes: Buffer;
  text: string;
  /** Undefined where it is not said to be JSON. */
  body: any;
}

export async function exchange(
  sandbox: Sandbox,
  { method, path, clientCertificate, headers, ...content }: SentRequest,
  certificate?: Certificate,
): Promise<Answered> {
  const { url, tlsUrl } = sandbox;
  const sent = bodyOf(content);
  const answer = await got(`${clientCertificate ? tlsUrl : url}${path}`, {
    method,
    ...(headers && { headers }),
    ...(sent !== undefined && { body: sent }),
    ...(clientCertificate && { https: mutualTls(sandbox, certificate) }),
    responseType: "buffer",
    retry: { limit: 0 },
    throwHttpErrors: false,
  });
  const bytes = Buffer.from(answer.body);
  const text = bytes.toString();
  const isJson = answer.headers["content-type"]?.startsWith("application/json");
  return {
    status: answer.statusCode,
    headers: answer.headers,
    bytes,
    text,
    body: isJson && text !== "" ? JSON.parse(text) : undefined,
  };
}

/** Sends the filled request; `{{basic}}` and other names come from `values`; without `basic` the header is left out. */
export async function differences(
  sandbox: Sandbox,
  fixture: Fixture,
  values: Values,
  certificate?: Certificate,
): Promise<string[]> {
  const { request, response: expected } = fixture as Record<string, any>;
  const filled: SentRequest = fill(request, values);
  if (request.headers?.authorization === "{{basic}}" && values["basic"] === undefined)
    delete filled.headers!["authorization"];
  const { status, headers, ...content } = await exchange(sandbox, filled, certificate);
  const found = status === expected.status ? [] : [`status ${status}, not ${expected.status}`];
  found.push(...matches(expected.headers ?? {}, headers, { values, extra: true }));
  for (const member of ["text", "body", "bytes"] as const) {
    if (expected[member] !== undefined)
      found.push(...matches(expected[member], content[member], { values }));
  }
  return found;
}

/** The header that `given.account` stands for; undefined: none. */
export function authorizationOf(account: string = "ok"): string | undefined {
  if (account === "noAuthorization") return undefined;
  return account === "wrongPassword" ? basic("sandbox", "wrong") : basic("sandbox");
}

function bodyOf({ body, text, form }: Pick<SentRequest, "body" | "text" | "form">) {
  if (!form) return text ?? (body === undefined ? undefined : JSON.stringify(body));
  const parts = new FormData();
  for (const { name, fileName, content } of form)
    parts.append(name, new Blob([Buffer.from(content, "base64")]), fileName);
  return parts;
}
