// A bare caller of the simulated providers, for the sandbox's own tests.
import { readFileSync } from "node:fs";
import type { Certificate } from "../src/tls/certificate.js";
import type { Sandbox } from "../src/sandbox.js";
import { samplePdf } from "../../../test/harness/fixtures/fixtures.js";

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export const everyEvent = [
  "Processed",
  "Dispatched",
  "Sent",
  "Delivered",
  "Closed",
  "Cancelled",
  "Issued",
  "Disposed",
  "AffidavitPublished",
];

const address = {
  StreetAddress: "Calle Mayor 1",
  PostalCode: "28013",
  Locality: "Madrid",
  Region: "Madrid",
  Country: "ES",
};

export function submission(overrides: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    Document: samplePdf.toString("base64"),
    RecipientAddress: address,
    IssuerAddress: address,
    ...overrides,
  };
}

export function basic(username = "sandbox", password = username): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}

export interface Reply {
  status: number;
  headers: Headers;
  body: any;
}

export async function call(
  url: string,
  path: string,
  options: { body?: unknown; username?: string; token?: string } = {},
): Promise<Reply> {
  const { body, token } = options;
  const response = await fetch(`${url}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: {
      authorization: basic(options.username),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(token !== undefined && { "x-evi-idempotencytoken": token }),
    },
    body: body === undefined ? null : JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

export const submit = (url: string, body: unknown, token?: string): Promise<Reply> =>
  call(url, "/v1/EviPost/Submit", { body, ...(token !== undefined && { token }) });

/** Submits and returns the id. */
export async function post(url: string, overrides: Record<string, unknown> = {}): Promise<string> {
  const { status, body } = await submit(url, submission(overrides));
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body.uniqueId;
}

export async function query(
  url: string,
  id: string,
  more = "&IncludeAffidavitsOnResult=true",
): Promise<any> {
  const { body } = await call(url, `/v1/EviPost/Query?WithUniqueIds=${id}${more}`);
  return body.results[0];
}

/** What got needs for mutual TLS with the sandbox: its own client certificate, or another. */
export function mutualTls({ pki }: Sandbox, certificate?: Certificate) {
  const { cert, key } = certificate ?? {
    cert: readFileSync(pki.certificateFile, "utf8"),
    key: readFileSync(pki.keyFile, "utf8"),
  };
  return { certificateAuthority: readFileSync(pki.caFile, "utf8"), certificate: cert, key };
}
