// What reads a provider's text takes a time that grows with its length, not with the square of it: else one answer blocks the worker.
import { expect, test } from "@jest/globals";
import { plainText, withoutJwts } from "../../../src/contracts/shared/text.js";
import { withoutSecrets } from "../../../src/providers/errors/redaction.js";
import { safeFileName } from "../../../src/providers/evi/zip.js";
import { shownValue } from "../../../src/providers/http/answer.js";
import { isWebPage } from "../../../src/providers/http/described.js";
import { retryAfterMs } from "../../../src/providers/http/exchange.js";
import { utcInstant } from "../../../src/providers/http/instant.js";
import { refusal } from "../../../src/providers/video-identification/translate.js";

const BYTES = 1_000_000;
const answerWith = (text: string) => ({ status: 500, headers: {}, body: Buffer.from(text) });

const readers: Record<string, (text: string) => unknown> = {
  plainText: (text) => plainText(text, 100),
  withoutJwts,
  withoutSecrets: (text) =>
    withoutSecrets({ ...answerWith(text), sent: { secrets: ["aaab", "eyJb"] } }),
  safeFileName: (text) => safeFileName(text, "file"),
  shownValue: (text) => shownValue(answerWith(text), "id"),
  isWebPage: (text) => isWebPage(answerWith(text)),
  retryAfterMs: (text) => retryAfterMs({ "retry-after": text, date: text }),
  utcInstant,
  refusal: (text) => refusal("conferenceData", answerWith(text)),
};
const hostile = [
  "eyJ",
  "eyJa.",
  "a",
  ".",
  "-",
  " ",
  "<",
  "<?xml",
  '"id":',
  "\u200d",
  "\ud83d",
  "0",
  "0:",
  "/",
];

test.each(Object.keys(readers))("%s reads a megabyte of anything", (name) => {
  for (const part of hostile) {
    const text = part.repeat(BYTES / part.length);
    expect(() => readers[name]?.(text)).not.toThrow();
    expect(() => readers[name]?.(`${text}!`)).not.toThrow();
  }
});
