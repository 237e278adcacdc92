// The magic words that the notification services share: modifiers of callbacks, affidavits and visibility.
import { readMagic, type Magic } from "../../exchange/magic.js";

const shared = [
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
type Shared = (typeof shared)[number];

interface EviVocabulary<Ending extends string, Own extends string> {
  provider: string;
  operations: readonly string[];
  endings: readonly Ending[];
  modifiers: readonly Own[];
}

export interface EviMagic<Ending extends string, Own extends string> extends Magic<
  Ending | Own | Shared
> {
  ending?: Ending | undefined;
  modifiers: (Own | Shared)[];
}

export function readEviMagic<Ending extends string, Own extends string>(
  texts: unknown[],
  { provider, operations, endings, modifiers }: EviVocabulary<Ending, Own>,
): EviMagic<Ending, Own> | undefined {
  const words = [...endings, ...modifiers, ...shared];
  const read = readMagic(texts, { provider, operations, words, callbackPrefix: "callbacks-" });
  if (!read) return undefined;
  const isEnding = (word: string): word is Ending => (endings as readonly string[]).includes(word);
  const given = read.words.filter((word): word is Own | Shared => !isEnding(word));
  const magic = { ...read, ending: read.words.findLast(isEnding), modifiers: given };
  if (given.includes("invisible"))
    magic.faults.push({ operation: `${provider}.submit`, kind: "invisible", times: "always" });
  return magic;
}
