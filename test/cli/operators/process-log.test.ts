// What `logs` makes of the lists of one look after another; Temporal's list is the test's.
import { expect, test } from "vitest";
import { Client } from "@temporalio/client";
import type { ConnectionLike } from "@temporalio/client";
import { defaultPayloadConverter } from "@temporalio/common";
import { msToTs } from "@temporalio/common/lib/time.js";
import { ProcessLog } from "../../../src/cli/operators/process-log.js";
import { trackedStatus } from "../../harness/stack/tracked-status.js";
import { statusMemo } from "../../../src/contracts/shared/names.js";
import type { TimelineEntry } from "../../../src/contracts/shared/status.js";

const began = Date.parse("2026-01-01T00:00:00.000Z");
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

/** Looks at one list after another, and gives the events of each look. */
async function looks(since: number, ...lists: Run[][]): Promise<string[][]> {
  let shown: Run[] = [];
  const infoOf = ({ id, runId = "r", timeline, earlierEntries, endedAt }: Run) => {
    const earlier = earlierEntries !== undefined && { earlierEntries };
    const status = trackedStatus("sendPostal", id, { timeline, ...earlier });
    return {
      execution: { workflowId: `sendPostal/${id}`, runId },
      ...{ type: { name: "sendPostal" }, status: endedAt === undefined ? 1 : 5 },
      ...{ historyLength: { toNumber: () => 1 }, startTime: msToTs(began) },
      ...(endedAt !== undefined && { closeTime: msToTs(began + endedAt * 60_000) }),
      memo: { fields: { [statusMemo]: defaultPayloadConverter.toPayload(status) } },
    };
  };
  const workflowService = {
    listWorkflowExecutions: async () => ({ executions: shown.map(infoOf) }),
  };
  const connection = { workflowService, plugins: [] } as unknown as ConnectionLike;
  const log = new ProcessLog(new Client({ connection }), {}, new Date(began + since * 60_000));
  const found: string[][] = [];
  for (const list of lists) {
    shown = list;
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
