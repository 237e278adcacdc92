// The one place where an answer of the video identification service becomes a ProviderError. P1 §7.3 shows no error: docs/errors.md says
// what each status means. A refused token is one call's: it says nothing of the account.
import { withoutJwts } from "../../contracts/shared/text.js";
import { operationsOf } from "../effect-classes.js";
import type { ProviderError } from "../errors/provider-error.js";
import type { Received } from "../errors/redaction.js";
import { meaningOf, refused } from "../http/answer.js";
import type { Meaning } from "../http/answer.js";
import { errorWords, jsonOf } from "../http/described.js";
import { effects } from "./effects.js";
import type { VideoOperation } from "./effects.js";
import { ErrorAnswer } from "./wire.js";

export const operationOf = operationsOf("video-identification", effects);

/** P1 §5.2: the calls whose credential is the token of a call. */
const withToken = new Set<VideoOperation>(["conferenceData", "getAuditData", "deleteAuditData"]);

/** For any status outside 2xx. */
export function refusal(operation: VideoOperation, received: Received): ProviderError {
  const asked = operationOf(operation);
  const status = received.status === 410 ? 404 : received.status;
  const meaning: Meaning = meaningOf(asked, status, asked.effectClass === "read");
  // By then the audit was read: what is wrong, a person decides.
  if (meaning.kind === "invalidRequest" && operation === "deleteAuditData")
    meaning.kind = "protocol";
  if (meaning.kind === "accessDenied" && withToken.has(operation)) meaning.denies = "operation";
  const wordsOf = (answer: Received) => errorWords(ErrorAnswer, answer);
  return refused(asked, withoutTokens(received), meaning, wordsOf);
}

/** A token that the provider shows of itself, in whatever it answers (P1 §4.2). */
function withoutTokens(answer: Received): Received {
  const text = answer.body.toString("utf8");
  const plain = withoutJwts(text);
  return plain === text ? answer : { ...answer, body: Buffer.from(plain, "utf8") };
}

const errorMembers = new Set("code message error errors detail type status title path".split(" "));

/** Whether a body is an error and nothing else, whatever its status; audit data may have such members beside their own. */
export function isError(body: Buffer): boolean {
  const json = jsonOf(body);
  if (typeof json !== "object" || json === null || Array.isArray(json)) return false;
  const members = Object.keys(json);
  const isKnown = members.every((name) => errorMembers.has(name));
  return isKnown && ["code", "message", "error", "errors", "title"].some((name) => name in json);
}
