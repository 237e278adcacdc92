// The one place where an answer of the postal API becomes a ProviderError (P2 §4.1, §7.1): `kind / effect` by status.
//
// | status         | submit                | query              | requestAffidavit         | cancel                | downloadAffidavits   |
// |----------------|-----------------------|--------------------|--------------------------|-----------------------|----------------------|
// | 2xx, broken    | unavailable / unknown | protocol / none    | unknownOutcome / unknown | unavailable / unknown | protocol / none      |
// | 2xx, one id    | protocol / unknown    | –                  | protocol / unknown       | unavailable / unknown | –                    |
// | 2xx, empty     | unavailable / unknown | protocol / none    | unknownOutcome / unknown | unavailable / unknown | notVisibleYet / none |
// | 3xx            | protocol / unknown    | protocol / none    | protocol / unknown       | protocol / unknown    | protocol / none      |
// | 400            | invalidRequest / none | protocol / none    | invalidRequest / none    | invalidRequest / none | protocol / none      |
// | 401, 403       | accessDenied / none   | the same           | the same                 | the same              | the same             |
// | 404            | protocol / unknown    | protocol / none    | notVisibleYet / none     | notVisibleYet / none  | notVisibleYet / none |
// | 405, other 4xx | protocol / unknown    | protocol / none    | protocol / none          | protocol / none       | protocol / none      |
// | 408, 409, 5xx  | unavailable / unknown | unavailable / none | unknownOutcome / unknown | unavailable / unknown | unavailable / none   |
// | 429            | rateLimited / none    | the same           | the same                 | the same              | the same             |
//
// "2xx, one id": it breaks the schema but shows one id, which is kept as `reference`.
import { effectClassOf } from "../effects.js";
import type { Operation } from "../effects.js";
import { ProviderError, withoutAnswer } from "../errors.js";
import type { PossibleEffect, ProviderErrorKind } from "../errors.js";
import { retryAfterMs } from "../http.js";
import type { HttpAnswer } from "../http.js";
import { ErrorAnswer } from "./wire.js";

type PostalOperation = Operation<"evi-post">;

const provider = "evi-post";
const DETAIL_CHARACTERS = 500;
/** The operations about an id that an earlier answer gave us: a 404 says "not visible yet" until time proves it wrong. */
const ABOUT_AN_ID = new Set<PostalOperation>(["requestAffidavit", "cancel", "downloadAffidavits"]);

/** For any status outside 2xx. 401 and 403 of a cancel also mean "not the owner" and "no permission": told by `status`. */
export function refusal(
  operation: PostalOperation,
  { status, headers, body }: HttpAnswer,
): ProviderError {
  const text = body.toString("utf8");
  const read = ErrorAnswer.safeParse(jsonOf(text));
  const about = read.success ? read.data.responseStatus : undefined;
  return new ProviderError({
    ...meaningOf(operation, status),
    provider,
    operation,
    status,
    problem: `answered ${status}`,
    code: about?.errorCode,
    fields: about?.errors ?? [],
    retryAfterMs: retryAfterMs(headers),
    detail: about?.message ?? (text === "" ? undefined : text.slice(0, DETAIL_CHARACTERS)),
  });
}

/** For a 2xx that breaks the schema; `reference` is the id that it showed nevertheless. */
export function unreadable(
  operation: PostalOperation,
  { status, body }: HttpAnswer,
  why: { problem?: string; reference?: string | undefined } = {},
): ProviderError {
  const { problem = `answered ${status} with a body that cannot be read`, reference } = why;
  const effectClass = effectClassOf(provider, operation);
  const meaning = withoutAnswer(effectClass);
  if (effectClass === "read" || reference !== undefined) meaning.kind = "protocol";
  const detail = body.length === 0 ? undefined : body.toString("utf8", 0, DETAIL_CHARACTERS);
  return new ProviderError({ ...meaning, provider, operation, status, problem, reference, detail });
}

/** For a download that answered with nothing (yet). */
export function nothingYet(operation: PostalOperation, { status }: HttpAnswer): ProviderError {
  const problem = `answered ${status} without a file`;
  return new ProviderError({
    kind: "notVisibleYet",
    effect: "none",
    provider,
    operation,
    status,
    problem,
  });
}

export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function meaningOf(
  operation: PostalOperation,
  status: number,
): { kind: ProviderErrorKind; effect: PossibleEffect } {
  const effectClass = effectClassOf(provider, operation);
  const without = withoutAnswer(effectClass);
  switch (status) {
    case 400:
      // A query's 400 is our own mistake: it must not end a process whose letter exists.
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
  if (status === 404 && ABOUT_AN_ID.has(operation))
    return { kind: "notVisibleYet", effect: "none" };
  // A redirect may follow a request that was carried out; a submit without 200, 202, 400, 401, 403 or 429 is looked up.
  const mayHaveActed = status < 400 || effectClass === "keyed";
  return { kind: "protocol", effect: mayHaveActed ? without.effect : "none" };
}
