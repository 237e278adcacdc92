// Magic values, the test cards of the sandbox: `sandbox:<word>,<word>…` as RecipientName, or as the value of a CustomFields
// entry whose Key is `sandbox`. A word is an ending, a modifier, or `<operation>=<fault>[@<nth call>][*<times>]`.
import { createHash } from "node:crypto";
import {
  callbackFaultKinds,
  requestFaultKinds,
  type FaultKind,
  type FaultOptions,
} from "../faults.js";
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

export interface Magic {
  ending?: Ending;
  modifiers: Modifier[];
  faults: FaultOptions[];
  unknown: string[];
}

const PREFIX = "sandbox:";
const operations = [
  "submit",
  "query",
  "cancel",
  "affidavitRequest",
  "affidavitDownload",
  "callback",
];
const kinds: readonly string[] = [...requestFaultKinds, ...callbackFaultKinds];
/** Kinds whose number, as in `reject-503` or `slow-3000`, means this. */
const numbered: Record<string, "status" | "ms" | "queries"> = {
  reject: "status",
  "error-after-commit": "status",
  slow: "ms",
  "slow-answer": "ms",
  delayed: "ms",
  invisible: "queries",
};

export function readMagic(texts: unknown[]): Magic | undefined {
  const words = texts
    .filter((text): text is string => typeof text === "string" && text.startsWith(PREFIX))
    .flatMap((text) => text.slice(PREFIX.length).split(/[\s,]+/))
    .filter((word) => word !== "");
  if (words.length === 0) return undefined;
  const magic: Magic = { modifiers: [], faults: [], unknown: [] };
  for (const word of words) {
    const fault = word.includes("=") ? readFault(word) : undefined;
    if (fault) magic.faults.push(fault);
    else if ((endings as readonly string[]).includes(word)) magic.ending = word as Ending;
    else if ((modifiers as readonly string[]).includes(word))
      magic.modifiers.push(word as Modifier);
    else magic.unknown.push(word);
  }
  for (const modifier of magic.modifiers) {
    const callbackFault = /^callbacks-(.+)$/.exec(modifier)?.[1] as FaultKind | undefined;
    if (callbackFault)
      magic.faults.push({ operation: "evi-post.callback", kind: callbackFault, times: "always" });
    if (modifier === "invisible")
      magic.faults.push({ operation: "evi-post.submit", kind: "invisible", times: "always" });
  }
  return magic;
}

function readFault(word: string): FaultOptions | undefined {
  const pattern = /^([A-Za-z]+)=([a-z-]+\d*)(?:@(\d+))?(\*\d*)?$/;
  const [, operation, text, nth, times] = pattern.exec(word) ?? [];
  if (!operation || !text || !operations.includes(operation)) return undefined;
  const [, name = text, number] = /^(.+)-(\d+)$/.exec(text) ?? [];
  const meaning = numbered[name];
  if (!kinds.includes(name) || (number !== undefined && !meaning)) return undefined;
  return {
    operation: `evi-post.${operation}`,
    kind: name as FaultKind,
    ...(meaning && number !== undefined && { [meaning]: Number(number) }),
    ...(nth !== undefined && { call: Number(nth) }),
    ...(times !== undefined && { times: times === "*" ? "always" : Number(times.slice(1)) }),
  };
}

/** Faults of a magic value are counted under the intent, so that a repeated submit is the second call. */
export function magicKeyOf(body: Record<string, unknown>): string {
  const parts = [
    body["LookupKey"],
    body["RecipientName"],
    body["RecipientAddress"],
    body["Document"],
  ];
  const known = typeof body["LookupKey"] === "string" ? parts.slice(0, 2) : parts;
  return createHash("sha256").update(JSON.stringify(known)).digest("hex");
}
