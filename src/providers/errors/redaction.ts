// A secret that was sent does not come back in an error, should a provider repeat it (docs/reading-the-specification.md §8): neither in its
// words, nor in a code or a name.
import { parseJson } from "../../contracts/shared/text.js";
import type { ProviderErrorField } from "./provider-error.js";
import type { HttpAnswer } from "../http/exchange.js";

/** A request carried these in secret, so no error of its answer shows them again (docs/reading-the-specification.md §8). */
export interface Sent {
  /** The account's: a classifier that holds one is dropped. */
  credentials?: readonly string[];
  /** A person chose or typed them: a classifier may look like one by chance, and stays. */
  secrets?: readonly string[];
}

/** An answer that knows what was sent for it. */
export interface Received extends HttpAnswer {
  sent?: Sent | undefined;
}

/** The provider's error body says it in its own words; `message` goes into encrypted payloads only. */
export interface ErrorWords {
  code?: string | undefined;
  type?: string | undefined;
  requestId?: string | undefined;
  message?: string | undefined;
  fields?: readonly { [key in keyof ProviderErrorField]?: string | undefined }[];
}

/**
 * The answer without what we sent in secret, should the provider repeat it. JSON is read first, as it has several ways to
 * write a character: a text loses what is secret in it; a number or a name that is a secret goes as a whole.
 */
export function withoutSecrets(answer: Received): Received {
  const { credentials = [], secrets = [] } = answer.sent ?? {};
  const plain = [...credentials, ...secrets].filter((secret) => secret !== "");
  if (plain.length === 0) return answer;
  return { ...answer, body: Buffer.from(redacted(answer.body, plain), "utf8") };
}

const REDACTED = "[secret]";

function redacted(body: Buffer, secrets: readonly string[]): string {
  const pattern = anyOf(secrets);
  const isSecret = (text: string) => secrets.includes(text);
  const safeValue = (_: string, value: unknown): unknown => {
    if (typeof value === "string") return value.replaceAll(pattern, REDACTED);
    if (typeof value === "number") return isSecret(String(value)) ? REDACTED : value;
    if (typeof value !== "object" || value === null || !Object.keys(value).some(isSecret))
      return value;
    const members = Object.entries(value);
    return Object.fromEntries(members.map(([name, of]) => [isSecret(name) ? REDACTED : name, of]));
  };
  try {
    return JSON.stringify(parseJson(body.toString("utf8")), safeValue);
  } catch {
    // No JSON, or too deep to be written again.
  }
  const written = secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]);
  return body.toString("utf8").replaceAll(anyOf(written), REDACTED);
}

/** In one pass, the longest first: what stands for one secret must not be searched for the next. */
function anyOf(texts: readonly string[]): RegExp {
  const longest = texts.toSorted((a, b) => b.length - a.length);
  return new RegExp(
    longest.map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join("|"),
    "g",
  );
}

/** A code, a type or a name that holds a credential is none. */
export function withoutCredentials(
  { code, type, requestId, fields = [] }: ErrorWords,
  credentials: readonly string[] = [],
) {
  const safe = (text: string | undefined) =>
    credentials.some((secret) => secret !== "" && text?.includes(secret)) ? undefined : text;
  return {
    code: safe(code),
    type: safe(type),
    requestId: safe(requestId),
    fields: fields.map(({ errorCode, fieldName }) => ({
      errorCode: safe(errorCode),
      fieldName: safe(fieldName),
    })),
  };
}
