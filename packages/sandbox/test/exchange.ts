// One exchange with the sandbox, over plain HTTP or mutual TLS, and what differs from the answer of a fixture.
import { unzipSync } from "fflate";
import { got, type Method } from "got";
import type { Certificate } from "../src/tls/certificate.js";
import type { Sandbox } from "../src/sandbox.js";
import {
  fill,
  matches,
  type Fixture,
  type Values,
} from "../../../test/harness/fixtures/fixtures.js";
import { basic, mutualTls } from "./caller.js";

export interface SentRequest {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "QUERY";
  path: string;
  /** Over mutual TLS. */
  clientCertificate?: boolean;
  headers?: Record<string, string>;
  body?: unknown;
  text?: string;
  query?: Record<string, string>;
  /** The parts of a multipart body: a file with its content in base64, or a field with its value. */
  form?: ({ name: string } & ({ fileName: string; content: string } | { value: string }))[];
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
  { method, path, query, clientCertificate, headers, ...content }: SentRequest,
  certificate?: Certificate,
): Promise<Answered> {
  const { url, tlsUrl } = sandbox;
  const sent = bodyOf(content);
  const answer = await got(`${clientCertificate ? tlsUrl : url}${path}`, {
    method: method as Method,
    ...(query && { searchParams: query }),
    ...(headers && { headers }),
    ...(sent !== undefined && { body: sent }),
    ...(clientCertificate && { https: mutualTls(sandbox, certificate) }),
    responseType: "buffer",
    retry: { limit: 0 },
    throwHttpErrors: false,
  });
  const bytes = Buffer.from(answer.body);
  const text = bytes.toString();
  const isJson = /^application\/(problem\+)?json/.test(answer.headers["content-type"] ?? "");
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
  if (expected.zip !== undefined) {
    const entries = Object.entries(unzipSync(new Uint8Array(content.bytes)));
    const files = entries.map(([name, file]) => ({
      name,
      content: Buffer.from(file).toString("base64"),
    }));
    found.push(...matches(expected.zip, files, { values }));
  }
  for (const member of ["text", "body", "bytes"] as const) {
    if (expected[member] !== undefined)
      found.push(...matches(expected[member], content[member], { values }));
  }
  return found;
}

/** The header that `given.account` stands for; undefined: none. */
export function authorizationOf(account: string = "ok", owner = "sandbox"): string | undefined {
  if (account === "noAuthorization") return undefined;
  if (account === "wrongPassword") return basic(owner, "wrong");
  return basic(account === "ok" ? owner : account);
}

/** The same submission once before, answered as `given.earlier` says. */
export async function submitBefore(
  sandbox: Sandbox,
  fixture: Fixture,
  operation: string,
  values: Values,
): Promise<string[]> {
  const { earlier: status } = fixture["given"];
  if (status === undefined) return [];
  const before = structuredClone({ ...fixture, response: { status } }) as Fixture;
  if (status === 400) before["request"].body = {};
  else if (status !== 200 && status !== 401)
    sandbox.faults.add({ operation, kind: "reject", status });
  if (status === 200) before["response"] = { ...fixture["response"], status };
  const using = status === 401 ? { ...values, basic: basic("owner", "wrong") } : values;
  const found = await differences(sandbox, before, using);
  values["token"] = using["token"];
  return found;
}

function bodyOf({ body, text, form }: Pick<SentRequest, "body" | "text" | "form">) {
  if (!form) return text ?? (body === undefined ? undefined : JSON.stringify(body));
  const parts = new FormData();
  for (const part of form) {
    if ("value" in part) parts.append(part.name, part.value);
    else parts.append(part.name, new Blob([Buffer.from(part.content, "base64")]), part.fileName);
  }
  return parts;
}
