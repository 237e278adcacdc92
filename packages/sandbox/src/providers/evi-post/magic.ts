// The magic words of the postal API: endings and modifiers, in RecipientName, or in the value of a CustomFields entry
// whose Key is `sandbox`.
import { magicKey } from "../../exchange/magic.js";
import { readEviMagic, type EviMagic } from "../evi/magic.js";
import { endings, type Ending } from "./lifecycle.js";

export type PostalMagic = EviMagic<Ending, "unclosed">;

const vocabulary = {
  provider: "evi-post",
  operations: ["submit", "query", "cancel", "affidavitRequest", "affidavitDownload", "callback"],
  endings,
  modifiers: ["unclosed"],
} as const;

export function readPostalMagic(texts: unknown[]): PostalMagic | undefined {
  return readEviMagic<Ending, "unclosed">(texts, vocabulary);
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
