// What every endpoint of the postal API shares: the account, the request around it, and the answer read by its schema.
import type { z } from "zod";
import type { Secret } from "../../contracts/values.js";
import { effectClassOf } from "../effects.js";
import type { Operation } from "../effects.js";
import { ProviderError } from "../errors.js";
import { exchange } from "../http.js";
import type { HttpAnswer } from "../http.js";
import { jsonOf, refusal, unreadable } from "./translate.js";

export interface EviPostAccount {
  name: string;
  /** Scheme, host and perhaps a prefix; `/v1/…` is added. */
  baseUrl: string;
  username: string;
  password: Secret;
  timeoutMs: number;
  affidavits:
    | { mode: "download"; method: "GET" | "POST"; path: string; idsParameter: string }
    | { mode: "blobs" };
}

interface Call {
  method: "GET" | "POST";
  path: string;
  parameters?: [string, string][];
  json?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
}

/** One HTTP call with the credentials of the account; throws for any status outside 2xx. */
export async function call(
  account: EviPostAccount,
  operation: Operation<"evi-post">,
  asked: Call,
): Promise<HttpAnswer> {
  const url = new URL(account.baseUrl.replace(/\/+$/, "") + asked.path);
  for (const [name, value] of asked.parameters ?? []) url.searchParams.append(name, value);
  const credentials = `${account.username}:${account.password.reveal()}`;
  const answer = await exchange({
    provider: "evi-post",
    operation,
    effectClass: effectClassOf("evi-post", operation),
    method: asked.method,
    url,
    headers: {
      accept: "application/json, application/zip",
      authorization: `Basic ${Buffer.from(credentials, "utf8").toString("base64")}`,
      "user-agent": "trustflow",
      ...(asked.json === undefined ? {} : { "content-type": "application/json" }),
      ...asked.headers,
    },
    body: asked.json === undefined ? undefined : JSON.stringify(asked.json),
    timeoutMs: account.timeoutMs,
    signal: asked.signal,
  });
  if (answer.status < 200 || answer.status >= 300) throw refusal(operation, answer);
  return answer;
}

/** A 2xx body by its schema; `reference` is the id that a broken one shows all the same. */
export function read<T extends z.ZodType>(
  operation: Operation<"evi-post">,
  answer: HttpAnswer,
  schema: T,
  reference?: string,
): z.infer<T> {
  const result = schema.safeParse(jsonOf(answer.body.toString("utf8")));
  if (!result.success) throw unreadable(operation, answer, { reference });
  return result.data;
}

/** The only UUID of a body, apart from one that was sent: an id must not get lost with a broken answer. */
export function shownId(answer: HttpAnswer, sent?: string): string | undefined {
  const found =
    answer.body.toString("utf8").match(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi) ?? [];
  const ids = new Set(
    found.map((id) => id.toLowerCase()).filter((id) => id !== sent?.toLowerCase()),
  );
  return ids.size === 1 ? [...ids][0] : undefined;
}

/** What cannot be asked at all: nothing was sent. */
export function misuse(operation: Operation<"evi-post">, problem: string): ProviderError {
  return new ProviderError({
    kind: "protocol",
    effect: "none",
    provider: "evi-post",
    operation,
    problem,
  });
}
