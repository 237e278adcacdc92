// What `logs` makes of the lists of one look after another; Temporal's list is the test's.
import { expect, test } from "vitest";
import { defaultPayloadConverter } from "@temporalio/common";
import { ProcessLog } from "../../../src/cli/operators/process-log.js";
import { clientOf } from "../../temporal/visibility/listed-processes.js";
import type { Listed } from "../../temporal/visibility/listed-processes.js";
import { trackedStatus } from "../../harness/stack/tracked-status.js";
import { statusMemo } from "../../../src/contracts/shared/names.js";
import type { TimelineEntry } from "../../../src/contracts/shared/status.js";

/** The processes end at minute 20, which is not over. */
const began = Date.now() - 15 * 60_000;
const entry = (event: string, minute: number): TimelineEntry => ({
  at: new Date(began + minute * 60_000).toISOString(),
  source: "callback",
  event,
});

interface Run {
  id: string;
  runId?: string;
  timeline: TimelineEntry[];
  earlierEntries?: number;
  /** Terminated at this minute. */
  endedAt?: number;
}

function listedOf({ id, runId = "r", timeline, earlierEntries, endedAt }: Run): Listed {
  const earlier = earlierEntries !== undefined && { earlierEntries };
  const status = trackedStatus("sendPostal", id, { timeline, ...earlier });
  return {
    ...{ id, runId, startedAt: new Date(began) },
    status: endedAt === undefined ? "running" : "terminated",
    ...(endedAt !== undefined && { closedAt: new Date(began + endedAt * 60_000) }),
    memo: { [statusMemo]: defaultPayloadConverter.toPayload(status) },
  };
}

/** Looks at one list after another, and gives the events of each look. */
async function looks(since: number, ...lists: Run[][]): Promise<string[][]> {
  let shown: Listed[] = [];
  const { client } = clientOf(() => shown);
  const log = new ProcessLog(client, {}, new Date(began + since * 60_000));
  const found: string[][] = [];
  for (const list of lists) {
    shown = list.map(listedOf);
    const events = await log.next();
    found.push(events.map(({ workflowId, event }) => `${workflowId.split("/")[1]} ${event}`));
  }
  return found;
}

const [sent, read, closed] = [entry("Sent", 5), entry("Read", 10), entry("Closed", 15)] as const;

test("each event comes once, in the order of the times over all processes", async () => {
  const found = await looks(
    -1,
    [
      { id: "a", timeline: [sent, closed] },
      { id: "b", timeline: [read] },
    ],
    [
      { id: "a", timeline: [sent, closed] },
      { id: "b", timeline: [sent, read] },
    ],
    [],
  );
  expect(found).toEqual([
    ["a Started", "b Started", "a Sent", "b Read", "a Closed"],
    // A callback that came late.
    ["b Sent"],
    [],
  ]);
});

test("what was before the time is left out, and so is the start of an older process", async () => {
  const timeline = [sent, { ...read, clock: "sandbox" as const }, closed];
  expect(await looks(7, [{ id: "a", timeline }])).toEqual([["a Closed"]]);
  expect(
    await looks(7, [{ id: "a", timeline }], [{ id: "a", timeline: [...timeline, sent] }]),
  ).toEqual([["a Closed"], ["a Sent"]]);
});

test("a process that a list has missed is not told a second time", async () => {
  const one = { id: "a", timeline: [sent] };
  expect(await looks(-1, [one], [], [one])).toEqual([["a Started", "a Sent"], [], []]);
});

test("more events than a process keeps are counted, with the command that shows them", async () => {
  const found = await looks(
    -1,
    [{ id: "a", timeline: [sent] }],
    [{ id: "a", timeline: [closed], earlierEntries: 3 }],
    [{ id: "a", timeline: [closed], earlierEntries: 3 }],
  );
  expect(found.slice(1).map((events) => events.toSorted())).toEqual([
    ["a 2 more events: trustflow status sendPostal/a --timeline", "a Closed"],
    [],
  ]);
});

test("after an outage, the next look has what the one that was cut off had found", async () => {
  const since = new Date(began - 60_000);
  const ended: Listed = { id: "b", status: "failed", startedAt: since, closedAt: new Date(began) };
  let asked = 0;
  const { client } = clientOf(() => {
    asked += 1;
    // The first list, and in the second look the history that has the end of the second process.
    if (asked === 1 || asked === 3) throw Object.assign(new Error("away"), { code: 14 });
    return [listedOf({ id: "a", timeline: [sent] }), ended];
  });
  const away: unknown[] = [];
  const log = new ProcessLog(client, {}, since);
  for await (const events of log.follow((error) => away.push(error))) {
    expect(events.map(({ event }) => event)).toEqual(["Started", "Started", "Ended: ", "Sent"]);
    break;
  }
  expect(away).toHaveLength(1);
});

test("an end is told once; a run that a reset has replaced has not ended", async () => {
  const ended = { id: "a", timeline: [sent], endedAt: 20 };
  const open = { id: "a", timeline: [sent] };
  expect(await looks(-1, [open], [ended], [ended])).toEqual([
    ["a Started", "a Sent"],
    ["a Ended: terminated"],
    [],
  ]);
  const next = { id: "a", runId: "r2", timeline: [sent, read] };
  expect((await looks(1, [open], [next, ended]))[1]).toEqual(["a Read"]);
});
