// A step: quick, then patient with an attention, until the provider answers, a person decides, or the process ends (docs/design.md §6).
import { expect, test } from "vitest";
import type { StepCall } from "../../../src/activities/runtime/activity.js";
import { Flow } from "../../../src/workflows/runtime/flow.js";
import { plainView } from "../../../src/workflows/runtime/event-log.js";
import { isWaived, stepsOf, untilTimeIsUp } from "../../../src/workflows/runtime/steps.js";
import type { Steps } from "../../../src/workflows/runtime/steps.js";
import type { OpenOccurrence, Step } from "../../../src/workflows/runtime/steps.js";
import { place } from "../plans.js";
import { unavailable, WorkflowRun } from "../workflow-run.js";

interface Activities {
  submit(call: StepCall): Promise<string>;
}

const submit: Step = { name: "submit", summary: "Submit", journaled: true, happened: {} };
const ask: Step = { name: "ask", summary: "Ask", journaled: false, happened: {} };

/** The person is accepted, and each decision is stored and opens the occurrence `again`. */
const decisions = {
  checkDecision: () => ({}),
  decide: () => ({ answer: "resolved", occurrence: "again", effect: "none" }),
};

type Fakes = Parameters<typeof WorkflowRun.start>[1];

/** A workflow of one step. */
async function start(step: Step, leftOpen?: OpenOccurrence, fakes: Fakes = decisions) {
  let flow!: Flow<never, ReturnType<typeof plainView>>;
  const run = await WorkflowRun.start(() => {
    flow = new Flow(plainView);
    const steps = stepsOf(flow, "evi-post") as unknown as Steps<Activities>;
    const call = (activities: Activities, stepCall: StepCall) => activities.submit(stepCall);
    return flow.lifecycle.run({
      main: async () => {
        let answer: string | undefined;
        const work = async () => {
          answer = await steps(step, call, leftOpen);
        };
        flow.status.ownOutcome = (await isWaived(work)) ? "waived" : answer;
      },
      result: () => flow.status.ownOutcome,
    });
  }, fakes);
  const attention = () => flow.status.current().attention;
  const decide = (decision: string, more: object = {}) =>
    run.update("resolve", { attention: attention()?.id, decision, by: "Ann", ...more });
  const submits = () => run.calls.filter(({ type }) => type === "submit");
  return { run, flow, attention, decide, submits, last: () => submits().at(-1)! };
}

test("a quick answer is the step's answer, and no attention is raised", async () => {
  const { run, attention, last } = await start(submit);
  expect(last()).toMatchObject({ isPatient: false, summary: "Submit" });
  expect(last().input).toEqual({ effect: { step: "submit", occurrence: "0" }, mode: "quick" });
  expect(attention()).toBeUndefined();
  await last().answer("done");
  expect(run.result).toBe("done");
});

test("what fails raises attention, and the patient call keeps sending until its answer closes it", async () => {
  const { run, attention, last } = await start(submit);
  await last().fail({ kind: "unavailable" });
  expect(attention()).toMatchObject({ kind: "unavailable", step: "submit" });
  expect(last()).toMatchObject({
    isPatient: true,
    input: { mode: "send" },
    summary: "Submit (unavailable: keeps trying)",
  });
  await last().answer("done");
  expect(attention()).toBeUndefined();
  expect(run.result).toBe("done");
});

test("a worker that lacks the account does not change where the process is known to run", async () => {
  const { flow, attention, last } = await start(submit);
  flow.status.identify(place);
  await last().fail({ kind: "accessDenied", environment: "preproduction", account: "default" });
  expect(attention()).toBeDefined();
  expect(flow.status).toMatchObject(place);
});

test("what may have happened is not sent again: the patient call only watches for the answer", async () => {
  const { attention, last } = await start(submit);
  await last().fail({ kind: "unknownOutcome" });
  expect(attention()?.kind).toBe("unknownOutcome");
  expect(last().input.mode).toBe("watch");
});

test("an unknown outcome says what to look for in the provider's portal, and when each attempt was", async () => {
  const long = "x".repeat(300);
  const lookFor = (ownKey?: string) => ({ lookupKey: "order-7", ownKey, name: undefined, long });
  const { run, attention, decide, last } = await start({ ...submit, lookFor });
  await run.pass(2);
  await last().fail({ kind: "unknownOutcome", ownKey: "the token" });
  const first = attention()!;
  expect(first.lookFor).toEqual({
    lookupKey: "order-7",
    ownKey: "the token",
    long: `${"x".repeat(197)}…`,
  });
  const [one] = first.attempts!;
  expect(first.attempts).toHaveLength(1);
  expect(Date.parse(one!.until) - Date.parse(one!.from)).toBe(2_000);
  expect(one!.until).toBe(first.since);

  await run.pass(60);
  await decide("retry", { confirmRetry: true, note: "it is not there" });
  await run.pass(3);
  await last().fail({ kind: "unknownOutcome" });
  const [before, again] = attention()!.attempts!;
  expect(before).toEqual(one);
  expect(Date.parse(again!.from) - Date.parse(one!.until)).toBe(60_000);
  expect(Date.parse(again!.until) - Date.parse(again!.from)).toBe(3_000);
});

test.each([
  ["unavailable", submit],
  ["protocol", submit],
  ["unknownOutcome", ask],
] as const)(
  "%s of a step has nothing to look for where no effect is in doubt",
  async (kind, step) => {
    const { attention, last } = await start({ ...step, lookFor: () => ({ lookupKey: "order-7" }) });
    await last().fail({ kind });
    expect(attention()).toMatchObject({ kind });
    expect(attention()).not.toHaveProperty("lookFor");
    expect(attention()).not.toHaveProperty("attempts");
  },
);

test("a retry that a person decides calls off the patient call and probes with the new occurrence", async () => {
  const { run, decide, submits, last } = await start(submit);
  await last().fail({ kind: "accessDenied" });
  const patient = last();
  expect(await decide("retry")).toEqual({ answer: { answer: "resolved" } });
  expect(patient.isCancelled).toBe(true);
  expect(last()).toMatchObject({
    isPatient: false,
    input: { effect: { step: "submit", occurrence: "again" }, mode: "probe" },
  });
  await last().answer("done");
  expect(run.result).toBe("done");
  expect(submits()).toHaveLength(3);
});

test.each(["retry", "abandon"])(
  "%s is written about the occurrence at which the step is, also where a cancellation asks for it",
  async (decision) => {
    const step = { ...submit, occurrence: "assertion-1" };
    const { run, flow, attention, decide, last } = await start(step);
    if (decision === "retry") await last().fail({ kind: "accessDenied" });
    else {
      await run.look(() => flow.lifecycle.askBeforeCancelling("submit", "sign"));
      await run.cancel();
      expect(attention()).toMatchObject({ kind: "cancelRequested", step: "sign" });
    }
    await decide(decision);
    const written = run.callsOf("decide").map(({ input }) => [input.step, input.occurrence]);
    const both = [
      ["submit", "assertion-1"],
      ["sign", "0"],
    ];
    expect(written).toEqual(decision === "retry" ? both.slice(0, 1) : both);
  },
);

test("after happened the stored answer is read by a quick call with the same occurrence as the decision's", async () => {
  const { decide, last } = await start(submit);
  await last().fail({ kind: "unavailable" });
  await decide("happened");
  expect(last()).toMatchObject({ isPatient: false, input: { mode: "quick" } });
  expect(last().input.effect.occurrence).toBe("again");
});

test("abandon ends the process with its failure", async () => {
  const { run, decide, last } = await start(submit);
  await last().fail({ kind: "unavailable" });
  await decide("abandon");
  expect(last().isCancelled).toBe(true);
  expect(run.failure?.message).toBe("Abandoned at submit");
});

test("an answer that comes in the task of the written decision counts, and the decision is refused", async () => {
  const fakes = { ...decisions, decide: undefined };
  const { run, flow, decide, last } = await start(submit, undefined, fakes);
  await last().fail({ kind: "accessDenied" });
  const answer = await decide("abandon");
  await run.answerTogether(
    [run.openCall("decide"), decisions.decide()],
    [run.openCall("submit"), "done"],
  );
  expect(answer.refused?.message).toMatch("is not open");
  expect(run.result).toBe("done");
  expect(flow.log.timeline.map(({ event }) => event)).not.toContain("abandon: submit");
});

test("happened waives a step without a row", async () => {
  const { run, decide, last, submits } = await start(ask);
  await last().fail({ kind: "unavailable" });
  expect(last().input.mode).toBe("watch");
  await decide("happened");
  expect(run.result).toBe("waived");
  expect(submits()).toHaveLength(2);
});

test("a callback does not break off a patient call that sends", async () => {
  const { run, submits, last } = await start(submit);
  await last().fail({ kind: "unavailable" });
  expect(last().input.mode).toBe("send");
  await run.signal("providerEvents", [{ id: "e-1", kind: "Sent", at: "2026" }]);
  expect(last().isCancelled).toBe(false);
  expect(submits()).toHaveLength(2);
});

test("each callback restarts a patient call that only looks, and leaves its attention open; beyond fifty calls none does", async () => {
  const { run, attention, submits, last } = await start(submit);
  await last().fail({ kind: "unknownOutcome" });
  const { id } = attention() ?? {};
  for (let event = 1; event <= 60; event += 1) {
    const before = last();
    await run.signal("providerEvents", [{ id: `e-${event}`, kind: "Sent", at: "2026" }]);
    expect(before.isCancelled).toBe(event < 50);
    expect(last().isCancelled).toBe(false);
  }
  expect(submits()).toHaveLength(1 + 50);
  expect(attention()?.id).toBe(id);
});

test("a quick call is not restarted by a callback", async () => {
  const { run, submits } = await start(submit);
  await run.signal("providerEvents", [{ id: "e-1", kind: "Sent", at: "2026" }]);
  expect(submits()).toHaveLength(1);
});

test.each(["quick", "patient"])("the end of the process calls off the %s call", async (phase) => {
  const { run, flow, last } = await start(submit);
  if (phase === "patient") await last().fail({ kind: "unavailable" });
  await run.look(() => flow.lifecycle.withdraw());
  expect(last().isCancelled).toBe(true);
  expect(flow.status.current().attention).toBeUndefined();
  expect(run.result).toBe("cancelledBeforeSubmit");
});

test("what an update has left open begins with an attention, and no quick call", async () => {
  const { attention, last, submits } = await start(submit, {
    occurrence: "update-7",
    problem: { ...unavailable, kind: "unknownOutcome" },
    attempts: [{ from: "2026-01-01T00:00:00.000Z", until: "2026-01-01T00:00:09.000Z" }],
  });
  expect(attention()).toMatchObject({
    kind: "unknownOutcome",
    attempts: [{ from: "2026-01-01T00:00:00.000Z", until: "2026-01-01T00:00:09.000Z" }],
  });
  expect(submits()).toHaveLength(1);
  expect(last()).toMatchObject({ isPatient: true, input: { mode: "watch" } });
  expect(last().input.effect.occurrence).toBe("update-7");
});

test.each([
  ["InvalidInput", "Invalid input: a: is wrong"],
  ["invalidRequest", "evi-post did not accept it: a: is wrong"],
  ["InputMismatch", "The same id was used with another input"],
] as const)("%s ends the process without attention", async (kind, message) => {
  const { run, flow, last } = await start(submit);
  await last().fail({ kind, fields: [{ path: "a", problem: "is wrong" }] });
  expect(run.failure?.message).toBe(message);
  expect(flow.log.timeline.some(({ event }) => event.startsWith("Waits"))).toBe(false);
});

test("a question whose time was over before anything changed raises no attention", async () => {
  const run = await WorkflowRun.start(async () => {
    const steps = stepsOf(new Flow(plainView), "evi-post") as unknown as Steps<Activities>;
    return untilTimeIsUp(() => steps(ask, (a, call) => a.submit(call)));
  });
  await run.calls[0]!.fail({ kind: "unchanged" });
  expect(run).toMatchObject({ result: null, calls: [{ type: "submit" }] });
});

test.each<[object, string]>([
  [{ status: 409 }, "submit answered 409, without saying why"],
  [{}, "submit was refused, without saying why"],
  [{ status: 400, detail: "no such town" }, "no such town"],
])("a refusal without fields says what came: %j", async (problem, said) => {
  const { run, last } = await start(submit);
  await last().fail({ kind: "invalidRequest", ...problem });
  expect(run.failure).toMatchObject({
    type: "NotAccepted",
    message: `evi-post did not accept it: (input): ${said}`,
    details: [{ fields: [{ path: "(input)", problem: said }] }],
  });
});
