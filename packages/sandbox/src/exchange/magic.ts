// Magic values, the test cards of the sandbox: `sandbox:<word>,<word>…` in a text of the request. A word is one of the
// provider's own, or a fault for what the request is about: `<operation>=<fault>[-<number>][@<nth call>][*<times>]`.
import { createHash } from "node:crypto";
import {
  callbackFaultKinds,
  requestFaultKinds,
  type FaultKind,
  type FaultOptions,
} from "../engine/faults.js";

export interface Vocabulary<Word extends string> {
  provider: string;
  /** Those that may fail, `callback` among them where there are callbacks. */
  operations: readonly string[];
  words: readonly Word[];
  /** Words that begin so, such as `webhook-lost`, are faults of every callback. */
  callbackPrefix?: string;
}

export interface Magic<Word extends string> {
  words: Word[];
  faults: FaultOptions[];
  unknown: string[];
}

const PREFIX = "sandbox:";
const kinds: readonly string[] = [...requestFaultKinds, ...callbackFaultKinds];
/** Kinds whose number, as in `reject-503` or `slow-3000`, means this. */
const numbered: Record<string, "status" | "code" | "ms" | "queries"> = {
  reject: "status",
  "error-after-commit": "status",
  code: "code",
  slow: "ms",
  "slow-answer": "ms",
  delayed: "ms",
  invisible: "queries",
};

/** Undefined where no text is a magic value. */
export function readMagic<Word extends string>(
  texts: unknown[],
  vocabulary: Vocabulary<Word>,
): Magic<Word> | undefined {
  const words = texts
    .filter((text): text is string => typeof text === "string" && text.startsWith(PREFIX))
    .flatMap((text) => text.slice(PREFIX.length).split(/[\s,]+/))
    .filter((word) => word !== "");
  if (words.length === 0) return undefined;
  const magic: Magic<Word> = { words: [], faults: [], unknown: [] };
  for (const word of words) {
    const fault = word.includes("=") ? readFault(word, vocabulary) : undefined;
    if (fault) magic.faults.push(fault);
    else if ((vocabulary.words as readonly string[]).includes(word)) magic.words.push(word as Word);
    else magic.unknown.push(word);
  }
  const { provider, callbackPrefix } = vocabulary;
  for (const kind of callbackFaultKinds)
    if (callbackPrefix !== undefined && words.includes(callbackPrefix + kind))
      magic.faults.push({ operation: `${provider}.callback`, kind, times: "always" });
  return magic;
}

/** The member `sandbox` of a body whose shape is not specified: words without the prefix. */
export function readMagicMember<Word extends string>(
  body: Record<string, unknown>,
  vocabulary: Vocabulary<Word>,
): Magic<Word> | undefined {
  const value = body["sandbox"];
  return readMagic([typeof value === "string" && `${PREFIX}${value}`], vocabulary);
}

/** What an answer says of words that nobody knows. */
export function unknownWords(magic: Magic<string> | undefined): string | undefined {
  const { unknown = [] } = magic ?? {};
  return unknown.length === 0 ? undefined : `unknown magic value: ${unknown.join(", ")}`;
}

/** Faults of a magic value are counted under what names the request, so that the same request again is the second call. */
export function magicKey(provider: string, ...naming: unknown[]): string {
  return createHash("sha256")
    .update(JSON.stringify([provider, ...naming]))
    .digest("hex");
}

function readFault<Word extends string>(
  word: string,
  { provider, operations }: Vocabulary<Word>,
): FaultOptions | undefined {
  const pattern = /^([A-Za-z]+)=([a-z-]+\d*)(?:@(\d+))?(\*\d*)?$/;
  const [, operation, text, nth, times] = pattern.exec(word) ?? [];
  if (!operation || !text || !operations.includes(operation)) return undefined;
  const [, name = text, number] = /^(.+)-(\d+)$/.exec(text) ?? [];
  const meaning = numbered[name];
  if (!kinds.includes(name) || (number !== undefined && !meaning)) return undefined;
  return {
    operation: `${provider}.${operation}`,
    kind: name as FaultKind,
    ...(meaning && number !== undefined && { [meaning]: Number(number) }),
    ...(nth !== undefined && { call: Number(nth) }),
    ...(times !== undefined && { times: times === "*" ? "always" : Number(times.slice(1)) }),
  };
}
