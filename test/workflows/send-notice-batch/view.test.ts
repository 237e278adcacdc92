// What the status of a batch says beside that of every process.
import { expect, test } from "vitest";
import { linesOf, membersOf } from "../../../src/workflows/send-notice-batch/view.js";

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

test("the numbers of the details add up to the recipients, each of whom counts once", () => {
  const list = { recipients: 20_000, invalidRows: 0, problems: [] };
  const totals = {
    at,
    states: { read: 17_397, sent: 2_000 },
    failed: 0,
    open: 2_603,
    isLast: false,
  };
  const [, , notices] = linesOf({ list, read, totals });
  expect(notices).toEqual(["Notices", "read: 17397; sent: 2000; not known yet: 603; of 20000"]);
  const all = { ...totals, states: { read: 20_000 }, open: 0 };
  expect(linesOf({ list, read, totals: all })[2]).toEqual(["Notices", "read: 20000; of 20000"]);
});
