// The line that shows how far a batch of notices is.
import { expect, test } from "vitest";
import { BatchProgressLine } from "../../src/contracts/send-notice-batch/progress-line.js";
import { batchFacts } from "../../src/cli/processes/show.js";
import type { ProcessStatus } from "../../src/contracts/shared/status.js";
import { trackedStatus } from "../harness/stack/tracked-status.js";

const list = { recipients: 100_000, invalidRows: 3, problems: [] };

const statusOf = (more: object) => trackedStatus("sendNoticeBatch", "campaign-7", more);

const progressAt = (
  second: number,
  sentCount: number,
  { totals, ...more }: { totals?: object } & Record<string, unknown> = {},
) =>
  statusOf({
    list,
    progress: {
      at: new Date(1_767_225_600_000 + second * 1_000).toISOString(),
      sentCount,
      ...more,
    },
    ...(totals && { totals }),
  });

function linesOf(...statuses: ProcessStatus[]) {
  const line = new BatchProgressLine();
  return statuses.map((status) => line.lineOf(status));
}

test("the rate is that of the last minute, or of the last step where that was longer; a status shown again changes nothing", () => {
  const lines = linesOf(
    progressAt(0, 0),
    progressAt(100, 10_000),
    progressAt(130, 40_000),
    progressAt(150, 60_000),
    progressAt(150, 60_000),
  );
  expect(lines.map((line) => /[\d,]+\/s.*/.exec(line ?? "")?.[0])).toEqual([
    undefined,
    "100/s, 15:00 left",
    "1,000/s, 1:00 left",
    "1,000/s, 0:40 left",
    "1,000/s, 0:40 left",
  ]);
});

test("the provider's percentage is shown where it counts more than what was sent", () => {
  expect(linesOf(progressAt(0, 0, { progressPercentage: 50 }))[0]).toContain("] 50 % 0 of 100,000");
});

test("then the notices by state", () => {
  const states = { refused: 31, read: 12_004, unknown: 2, delivered: 40_120 };
  const status = statusOf({ list, totals: { at: "2026-01-01T00:00:00Z", states } });
  const rest = 100_000 - (31 + 12_004 + 2 + 40_120);
  const line = `delivered 40,120, read 12,004, refused 31, unknown 2, not known yet ${rest.toLocaleString("en")} of 100,000`;
  expect(linesOf(status)).toEqual([line]);
  expect(batchFacts(status).map(([name]) => name)).toContain("notices");
});

test("while the provider makes them, the bar and the notices that have called back", () => {
  const totals = { at: "2026-01-01T00:00:00Z", states: { read: 12, delivered: 1_200 } };
  const notices = "delivered 1,200, read 12, not known yet 98,788 of 100,000";
  const [making, made] = linesOf(
    progressAt(0, 50_000, { totals }),
    progressAt(1, 100_000, { totals }),
  );
  expect(making).toBe(`[${"=".repeat(15)}${".".repeat(15)}] 50 % 50,000 of 100,000; ${notices}`);
  expect(made).toBe(notices);
});

test("the bar is full only once every notice is made, whatever the provider rounds", () => {
  const [rounded, made, silent] = linesOf(
    progressAt(0, 99_999, { progressPercentage: 100 }),
    progressAt(1, 99_000, { failedCount: 1_000, progressPercentage: 100 }),
    statusOf({ list, progress: { at: "2026-01-01T00:00:00Z" } }),
  );
  expect(rounded).toContain(" 99 % 99,999 of 100,000");
  expect(made).toBe("100,000 of 100,000 made, 1,000 failed");
  expect(silent).toBeUndefined();
});

test("the bar ends with the state Processed, also where the provider made fewer notices than there are recipients", () => {
  const at = progressAt(0, 99_990, { progressPercentage: 100 });
  const [making, made] = linesOf({ ...at, state: "Processing" }, { ...at, state: "Processed" });
  expect(making).toContain(" 99 % 99,990 of 100,000");
  expect(made).toBe("99,990 of 100,000 made");
});

test("no line for another process, before the provider has the batch, and at the end", () => {
  expect(linesOf(statusOf({}), statusOf({ list }), statusOf({ list, phase: "ended" }))).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});
