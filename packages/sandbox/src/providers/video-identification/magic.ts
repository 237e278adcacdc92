// The magic words of the video service. Nothing creates a conference (P1 §4.2), so the words stand in its id, and in a `processId`:
// `<intent>~<word>~<word>`. An id has no `=`, so a fault may be written with a colon: `order-1~rejectCall:cut-after-commit`.
import { magicKey, readMagic, unknownWords } from "../../exchange/magic.js";

export const PROVIDER = "video-identification";

const words = [
  "open",
  "unverified",
  "async",
  "async-stalled",
  "audit-late",
  "audit-never",
  "audit-large",
  "audit-pdf",
  "audit-zip",
  "token-flat",
  "token-short",
  "token-alone",
  "token-none",
  "token-foreign",
  "token-expired",
  "unknown",
  "event-lost",
  "event-doubled",
  "event-delayed",
  "event-reordered",
] as const;
export type Word = (typeof words)[number];

export const operationNames = [
  "genAPIToken",
  "rejectCall",
  "getAsyncRequestInfo",
  "registerAlertEmail",
  "conferenceData",
  "getAuditData",
  "deleteAuditData",
] as const;
export type OperationName = (typeof operationNames)[number];

const vocabulary = {
  provider: PROVIDER,
  operations: [...operationNames, "callback"],
  words,
  callbackPrefix: "event-",
};

const PROCESS = /^process[:=]/;

/** What an id says: its intent, then its words. */
export function readId(id: string) {
  const [intent = "", ...given] = id.split("~");
  const words = given.filter((word) => !PROCESS.test(word)).map((word) => word.replace(":", "="));
  const magic = readMagic([words.length > 0 && `sandbox:${words.join(",")}`], vocabulary);
  return {
    intent,
    /** Of the alerts for it: the word `process:<id>`, else the intent. */
    processId: given.find((word) => PROCESS.test(word))?.replace(PROCESS, "") ?? intent,
    words: magic?.words ?? [],
    unknown: unknownWords(magic),
    magicKey: magicKey(PROVIDER, id),
    faults: magic?.faults ?? [],
  };
}
