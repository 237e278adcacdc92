// What is done for an effect that has several rows: the newest decides, unless an earlier one was answered late.
import { expect, test } from "vitest";
import { planOf } from "../../src/journal/chain.js";
import type { CallCause } from "../../src/journal/next-action.js";
import type { Row } from "../../src/journal/row.js";
import { effectOf, rowOf } from "./support.js";

const call: CallCause = { by: "call", isAnswerLost: false, canLookUp: true, spacingMs: 100 };
const effect = effectOf({ effectClass: "keyed" });

const { digest } = effect;
const first = (over: Partial<Row> = {}) =>
  rowOf("0", "sending", { digest, nextOccurrence: "1", ...over });
const second = (over: Partial<Row> = {}) =>
  rowOf("1", "sending", { digest, nextOccurrence: "2", ...over });
const third = (over: Partial<Row> = {}) => rowOf("2", "notSent", over);

/** The rows and actions of the plan, in their order. */
function stepsOf(rows: Row[], cause = call, of = effect): string {
  const { steps } = planOf(rows, of, cause);
  return steps.map(({ row, action }) => `${row?.occurrence ?? "none"} ${action.do}`).join(", ");
}

test("no row: the effect may be taken", () => {
  expect(planOf([], effect, call)).toEqual({
    newest: undefined,
    steps: [{ row: undefined, action: { do: "take" } }],
  });
});

test("earlier rows without an answer are looked up in their order, before the newest is taken", () => {
  const rows = [first(), second(), third()];
  expect(stepsOf(rows)).toBe("0 lookUp, 1 lookUp, 2 take");
  expect(planOf(rows, effect, call).newest?.occurrence).toBe("2");
  expect(stepsOf([first(), second({ state: "refused" }), third()])).toBe("0 lookUp, 2 take");
});

test("any occurrence of the chain gives the same result; another effect of the step is not part of it", () => {
  const rows = [first(), rowOf("of an update", "sending", { digest }), second(), third()];
  for (const occurrence of ["0", "1", "2"])
    expect(stepsOf(rows, call, { ...effect, occurrence })).toBe("0 lookUp, 1 lookUp, 2 take");
  expect(stepsOf(rows, call, { ...effect, occurrence: "of an update" })).toBe(
    "of an update lookUp",
  );
});

test("a late answer of an earlier row is used, but the newest's own answer goes first", () => {
  const late = [first({ state: "answered" }), second(), third()];
  expect(stepsOf(late)).toBe("0 answer");
  expect(stepsOf(late, { by: "watch" })).toBe("0 answer");
  expect(planOf(late, effect, call).newest?.occurrence).toBe("2");
  expect(stepsOf([first({ state: "answered" }), second(), third({ state: "answered" })])).toBe(
    "2 answer",
  );
});

test("while the newest is being sent, everybody waits, whatever came late", () => {
  const sending = third({ state: "sending", held: true, leaseLeft: 100 });
  expect(stepsOf([first({ state: "answered" }), second(), sending])).toBe("2 wait");
});

test("another input of any row that may exist stops everything", () => {
  const otherInput = { digest: "digest of another" };
  expect(stepsOf([first(otherInput), second(), third()])).toBe("0 mismatch");
  expect(stepsOf([first({ ...otherInput, state: "refused" }), second(), third()])).toBe(
    "1 lookUp, 2 take",
  );
  expect(stepsOf([first(), second(), third({ ...otherInput, state: "answered" })])).toBe(
    "2 mismatch",
  );
});

test("a watch looks at the newest row alone", () => {
  expect(stepsOf([first(), second(), third({ state: "sending" })], { by: "watch" })).toBe(
    "2 lookUp",
  );
});
