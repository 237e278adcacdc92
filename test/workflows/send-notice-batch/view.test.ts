// What the status of a batch says beside that of every process.
import { expect, test } from "@jest/globals";
import { membersOf } from "../../../src/workflows/send-notice-batch/view.js";

const at = "2026-01-01T00:00:00.000Z";
const read = { stamp: at, state: "Processing", sentCount: 5, states: { sent: 3 } };

test("notices that call back while the provider still makes others are shown, until their own read", () => {
  const known = { list: undefined, totals: undefined };
  expect(membersOf({ ...known, read })).toEqual({
    progress: { at, sentCount: 5 },
    totals: { at, states: { sent: 3 } },
  });
  const { states: _, ...without } = read;
  expect(membersOf({ ...known, read: without })).toEqual({ progress: { at, sentCount: 5 } });
  const later = "2026-01-02T00:00:00.000Z";
  const totals = { at: later, states: { read: 9 }, failed: 0, open: 1, isLast: false };
  expect(membersOf({ ...known, read, totals })).toMatchObject({
    totals: { at: later, states: { read: 9 } },
  });
});
