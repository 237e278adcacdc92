// How a process runs and ends: work beside the main path, updates, cancellation, and the orderly end.
import { describe, expect, test } from "vitest";
import {
  ApplicationFailure,
  CancellationScope,
  condition,
  defineUpdate,
  sleep,
} from "@temporalio/workflow";
import { onUnsignedCancel } from "../../../src/workflows/runtime/cancellation.js";
import { Flow } from "../../../src/workflows/runtime/flow.js";
import { plainView } from "../../../src/workflows/runtime/event-log.js";
import { unavailable, WorkflowRun } from "../workflow-run.js";

type PlainFlow = Flow<never, ReturnType<typeof plainView>>;

/** A process whose main path lasts until `isOver`, or fails. */
async function start(
  prepare: (flow: PlainFlow) => void = () => undefined,
  fakes: Parameters<typeof WorkflowRun.start>[1] = {},
  options: Parameters<typeof WorkflowRun.start>[4] = {},
) {
  let flow!: PlainFlow;
  const main: { hasBegun: boolean; isOver: boolean; failure?: Error } = {
    ...{ hasBegun: false, isOver: false },
  };
  const run = await WorkflowRun.start(
    () => {
      flow = new Flow(plainView);
      prepare(flow);
      return flow.lifecycle.run({
        main: async () => {
          main.hasBegun = true;
          await Promise.race([
            condition(() => main.isOver || main.failure !== undefined),
            flow.lifecycle.stopping?.then(({ stop }) => Promise.reject(stop)),
          ]);
          if (main.failure) throw main.failure;
        },
        result: () => flow.status.outcome ?? "done",
      });
    },
    {
      checkDecision: () => ({}),
      decide: () => ({ answer: "resolved", occurrence: "1", effect: "unknown" }),
      ...fakes,
    },
    "sendPostal",
    [],
    options,
  );
  const end = (failure?: Error) =>
    run.look(() => {
      main.isOver = true;
      if (failure) main.failure = failure;
    });
  const resolve = (decision: string, attention = "send-1") =>
    run.update("resolve", { attention, decision, by: "Ann" });
  return { run, flow, main, end, resolve };
}

const ping = defineUpdate<string, [string]>("ping");

test("a failure is shown with its fields, and ends the process", async () => {
  const { run, flow, end } = await start();
  const fields = [{ path: "a", problem: "is wrong" }];
  await end(ApplicationFailure.nonRetryable("no", "NotAccepted", { fields }));
  expect(run.failure?.message).toBe("no");
  expect(flow.status.current()).toMatchObject({
    phase: "ended",
    failure: { type: "NotAccepted", message: "no", fields },
  });
});

test("work in the background is cancelled at the end, and awaited", async () => {
  const work = { isCancelled: false, isClosed: false };
  const { run, end } = await start((flow) =>
    flow.lifecycle.background(async () => {
      try {
        await sleep("1 hour");
      } finally {
        work.isCancelled = true;
        await CancellationScope.nonCancellable(() => condition(() => work.isClosed));
      }
    }),
  );
  expect(work.isCancelled).toBe(false);
  await end();
  expect([work.isCancelled, run.result]).toEqual([true, undefined]);
  await run.look(() => {
    work.isClosed = true;
  });
  expect(run.result).toBe("done");
});

test("a person decides about background work that fails: it is done again, or left out", async () => {
  let tries = 0;
  const { run, flow, end, resolve } = await start((of) =>
    of.lifecycle.background(async () => {
      tries += 1;
      throw new TypeError("the number of a person");
    }),
  );
  const attention = { id: "background-1", kind: "protocol" };
  expect(flow.status.current().attention).toMatchObject(attention);
  expect(JSON.stringify(flow.status.current())).not.toContain("of a person");
  await resolve("retry", "background-1");
  expect([tries, flow.status.current().attention?.id]).toEqual([2, "background-2"]);
  await resolve("happened", "background-2");
  expect([tries, flow.status.current().attention]).toEqual([2, undefined]);
  await end();
  expect(run.result).toBe("done");
});

test("abandon of failed background work ends the process", async () => {
  const { run, flow, resolve } = await start((of) =>
    of.lifecycle.background(() => Promise.reject(new Error("no"))),
  );
  await resolve("abandon", "background-1");
  expect(run.failure?.message).toBe("Abandoned at background");
  expect(flow.status.current().failure).toMatchObject({
    abandoned: { attention: "background-1", by: "Ann", effect: "none" },
  });
});

test("once the effect is tracked, abandon of failed background work is not offered, and one from before leaves the work out", async () => {
  const fail = () => Promise.reject(new Error("no"));
  const { run, flow, end, resolve } = await start((of) => of.lifecycle.background(fail));
  await run.look(() => {
    flow.lifecycle.beginTracking({ id: "1" }, 60);
    flow.lifecycle.background(fail);
  });
  const { attention, moreAttentions = [] } = flow.status.current();
  expect([attention, ...moreAttentions].map((shown) => shown?.decisions)).toEqual([
    ["retry", "happened", "abandon"],
    ["retry", "happened"],
  ]);
  await resolve("abandon", "background-1");
  const { refused } = await resolve("abandon", "background-2");
  expect(refused?.message).toMatch("decision: must be one of retry, happened");
  await resolve("happened", "background-2");
  expect([flow.lifecycle.stopped, flow.status.current().attention]).toEqual([undefined, undefined]);
  await end();
  expect([run.result, run.failure]).toEqual(["done", undefined]);
});

test("background work that has failed, and about which nobody decides, ends with the process", async () => {
  const { run, end } = await start((of) =>
    of.lifecycle.background(() => Promise.reject(new Error("no"))),
  );
  await end();
  expect(run.result).toBe("done");
});

test("a forged answer about Temporal's cancellation stops nothing: it is asked for again", async () => {
  const ofAnother = { update: "cancel", updateId: "1", firstRunId: "run" };
  const forged = [
    ...["another payload", null, undefined, { checked: undefined, refused: 1 }],
    ...[{ checked: undefined, uniqueId: "1" }, { checked: ofAnother }],
  ];
  const answers: unknown[] = [...forged, {}];
  let cancelled = 0;
  const { run, end } = await start(
    (of) =>
      onUnsignedCancel(of, "cancel", async () => {
        cancelled += 1;
        return { answer: "cancelled" };
      }),
    {
      checkDecision: () => {
        const answer = answers.shift();
        if (answer === "another payload") throw unavailable;
        return answer;
      },
    },
  );
  await run.cancel();
  for (let minute = 0; minute < forged.length; minute += 1) await run.pass(60);
  expect([answers, cancelled]).toEqual([[], 1]);
  // However long that takes.
  expect(run.calls.map(({ isPatient }) => isPatient)).toEqual([...forged, {}].map(() => true));
  await end();
  expect(run.result).toBe("done");
});

test("the end waits for a running update, and refuses a new one", async () => {
  let isAnswered = false;
  const { run, end } = await start((flow) =>
    flow.lifecycle.onUpdate(ping, "Ping", async (word) => {
      await condition(() => isAnswered);
      return word;
    }),
  );
  const running = await run.update("ping", "one");
  await end();
  expect(run.result).toBeUndefined();
  const late = await run.update("ping", "two");
  expect(late.refused?.message).toBe("The process has ended");
  await run.look(() => {
    isAnswered = true;
  });
  expect([running.answer, run.result]).toEqual(["one", "done"]);
});

test("Temporal's cancellation does not end the process: a person decides, and may let it go on", async () => {
  const { run, flow, end, resolve } = await start((flow) =>
    flow.lifecycle.askBeforeCancelling("create", "send"),
  );
  await run.cancel();
  expect(flow.status.current().attention).toMatchObject({ id: "send-1", kind: "cancelRequested" });
  await resolve("retry");
  expect(flow.status.current().attention).toBeUndefined();
  await end();
  expect(run.result).toBe("done");
});

describe("a process that an update begins before its start delay is over", () => {
  const delayed = () => start(undefined, undefined, { startDelaySeconds: 3_600 });

  test("waits for the rest of it", async () => {
    const { run, main } = await delayed();
    await run.pass(3_599);
    expect([run.timers, main.hasBegun]).toEqual([["Rest of the start delay"], false]);
    await run.pass(1);
    expect([run.timers, main.hasBegun]).toEqual([[], true]);
  });

  test("may be stopped meanwhile", async () => {
    const { run, flow, main } = await delayed();
    await run.look(() => flow.lifecycle.withdraw());
    expect([run.result, main.hasBegun]).toEqual(["cancelledBeforeSubmit", false]);
  });
});

describe("cancelled before its first workflow task", () => {
  const early = { isCancelledEarly: true } as const;
  const asking = () =>
    start((flow) => flow.lifecycle.askBeforeCancelling("send"), undefined, early);
  const updating = (answer: string, accepts = true) =>
    start(
      (flow) =>
        onUnsignedCancel(flow, "cancel", async () => {
          if (answer === "cancelled") flow.lifecycle.withdraw();
          return { answer };
        }),
      { checkDecision: () => (accepts ? {} : { refused: { path: "signature", problem: "" } }) },
      early,
    );

  test("a process begins nothing until a person lets it go on", async () => {
    const { run, flow, main, end, resolve } = await asking();
    expect(flow.status.current().attention?.kind).toBe("cancelRequested");
    expect(main.hasBegun).toBe(false);
    await resolve("retry");
    expect(main.hasBegun).toBe(true);
    await end();
    expect(run.result).toBe("done");
  });

  test("a process that a person abandons has begun nothing", async () => {
    const { run, main, resolve } = await asking();
    await resolve("abandon");
    expect([run.failure?.message, main.hasBegun]).toEqual(["Abandoned at send", false]);
  });

  test("a process with an update for it is cancelled before it begins", async () => {
    const { run, main } = await updating("cancelled");
    expect([run.result, main.hasBegun]).toEqual(["cancelledBeforeSubmit", false]);
  });

  test.each([
    ["cannot be cancelled any more", "pending", true],
    ["takes signed decisions alone", "cancelled", false],
  ])("a process that %s begins", async (_, answer, accepts) => {
    const { main } = await updating(answer, accepts);
    expect(main.hasBegun).toBe(true);
  });
});

test.each([
  [{}, "unknown"],
  [{ id: "1" }, "exists"],
])("abandoned with the references %j, the effect is %s", async (references, effect) => {
  const { run, flow, resolve } = await start((flow) =>
    flow.lifecycle.askBeforeCancelling("create", "send"),
  );
  await run.look(() => {
    flow.status.references = references;
  });
  await run.cancel();
  await resolve("abandon");
  expect(run.failure?.message).toBe("Abandoned at send");
  expect(run.failure?.details?.[0]).toMatchObject({ effect, by: "Ann" });
  const rows = run.calls.filter(({ type }) => type === "decide").map(({ input }) => input.step);
  expect(rows).toEqual(["create", "send"]);
});

test("a cancellation that is still undecided at the end is closed", async () => {
  const { run, flow, end } = await start((flow) => flow.lifecycle.askBeforeCancelling("send"));
  await run.cancel();
  await end();
  expect(run.result).toBe("done");
  expect(flow.status.current().attention).toBeUndefined();
});

test("once the effect is tracked, the process is no longer stopped", async () => {
  const { run, flow } = await start();
  await run.look(() => flow.lifecycle.beginTracking({ id: "1" }, 60));
  expect(flow.lifecycle.stopping).toBeUndefined();
  expect(flow.status.current()).toMatchObject({ phase: "tracking", references: { id: "1" } });
  expect(flow.status.deadline).toEqual(new Date("2026-01-01T00:01:00.000Z"));
});

test.each(["u\u0000", "\n", "u\u0085"])("the update id %j is refused", async (id) => {
  const decide = defineUpdate<{ answer: string }, [{ by: string }]>("decideAnything");
  const { run } = await start((flow) => {
    flow.lifecycle.onUpdate(ping, "Ping", (text) => text);
    flow.lifecycle.onDecision(decide, "Decide", [], () => ({ answer: "decided" }));
  });
  const message = "Invalid input: updateId: must have no control characters";
  for (const [name, given] of [
    ["ping", "pong"],
    ["decideAnything", { by: "Ann" }],
    ["resolve", { attention: "a", decision: "retry", by: "Ann" }],
  ] as const)
    expect(await run.update(name, given, id)).toMatchObject({ refused: { message } });
});

test("after 1,800 updates only decisions are taken, so that a person can still decide", async () => {
  const decide = defineUpdate<{ answer: string }, [{ by: string }]>("decideAnything");
  const { run } = await start((flow) => {
    flow.lifecycle.onUpdate(ping, "Ping", (text) => text);
    flow.lifecycle.onDecision(decide, "Decide", [], () => ({ answer: "decided" }));
  });
  for (let count = 0; count < 1_800; count += 1) await run.update("ping", "pong");
  expect(await run.update("ping", "pong")).toHaveProperty("refused");
  expect(await run.update("decideAnything", { by: "Ann" })).toEqual({
    answer: { answer: "decided" },
  });
});
