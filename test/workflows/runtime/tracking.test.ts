// Tracking: callbacks make the process ask, a timer makes it ask in any case, and only the provider's answer ends it (docs/design.md §7).
import { describe, expect, test } from "vitest";
import { ApplicationFailure } from "@temporalio/common";
import type { Snapshot, View } from "../../../src/workflows/runtime/event-log.js";
import { Flow } from "../../../src/workflows/runtime/flow.js";
import { plainView } from "../../../src/workflows/runtime/event-log.js";
import { stepsOf } from "../../../src/workflows/runtime/steps.js";
import type { Steps } from "../../../src/workflows/runtime/steps.js";
import { trackUntilClosed } from "../../../src/workflows/runtime/tracking.js";
import { collectAffidavits } from "../../../src/workflows/shared/communication.js";
import type { TrackingTarget } from "../../../src/workflows/runtime/tracking.js";
import { hintsAtEnd } from "../../../src/workflows/shared/evi-view.js";
import { reportsEnd } from "../../../src/workflows/send-postal/view.js";
import { WorkflowRun } from "../workflow-run.js";

interface Activities {
  ask(given: { wait: string }): Promise<Snapshot>;
}

const spans = {
  deadlineSeconds: 10_000,
  pollIntervalSeconds: 1_000,
  askIntervalSeconds: 100,
  restingGraceSeconds: 500,
};

const view = (events: Parameters<typeof plainView>[0], snapshot?: Snapshot): View => ({
  ...plainView(events),
  ...(snapshot && { state: snapshot.state }),
  closed: snapshot?.state === "Closed",
  resting: snapshot?.state === "Cancelled",
});

/** A workflow that tracks, then collects affidavits for `windowSeconds`; the result is its outcome. */
async function start(more: Partial<TrackingTarget> = {}, windowSeconds = 0) {
  let flow!: Flow<Snapshot, View>;
  const asked: unknown[] = [];
  const run = await WorkflowRun.start(() => {
    flow = new Flow<Snapshot, View>(view, reportsEnd);
    const step = stepsOf(flow, "evi-post") as unknown as Steps<Activities>;
    const target: TrackingTarget = {
      label: "EviPost",
      spans,
      hintsAtEnd: (event) => hintsAtEnd(reportsEnd, event),
      ask: async (wait, summary, quick) => {
        asked.push([wait, summary, quick]);
        const happened = wait === "affidavits" ? { happened: {} } : {};
        flow.log.applySnapshot(
          await step({ name: wait, summary, journaled: false, quick, ...happened }, (activities) =>
            activities.ask({ wait }),
          ),
          [],
        );
      },
      ...more,
    };
    return flow.lifecycle.run({
      main: async () => {
        await trackUntilClosed(flow, target);
        await collectAffidavits(flow, target, windowSeconds);
      },
      result: () => flow.status.ownOutcome ?? flow.log.view.state,
    });
  });
  let stamp = 0;
  const answerWith = (state: string) => {
    stamp += 1;
    const stamped = String(stamp).padStart(4, "0");
    return run.open.at(-1)!.answer({ state, stamp: stamped, fingerprint: state });
  };
  let events = 0;
  const hear = (kind: string, affidavit?: object) => {
    events += 1;
    const event = { id: `e-${events}`, kind, at: "2026", ...(affidavit && { affidavit }) };
    return run.signal("providerEvents", [event]);
  };
  const waits = () => run.calls.map(({ input }) => input.wait);
  return { run, flow, answerWith, hear, waits, asked };
}

describe("a callback", () => {
  test("that reports an end makes the process ask at once, and the answer ends it", async () => {
    const { run, hear, answerWith, waits } = await start();
    expect(waits()).toEqual([]);
    await hear("Closed");
    expect(waits()).toEqual(["end"]);
    await answerWith("Closed");
    expect(run.result).toBe("Closed");
  });

  test("alone ends nothing, and a forged one costs one question an interval", async () => {
    const { run, hear, answerWith, waits } = await start();
    await hear("Closed");
    await answerWith("Sent");
    expect(run.result).toBeUndefined();
    await hear("Closed");
    await hear("Closed");
    await run.pass(99);
    expect(waits()).toEqual(["end"]);
    await run.pass(1);
    expect(waits()).toEqual(["end", "end"]);
    await answerWith("Sent");
    await run.pass(200);
    expect(waits()).toEqual(["end", "end"]);
  });

  test("that reports no end makes no question, unless the target says so", async () => {
    const first = await start();
    await first.hear("Sent");
    expect(first.waits()).toEqual([]);
    await first.hear("Sent", { id: "a", requestId: "r" });
    expect(first.waits()).toEqual(["end"]);
    const eager = await start({ hintsAtEnd: () => true });
    await eager.hear("Sent");
    expect(eager.waits()).toEqual(["end"]);
  });

  test("does not delay the poll", async () => {
    const { run, hear, waits } = await start();
    await run.pass(900);
    await hear("Sent");
    await run.pass(99);
    expect(waits()).toEqual([]);
    await run.pass(1);
    expect(waits()).toEqual(["now"]);
  });

  test("does not delay the poll either where its question brings nothing new", async () => {
    const { run, waits } = await start();
    await run.pass(600);
    await run.signal("surplus", { count: 1 });
    await run.open[0]?.fail({ kind: "unchanged" });
    await run.pass(400);
    expect(waits()).toEqual(["end", "now"]);
  });

  test("that reports an end is shown with the answer to its question, any other one at once", async () => {
    const { run, flow, hear, answerWith } = await start();
    await run.look(() => flow.status.identify({ environment: "sandbox", account: "default" }));
    const shown = () => run.memos.at(-1)?.timeline.map(({ event }) => event) ?? [];
    await hear("Sent", { id: "a", requestId: "r" });
    expect(shown()).toContain("Sent");
    await answerWith("Sent");
    await run.pass(100);
    await hear("Closed");
    expect(shown()).not.toContain("Closed");
    await answerWith("Sent");
    expect(shown()).toContain("Closed");
  });

  test("that the process is not told of makes it ask as well", async () => {
    const { run, waits } = await start();
    await run.signal("surplus", { count: 3 });
    expect(waits()).toEqual(["end"]);
  });
});

describe("without callbacks", () => {
  test("the process asks after each interval until the answer is closed", async () => {
    const { run, answerWith, waits } = await start();
    await run.pass(1_000);
    await answerWith("Sent");
    await run.pass(999);
    expect(waits()).toEqual(["now"]);
    await run.pass(1);
    expect(waits()).toEqual(["now", "now"]);
    await answerWith("Closed");
    expect(run.result).toBe("Closed");
  });

  test("an answer to a callback's question puts the next poll off", async () => {
    const { run, hear, answerWith, waits } = await start();
    await run.pass(600);
    await hear("Closed");
    await answerWith("Sent");
    await run.pass(999);
    expect(waits()).toEqual(["end"]);
    await run.pass(1);
    expect(waits()).toEqual(["end", "now"]);
  });

  test("a question whose time is over without a change is followed by the next one", async () => {
    const { run, waits } = await start();
    await run.pass(1_000);
    await run.open[0]?.fail({ kind: "unchanged" });
    await run.pass(1_000);
    expect(waits()).toEqual(["now", "now"]);
  });

  test("at the deadline it asks a last time, and gives up when that answer is open", async () => {
    const { run, answerWith, waits } = await start();
    await run.pass(1_000);
    await answerWith("Sent");
    await run.pass(1_000);
    await run.pass(8_000);
    // The question of the poll is still open: its own time ends with the deadline.
    await run.open[0]?.fail({ kind: "unchanged" });
    expect(waits()).toEqual(["now", "now", "now"]);
    await answerWith("Sent");
    expect(run.result).toBe("openAtDeadline");
  });

  test("a deadline that began before the tracking ends it as early as it says", async () => {
    const deadline = new Date(Date.UTC(2026, 0, 1) + 1_500_000);
    const { run, answerWith, waits } = await start({ deadline });
    await run.pass(1_000);
    await answerWith("Sent");
    await run.pass(500);
    expect(waits()).toEqual(["now", "now"]);
    await answerWith("Sent");
    expect(run.result).toBe("openAtDeadline");
  });

  test("a deadline that is over by then is followed by one question and the end", async () => {
    const { run, answerWith } = await start({ deadline: new Date(Date.UTC(2025, 0, 1)) });
    for (let asked = 0; run.result === undefined && asked < 3; asked += 1) {
      await run.pass(10);
      await answerWith("Sent");
    }
    expect(run.result).toBe("openAtDeadline");
  });

  // The later wait has timers of its own for the deadline, so that none of them is cancelled by a poll.
  test("the first wait has one timer, a later one two; each says what it is for", async () => {
    const { run, flow, answerWith } = await start();
    expect(run.timers).toEqual(["Ask EviPost at 2026-01-01T00:16:40.000Z"]);
    expect(flow.status.current().waitingFor).toBe("news from EviPost");
    await run.pass(1_000);
    await answerWith("Sent");
    expect(run.timers).toEqual([
      "Time of the last query to EviPost",
      "Ask EviPost at 2026-01-01T00:33:20.000Z",
    ]);
  });

  test("a question says why it is asked, and how often and how long it is tried", async () => {
    const { run, hear, answerWith, asked } = await start();
    await hear("Closed");
    const end = { retry: { initialInterval: 100_000, backoffCoefficient: 2 } };
    expect(asked.shift()).toEqual(["end", "Query EviPost for the end", end]);
    await answerWith("Sent");
    expect(run.timers).toContain("Pause before the next query to EviPost");
    await run.pass(1_001);
    const poll = { scheduleToCloseTimeout: 8_999_999 };
    expect(asked.shift()).toEqual(["now", "Query EviPost", poll]);
    await answerWith("Sent");
    await run.pass(8_995);
    await answerWith("Delivered");
    await run.pass(1_000);
    expect(asked.at(-1)).toEqual(["now", "Query EviPost a last time", {}]);
  });

  test("after 40 polls the server repeats the question, so that the history has an end", async () => {
    const endless = { ...spans, deadlineSeconds: 100_000 };
    const { run, answerWith, waits, asked } = await start({ spans: endless });
    for (let polls = 0; polls < 40; polls += 1) {
      await run.pass(1_001);
      await answerWith("Sent");
    }
    await run.pass(1_001);
    expect(waits()).toEqual([...Array.from({ length: 40 }, () => "now"), "change"]);
    const retry = { initialInterval: 1_000_000, backoffCoefficient: 1 };
    expect(asked.at(-1)).toEqual([
      "change",
      "Query EviPost until something changes",
      { scheduleToCloseTimeout: expect.any(Number), retry },
    ]);
  });

  test("a question that fails ends the tracking with its error", async () => {
    const failure = ApplicationFailure.nonRetryable("no");
    const { run } = await start({ ask: () => Promise.reject(failure) });
    await run.pass(1_000);
    expect(run.failure).toMatchObject({ message: "no" });
  });

  test.each([10_000, 20_000])(
    "an interval of %i s reaches the deadline, so that its first question is the last",
    async (pollIntervalSeconds) => {
      const { run, answerWith, waits } = await start({ spans: { ...spans, pollIntervalSeconds } });
      await run.pass(10_000);
      expect(waits()).toEqual(["now"]);
      await answerWith("Sent");
      expect(run.result).toBe("openAtDeadline");
    },
  );

  test("the last answer counts when it is closed", async () => {
    const { run, answerWith, waits } = await start({
      spans: { ...spans, pollIntervalSeconds: 20_000 },
    });
    await run.pass(10_000);
    expect(waits()).toEqual(["now"]);
    await answerWith("Closed");
    expect(run.result).toBe("Closed");
  });
});

describe("an end state without Closed", () => {
  test("counts as the end at the next poll after its grace", async () => {
    const { run, hear, answerWith, waits } = await start();
    await hear("Cancelled");
    await answerWith("Cancelled");
    await run.pass(999);
    expect(waits()).toEqual(["end"]);
    await run.pass(2);
    expect(waits()).toEqual(["end", "now"]);
    await answerWith("Cancelled");
    expect(run.result).toBe("Cancelled");
  });

  test("that shows after a poll counts as the end once its grace is over, too", async () => {
    const { run, hear, answerWith, waits } = await start();
    await run.pass(1_000);
    await answerWith("Sent");
    await hear("Cancelled");
    await answerWith("Cancelled");
    await run.pass(1_000);
    expect(run.timers).toContain("Time limit for EviPost to close it");
    await run.pass(1);
    expect(waits()).toEqual(["now", "end", "now"]);
    await answerWith("Cancelled");
    expect(run.result).toBe("Cancelled");
  });

  test("that the provider takes back starts no end", async () => {
    const { run, hear, answerWith, waits } = await start({
      spans: { ...spans, restingGraceSeconds: 5_000 },
    });
    await hear("Cancelled");
    await answerWith("Cancelled");
    await run.pass(1_100);
    await hear("Disposed");
    await answerWith("Sent");
    await run.pass(5_000);
    await answerWith("Sent");
    expect(run.result).toBeUndefined();
    expect(waits()).toEqual(["end", "now", "end"]);
  });
});

test("the end of one loop calls off the question of the other", async () => {
  const { run, hear, answerWith } = await start();
  await run.pass(1_000);
  const [polling] = run.open;
  await hear("Closed");
  await answerWith("Closed");
  expect(polling?.isCancelled).toBe(true);
  expect(run.result).toBe("Closed");
});

test("a condition of the target ends it without an answer, and calls off the question", async () => {
  let isDecided = false;
  const { run, hear, waits } = await start({ isOver: () => isDecided, hintsAtEnd: () => true });
  await hear("Sent");
  await run.pass(1_000);
  expect(waits()).toEqual(["end", "now"]);
  await run.look(() => {
    isDecided = true;
  });
  expect(run.calls.map(({ isCancelled }) => isCancelled)).toEqual([true, true]);
  expect(run.result).not.toBeUndefined();
});

test("the end of the process ends it", async () => {
  const { run, flow } = await start();
  await run.pass(1_000);
  await run.look(() => flow.lifecycle.withdraw());
  expect(run.calls[0]?.isCancelled).toBe(true);
  expect(run.result).toBe("cancelledBeforeSubmit");
});

describe("after the close", () => {
  test("an announced affidavit is fetched at once, and after the pause the next one", async () => {
    const { run, hear, answerWith, waits } = await start({}, 1_000);
    await hear("Closed");
    await answerWith("Closed");
    expect(run.result).toBeUndefined();
    await hear("Closed", { id: "a" });
    expect(waits()).toEqual(["end", "now"]);
    await answerWith("Closed");
    await run.pass(100);
    await hear("Closed", { id: "b" });
    expect(waits()).toEqual(["end", "now", "now"]);
  });

  test("callbacks are shown, also where the poll has met the close before the callback's question did", async () => {
    const { run, flow, hear, answerWith, waits } = await start({}, 1_000);
    await run.look(() => flow.status.identify({ environment: "sandbox", account: "default" }));
    await hear("Closed");
    await run.pass(1_000);
    await answerWith("Closed");
    expect(waits()).toEqual(["end", "now"]);
    await hear("Late");
    expect(run.memos.at(-1)?.timeline.map(({ event }) => event)).toContain("Late");
  });

  test("one that is announced during the pause is fetched at the end of the window at the latest", async () => {
    const { run, hear, answerWith, waits } = await start({}, 1_000);
    await hear("Closed");
    await answerWith("Closed");
    await hear("Closed", { id: "a" });
    await answerWith("Closed");
    await hear("Closed", { id: "b" });
    expect(waits()).toEqual(["end", "now"]);
    await run.pass(1_000);
    expect(waits()).toEqual(["end", "now", "affidavits"]);
    await answerWith("Closed");
    expect(run.result).toBe("Closed");
  });

  test("a person may waive the last affidavits", async () => {
    const { run, flow, hear, answerWith } = await start({}, 100);
    await hear("Closed");
    await answerWith("Closed");
    await run.pass(100);
    await run.open[0]?.fail({});
    const { attention } = flow.status.current();
    await run.update("resolve", { attention: attention?.id, decision: "happened", by: "Ann" });
    await run.open.find(({ type }) => type === "checkDecision")?.answer({});
    expect(run.result).toBe("Closed");
  });

  test("without a window nothing more is asked", async () => {
    const { run, hear, answerWith, waits } = await start();
    await hear("Closed");
    await answerWith("Closed");
    expect([run.result, waits()]).toEqual(["Closed", ["end"]]);
  });
});

test("the status waits until the deadline of the process, not until the next query", async () => {
  const { run, flow, answerWith, hear } = await start();
  await run.look(() => flow.status.identify({ environment: "sandbox", account: "default" }));
  const until = () => flow.status.current().until;
  const deadline = until();
  // The run begins at this time.
  expect(Date.parse(deadline ?? "") - Date.UTC(2026, 0, 1)).toBe(spans.deadlineSeconds * 1_000);
  await run.pass(spans.pollIntervalSeconds);
  await answerWith("Sent");
  expect(until()).toBe(deadline);
  // A memo is an event: each answer has one, as in the histories that there are.
  const memos = run.memos.length;
  await run.pass(spans.pollIntervalSeconds);
  await answerWith("Sent");
  expect(until()).toBe(deadline);
  expect(run.memos.length).toBe(memos + 1);
  // An end state that the provider does not close ends the wait sooner.
  await hear("Closed");
  await answerWith("Cancelled");
  await run.pass(spans.pollIntervalSeconds);
  expect(Date.parse(until() ?? "")).toBeLessThan(Date.parse(deadline ?? ""));
});
