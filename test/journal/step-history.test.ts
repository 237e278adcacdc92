// What the runs of a process have made of a step whose occurrences are effects of their own.
import { expect, test } from "vitest";
import type { Sealer } from "../../src/crypto/data-key.js";
import { sealAnswer } from "../../src/journal/answers.js";
import type { Row } from "../../src/journal/row.js";
import { stepHistoryOf } from "../../src/journal/step-history.js";
import { rowOf } from "./support.js";

/** Seals nothing. */
const sealer: Sealer = { seal: (data) => Buffer.from(data), open: (data) => Buffer.from(data) };
const withSealer = () => Promise.resolve(sealer);

function row(occurrence: string, state: Row["state"], over: Partial<Row> = {}): Row {
  const made = rowOf(occurrence, state, over);
  if (state !== "answered") return made;
  return { ...made, answer: sealAnswer(sealer, made.token, `answer ${occurrence}`) };
}

test("it counts the occurrences that may have had their effect, and those that were refused", async () => {
  const rows = [
    row("0", "answered"),
    row("1", "sending"),
    row("2", "notSent", { uncertain: true }),
    row("3", "notSent"),
    row("4", "withdrawn"),
    row("5", "refused"),
  ];
  expect(await stepHistoryOf(rows, withSealer)).toMatchObject({ made: 3, refused: 1 });
  expect(await stepHistoryOf([], withSealer)).toEqual({ made: 0, refused: 0 });
});

test("the latest answered occurrence goes before one in doubt", async () => {
  const rows = [row("0", "answered"), row("1", "answered"), row("2", "sending")];
  const { standing } = await stepHistoryOf(rows, withSealer);
  expect(standing).toMatchObject({ occurrence: "1", isAnswered: true, answer: "answer 1" });
});

test("else the latest in doubt, with those before it, unless another row replaces it", async () => {
  const rows = [
    row("0", "sending"),
    row("1", "notSent", { uncertain: true }),
    row("2", "sending", { nextOccurrence: "3" }),
    row("3", "refused"),
  ];
  const { standing } = await stepHistoryOf(rows, withSealer);
  expect(standing).toEqual({ occurrence: "1", isAnswered: false, before: ["0"] });
  expect(await stepHistoryOf([row("0", "refused")], withSealer)).not.toHaveProperty("standing");
});

test("a key that is gone fails where the answer is read, not before", async () => {
  const gone = new Error("the key is gone");
  const { standing } = await stepHistoryOf([row("0", "answered")], () => Promise.reject(gone));
  expect(standing?.isAnswered).toBe(true);
  expect(() => standing?.answer).toThrow(gone);
});
