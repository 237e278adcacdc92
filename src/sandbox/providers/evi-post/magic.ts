// The magic words of the postal API: endings and modifiers, in RecipientName, or in the value of a CustomFields entry
// whose Key is `sandbox`.
import type { FaultKind } from "../../engine/faults.js";
import { magicKey, readMagic, type Magic } from "../../exchange/magic.js";
import { endings, type Ending } from "./lifecycle.js";

export const modifiers = [
  "unclosed",
  "invisible",
  "affidavits-late",
  "affidavits-never",
  "affidavit-regenerated",
  "affidavit-regenerated-new-id",
  "callbacks-lost",
  "callbacks-doubled",
  "callbacks-reordered",
  "callbacks-delayed",
] as const;
export type Modifier = (typeof modifiers)[number];

export interface PostalMagic extends Magic<Ending | Modifier> {
  ending?: Ending | undefined;
  modifiers: Modifier[];
}

const vocabulary = {
  provider: "evi-post",
  operations: ["submit", "query", "cancel", "affidavitRequest", "affidavitDownload", "callback"],
  words: [...endings, ...modifiers],
};
const isEnding = (word: Ending | Modifier): word is Ending =>
  (endings as readonly string[]).includes(word);

export function readPostalMagic(texts: unknown[]): PostalMagic | undefined {
  const read = readMagic(texts, vocabulary);
  if (!read) return undefined;
  const given = read.words.filter((word) => !isEnding(word));
  const magic = { ...read, ending: read.words.findLast(isEnding), modifiers: given };
  for (const modifier of magic.modifiers) {
    const callbackFault = /^callbacks-(.+)$/.exec(modifier)?.[1] as FaultKind | undefined;
    if (callbackFault)
      magic.faults.push({ operation: "evi-post.callback", kind: callbackFault, times: "always" });
    if (modifier === "invisible")
      magic.faults.push({ operation: "evi-post.submit", kind: "invisible", times: "always" });
  }
  return magic;
}

export function magicKeyOf(body: Record<string, unknown>): string {
  const parts = [
    body["LookupKey"],
    body["RecipientName"],
    body["RecipientAddress"],
    body["Document"],
  ];
  return magicKey(
    "evi-post",
    ...(typeof body["LookupKey"] === "string" ? parts.slice(0, 2) : parts),
  );
}
