// Reads an answer of a provider. An unusable answer means, by status and effect class, the same for all providers, except
// where their translate.ts differs (docs/reading-the-specification.md §0, §9).
import { isWebPage } from "./described.js";
import type { Described, AnswerMismatch } from "./described.js";
import type { ProviderOperation, EffectClass } from "../effect-classes.js";
import { ProviderError, withoutAnswer } from "../errors/provider-error.js";
import type { ProblemKind } from "../../contracts/shared/problem-kind.js";
import type { PossibleEffect } from "../errors/provider-error.js";
import { MAX_ANSWER_BYTES } from "./exchange.js";
import { retryAfterMs } from "../../contracts/shared/retry-after.js";
import type { HttpAnswer } from "./exchange.js";
import { withoutCredentials, withoutSecrets } from "../errors/redaction.js";
import type { ErrorWords, Received } from "../errors/redaction.js";

export interface Meaning {
  kind: ProblemKind;
  effect: PossibleEffect;
  denies?: "account" | "operation";
  /** Where the status alone does not say what is wrong. */
  problem?: string;
}

/**
 * A status outside 2xx where the specification shows nothing else. `isAboutAnId`: the request names an id that an earlier
 * answer gave us, so a 404 says "not visible yet" until time proves it wrong.
 */
export function meaningOf(
  { effectClass }: ProviderOperation,
  status: number,
  isAboutAnId = false,
): Meaning {
  const without = withoutAnswer(effectClass);
  switch (status) {
    case 400:
      // A question's 400 is our own mistake: it must not end a process whose effect exists.
      return { kind: effectClass === "read" ? "protocol" : "invalidRequest", effect: "none" };
    case 401:
    case 403:
      return { kind: "accessDenied", effect: "none" };
    case 408:
    case 409:
      return without;
    case 429:
      return { kind: "rateLimited", effect: "none" };
  }
  if (status >= 500) return without;
  // A redirect is never followed, and may come after a request that was carried out: it proves nothing.
  if (status < 400) return withoutDescribed(effectClass);
  if (status === 404 && isAboutAnId) return { kind: "notVisibleYet", effect: "none" };
  // A keyed effect without a clear answer is looked up.
  return { kind: "protocol", effect: effectClass === "keyed" ? without.effect : "none" };
}

/**
 * An answer that is not what the specification describes: of a read `protocol`, of an effect a lost one
 * (docs/reading-the-specification.md §1).
 */
function withoutDescribed(effectClass: EffectClass): Meaning {
  return effectClass === "read" ? { kind: "protocol", effect: "none" } : withoutAnswer(effectClass);
}

/**
 * For any status outside 2xx. `wordsOf` reads the words of a body. Its texts are read from the answer without what we sent in secret; its
 * codes and names from what came, because one without a part of itself would be another one, and one may look like a secret by chance.
 */
export function refused(
  asked: ProviderOperation,
  received: Received,
  meaning: Meaning,
  wordsOf: (answer: HttpAnswer) => ErrorWords = () => ({}),
): ProviderError {
  const { status, headers, sent } = received;
  const answer = withoutSecrets(received);
  const { message, fields: texts = [] } = wordsOf(answer);
  const { fields, ...classifiers } = withoutCredentials(wordsOf(received), sent?.credentials);
  return new ProviderError({
    ...asked,
    ...meaning,
    ...classifiers,
    fields: fields.map((field, index) => ({ ...field, message: texts[index]?.message })),
    status,
    ...(status < 400
      ? { problem: `answered ${status}, a redirect, which is not followed`, mismatch: "redirect" }
      : { problem: meaning.problem ?? `answered ${status}` }),
    retryAfterMs: retryAfterMs(headers),
    detail: message ?? (saysNothing(answer.body) ? undefined : answer.body.toString("utf8")),
  });
}

/** Empty, also in JSON. */
function saysNothing(body: Buffer): boolean {
  return body.length < 100 && /^\s*(\{\s*\}|\[\s*\]|null|"")?\s*$/.test(body.toString("utf8"));
}

/** For a 2xx that is not the described answer; `reference` is the id that it shows nevertheless. */
export function mismatchError(
  asked: ProviderOperation,
  received: Received,
  { kind: mismatch, text, member }: AnswerMismatch,
  { isSecret = false, reference }: Omit<Described<unknown>, "read"> = {},
): ProviderError {
  // Cut before it is cleaned, because that takes time.
  const answer = { ...received, body: received.body.subarray(0, MAX_ANSWER_BYTES) };
  const { status, body } = withoutSecrets(answer);
  return new ProviderError({
    ...asked,
    ...withoutDescribed(asked.effectClass),
    status,
    problem: `answered ${status} ${text}`,
    mismatch,
    member,
    // An id on a web page belongs to another site.
    reference: isWebPage(answer) ? undefined : reference?.(answer),
    detail: isSecret || body.length === 0 ? undefined : body.toString("utf8"),
  });
}

/** A request that cannot be built: nothing was sent. */
export function misuseError(asked: ProviderOperation, problem: string): ProviderError {
  return new ProviderError({ ...asked, kind: "protocol", effect: "none", problem });
}

/** An answer with nothing in it about an id that an earlier answer gave us. */
export function noFileError(asked: ProviderOperation, { status }: HttpAnswer): ProviderError {
  const problem = `answered ${status} without a file`;
  return new ProviderError({ ...asked, kind: "notVisibleYet", effect: "none", status, problem });
}

/** Read by the first of the names that shows one value, whatever else the body is: an id must not get lost with a broken answer. */
export function shownValue(answer: HttpAnswer, ...names: readonly string[]): string | undefined {
  return names.map((name) => oneValue(answer, name)).find((value) => value !== undefined);
}

function oneValue({ body }: HttpAnswer, name: string): string | undefined {
  const literal = name.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  const value = `(?:"([\\w-]{1,100})"|(\\d{1,20})(?=\\s*[,}]))`;
  const member = new RegExp(`"${literal}"\\s*:\\s*${value}`, "g");
  const found = body.toString("utf8").matchAll(member);
  const values = new Set(Array.from(found, ([, text, number]) => text ?? number));
  return values.size === 1 ? [...values][0] : undefined;
}

/** The only UUID of a body, apart from one that was sent: an id must not get lost with a broken answer. */
export function shownUuid({ body }: HttpAnswer, sent?: string): string | undefined {
  const found =
    body.toString("utf8").match(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi) ?? [];
  const ids = new Set(found.map((id) => id.toLowerCase()));
  ids.delete(sent?.toLowerCase() ?? "");
  return ids.size === 1 ? [...ids][0] : undefined;
}
