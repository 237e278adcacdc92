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

type Story = [title: string, story: string, more?: Partial<TrackingTarget>, windowSeconds?: number];

/** What happens, step by step, and what is seen of it: which questions were `asked` so far, and whether the tracking `ends`. */
async function play(_: string, story: string, ...given: [more?: object, windowSeconds?: number]) {
  const { run, hear, answerWith, waits } = await start(...given);
  const ofAffidavit = (id?: string, requestId?: string) =>
    id === undefined ? undefined : { id, ...(requestId !== undefined && { requestId }) };
  for (const step of story.split(/;\s+/)) {
    const [verb, word = "", , id, , requestId] = step.split(" ");
    const rest = step.slice(`${verb} `.length);
    if (verb === "hear") await hear(word, ofAffidavit(id, requestId));
    else if (verb === "answer") await answerWith(word);
    else if (verb === "pass") await run.pass(Number(word));
    else if (verb === "surplus") await run.signal("surplus", { count: 1 });
    else if (verb === "unchanged") await run.open[0]?.fail({ kind: "unchanged" });
    else if (verb === "asked") expect([step, waits().join(" ") || "nothing"]).toEqual([step, rest]);
    else if (verb === "timer") expect(run.timers).toContain(rest);
    else expect([step, run.result]).toEqual([step, verb === "ends" ? word : undefined]);
  }
}

const polled = (pollIntervalSeconds: number) => ({ spans: { ...spans, pollIntervalSeconds } });

describe("a callback", () => {
  test.each<Story>([
    [
      "that reports an end makes the process ask at once, and the answer ends it",
      "asked nothing; hear Closed; asked end; answer Closed; ends Closed",
    ],
    [
      "alone ends nothing, and a forged one costs one question an interval",
      `hear Closed; answer Sent; goes on; hear Closed; hear Closed; pass 99; asked end; pass 1;
        asked end end; answer Sent; pass 200; asked end end`,
    ],
    [
      "that reports no end makes no question, but for a requested affidavit",
      "hear Sent; asked nothing; hear Sent with a for r; asked end",
    ],
    [
      "that reports no end makes one where the target says so",
      "hear Sent; asked end",
      { hintsAtEnd: () => true },
    ],
    ["does not delay the poll", "pass 900; hear Sent; pass 99; asked nothing; pass 1; asked now"],
    [
      "does not delay the poll either where its question brings nothing new",
      "pass 600; surplus; unchanged; pass 400; asked end now",
    ],
    ["that the process is not told of makes it ask as well", "surplus; asked end"],
  ])("%s", play);

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
});

describe("without callbacks", () => {
  test.each<Story>([
    [
      "the process asks after each interval until the answer is closed",
      `pass 1000; answer Sent; pass 999; asked now; pass 1; asked now now; answer Closed;
        ends Closed`,
    ],
    [
      "an answer to a callback's question puts the next poll off",
      "pass 600; hear Closed; answer Sent; pass 999; asked end; pass 1; asked end now",
    ],
    [
      // The question of the poll is still open then: its own time ends with the deadline.
      "at the deadline it asks a last time, and gives up when that answer is open",
      `pass 1000; answer Sent; pass 1000; pass 8000; unchanged; asked now now now; answer Sent;
        ends openAtDeadline`,
    ],
    [
      "a deadline that began before the tracking ends it as early as it says",
      "pass 1000; answer Sent; pass 500; asked now now; answer Sent; ends openAtDeadline",
      { deadline: new Date(Date.UTC(2026, 0, 1) + 1_500_000) },
    ],
    [
      "an interval that reaches the deadline makes the first question the last",
      "pass 10000; asked now; answer Sent; ends openAtDeadline",
      polled(10_000),
    ],
    [
      "so does a longer one",
      "pass 10000; asked now; answer Sent; ends openAtDeadline",
      polled(20_000),
    ],
    [
      "the last answer counts when it is closed",
      "pass 10000; asked now; answer Closed; ends Closed",
      polled(20_000),
    ],
  ])("%s", play);

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
    const end = {
      retry: { initialInterval: 1_000, backoffCoefficient: 2, maximumInterval: 100_000 },
    };
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
    const retry = { initialInterval: 1_000, backoffCoefficient: 1, maximumInterval: 1_000_000 };
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
});

describe("an end state without Closed", () => {
  test.each<Story>([
    [
      "counts as the end at the next poll after its grace",
      `hear Cancelled; answer Cancelled; pass 999; asked end; pass 2; asked end now;
        answer Cancelled; ends Cancelled`,
    ],
    [
      "that shows after a poll counts as the end once its grace is over, too",
      `pass 1000; answer Sent; hear Cancelled; answer Cancelled; pass 1000;
        timer Time limit for EviPost to close it; pass 1; asked now end now; answer Cancelled;
        ends Cancelled`,
    ],
    [
      "that the provider takes back starts no end",
      `hear Cancelled; answer Cancelled; pass 1100; hear Disposed; answer Sent; pass 5000;
        answer Sent; goes on; asked end now end`,
      { spans: { ...spans, restingGraceSeconds: 5_000 } },
    ],
  ])("%s", play);
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
  test.each<Story>([
    [
      "an announced affidavit is fetched at once, and after the pause the next one",
      `hear Closed; answer Closed; goes on; hear Closed with a; asked end now; answer Closed;
        pass 100; hear Closed with b; asked end now now`,
      {},
      1_000,
    ],
    [
      "one that is announced during the pause is fetched at the end of the window at the latest",
      `hear Closed; answer Closed; hear Closed with a; answer Closed; hear Closed with b;
        asked end now; pass 1000; asked end now affidavits; answer Closed; ends Closed`,
      {},
      1_000,
    ],
    [
      "without a window nothing more is asked",
      "hear Closed; answer Closed; ends Closed; asked end",
    ],
  ])("%s", play);

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
