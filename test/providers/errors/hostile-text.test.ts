// What reads a provider's text takes a time that grows with its length, not with the square of it: else one answer blocks the worker.
import { expect, test } from "vitest";
import { plainText, withoutJwts } from "../../../src/contracts/shared/text.js";
import { withoutSecrets } from "../../../src/providers/errors/redaction.js";
import { safeFileName } from "../../../src/providers/evi/zip.js";
import { shownUuid, shownValue } from "../../../src/providers/http/answer.js";
import { isWebPage } from "../../../src/providers/http/described.js";
import { retryAfterMs } from "../../../src/contracts/shared/retry-after.js";
import { utcInstant } from "../../../src/providers/http/instant.js";
import { refusal } from "../../../src/providers/video-identification/translate.js";
import { messagePrefix } from "../../../src/temporal/redaction.js";

const BYTES = 256_000;
/** Of the shorter text. */
const LEAST_BYTES = BYTES / 16;
/** Linear is 16 times, with the square of the length 256 times. */
const MAX_TIMES = 64;
/** Less is not measured, because a busy machine makes it many times longer. The square of the length takes seconds. */
const LEAST_MS = 20;
const TRIES = 3;

const sent = { secrets: ["aaab", "eyJb", "::", 'a"\\'] };
const answerWith = (text: string) => ({ status: 500, headers: {}, body: Buffer.from(text) });

const readers: Record<string, (text: string) => unknown> = {
  plainText: (text) => plainText(text, 100),
  messagePrefix,
  withoutJwts,
  withoutSecrets: (text) => withoutSecrets({ ...answerWith(text), sent }),
  "withoutSecrets of JSON": (text) =>
    withoutSecrets({ ...answerWith(JSON.stringify({ message: text })), sent }),
  safeFileName: (text) => safeFileName(text, "file"),
  shownValue: (text) => shownValue(answerWith(text), "id"),
  shownUuid: (text) => shownUuid(answerWith(text)),
  isWebPage: (text) => isWebPage(answerWith(text)),
  retryAfterMs: (text) => retryAfterMs({ "retry-after": text, date: text }),
  utcInstant,
  refusal: (text) => refusal("conferenceData", answerWith(text)),
};
const hostile = [
  ...["eyJ", "eyJa.", "eyJ.eyJ.", "a", "aaa", ".", "-", ":", " ", "<", "<?xml", '"', "\\"],
  ...['"id":', "01234567-", "\u200d", "\u0000", "\ud83d", "0", "0:", "/"],
];

test.each(Object.keys(readers))("%s reads anything in linear time", (name) => {
  const read = readers[name] ?? expect;
  for (const part of hostile) {
    // What a pattern would end with does not come.
    const textOf = (bytes: number) => `${part.repeat(bytes / part.length)}!`;
    const short = leastMs(LEAST_MS, () => read(textOf(LEAST_BYTES)));
    const most = MAX_TIMES * Math.max(short, LEAST_MS);
    const long = leastMs(most, () => read(textOf(BYTES)));
    expect({ part, isLinear: long <= most }).toEqual({ part, isLinear: true });
  }
});

/** The time of this process alone, because the machine may be busy; more tries where it is above `most`. */
function leastMs(most: number, work: () => unknown): number {
  let least = Infinity;
  for (let tries = 0; tries < TRIES && least > most; tries += 1) {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
}
