// Production code behind the doors (test/simulation/acceptance.ts), in processes of its own: those of the tests keep the real clock.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

interface Result {
  hash: string;
  seen: object;
}

async function simulate(...seeds: string[]): Promise<Result[]> {
  const script = ["--import", "./test/simulation/loader.mjs", "test/simulation/acceptance.ts"];
  const { stdout } = await promisify(execFile)(process.execPath, [...script, ...seeds]);
  return JSON.parse(stdout) as Result[];
}

test("sandbox, receiver and calls run on virtual time, alike from each seed", async () => {
  const [first, other] = await simulate("1", "2");
  expect(first?.seen).toEqual({
    letter: {
      found: 1,
      effects: 1,
      status: 204,
      stored: [{ identifier: "e-1", state: "delivered", day: "2027-01-01" }],
      signals: [{ workflowId: "sendPostal/1", ids: ["e-1"] }],
    },
    faults: {
      cutBefore: "unavailable unknown ",
      lost: "unavailable unknown ",
      page: "unavailable unknown 200",
      late: "unavailable unknown ",
      busy: "rateLimited none 429",
      failedAfter: "unavailable unknown 500",
      slow: "sent",
      refused: "unavailable none ECONNREFUSED",
      // Answered by the server, although the caller never heard of it: lost, late, failedAfter, slow.
      letters: 5,
    },
    mutualTls: { known: 404, unknown: "accessDenied" },
    session: { news: 2, held: [true, false], timedOut: "57014", rows: 0, free: true },
    databaseFaults: {
      seen: ["failed", "failed"],
      isAway: "ECONNREFUSED",
      rows: [{ name: "cutAfter", now: false }],
    },
    documents: { isSame: true, full: "DocumentStoreFullError", names: ["a.pdf"], unfinished: 0 },
    kill: { ticks: 1, woke: false, wrote: false, letters: 0 },
  });
  expect(other?.seen).toEqual(first?.seen);
  expect(other?.hash).not.toBe(first?.hash);
});
