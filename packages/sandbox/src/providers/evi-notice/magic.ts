// The magic words of the notice API: endings and modifiers, in RecipientDisplayName, or in the column `displayname` of a batch.
import { magicKey } from "../../exchange/magic.js";
import { readEviMagic, type EviMagic } from "../evi/magic.js";
import { endings, type Ending } from "./lifecycle.js";

export type NoticeMagic = EviMagic<Ending, never>;

const vocabulary = {
  provider: "evi-notice",
  operations: [
    "submit",
    "get",
    "query",
    "attachments",
    "affidavits",
    "affidavit",
    "affidavitRequest",
    "callback",
  ],
  endings,
  modifiers: [],
} as const;

export function readNoticeMagic(text: unknown): NoticeMagic | undefined {
  return readEviMagic<Ending, never>([text], vocabulary);
}

export function magicKeyOf(body: Record<string, unknown>): string {
  const parts = [body["LookupKey"], body["RecipientDisplayName"], body["RecipientAddress"]];
  return magicKey(
    "evi-notice",
    ...(typeof body["LookupKey"] === "string" ? parts.slice(0, 2) : [...parts, body["Body"]]),
  );
}
