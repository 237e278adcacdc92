// Attention: what is shown, which decision is accepted, what is written down, and what the process ends with (docs/design.md §6).
import { describe, expect, test } from "vitest";
import { Flow } from "../../../src/workflows/runtime/flow.js";
import { reasonOf, wanted } from "../../../src/workflows/runtime/attention.js";
import type { Decided, OpenAttention } from "../../../src/workflows/runtime/attention.js";
import { plainView } from "../../../src/workflows/runtime/event-log.js";
import { decisions } from "../plans.js";
import { unavailable, WorkflowRun } from "../workflow-run.js";

type Opening = Parameters<Flow<never, ReturnType<typeof plainView>>["attentions"]["open"]>[0];

const submit = { name: "submit", journaled: true, happened: {} };
/** Its `happened` needs an id. */
const withId = {
  ...submit,
  happened: { uniqueId: wanted.reference, otpId: wanted.optional(wanted.reference) },
};

/** A process that waits for nothing but decisions. */
async function start(fakes: Parameters<typeof WorkflowRun.start>[1] = {}) {
  let flow!: Flow<never, ReturnType<typeof plainView>>;
  const run = await WorkflowRun.start(
    () => {
      flow = new Flow(plainView);
      return flow.lifecycle.run({ main: () => new Promise(() => undefined), result: () => null });
    },
    { checkDecision: () => ({ principal: "ann@example" }), decide: decisions.decide, ...fakes },
  );
  const open = async (opening: Partial<Opening> = {}) => {
    let attention!: OpenAttention;
    await run.look(() => {
      attention = flow.attentions.open({
        step: submit,
        kind: "unavailable",
        reason: "why",
        ...opening,
      });
    });
    let decided: Decided | undefined;
    attention.decided.then(
      (decision) => {
        decided = decision;
      },
      () => undefined,
    );
    return { attention, decided: () => decided };
  };
  const resolve = (attention: OpenAttention, more: object = {}) =>
    run.update("resolve", {
      attention: attention.shown.id,
      decision: "retry",
      by: "Ann",
      ...more,
    });
  const events = () => flow.log.timeline.map(({ event }) => event);
  return { run, flow, open, resolve, events };
}

describe("what is shown", () => {
  test("a step with a row may be retried, declared happened with what it needs, or abandoned", async () => {
    const { flow, open, events } = await start();
    await open({ step: withId });
    expect(flow.status.current().attention).toEqual({
      id: "submit-1",
      kind: "unavailable",
      step: "submit",
      since: "2026-01-01T00:00:00.000Z",
      reason: "why",
      decisions: ["retry", "happened", "abandon"],
      happenedNeeds: ["uniqueId"],
    });
    expect(events()).toEqual(["Needs an operator decision: submit (unavailable)"]);
  });

  test.each([
    ["a step that cannot be waived", { step: { name: "ask", journaled: false } }],
    ["access denied to an effect: it cannot have happened", { kind: "accessDenied" }],
  ] as const)("%s has no happened", async (_, opening) => {
    const { attention } = await (await start()).open(opening);
    expect(attention.shown.decisions).toEqual(["retry", "abandon"]);
  });

  test("a cancellation is shown first, the others beside it", async () => {
    const { flow, open } = await start();
    await open();
    await open({ step: { ...submit, name: "send" }, kind: "cancelRequested" });
    const { attention, moreAttentions } = flow.status.current();
    expect([attention?.id, moreAttentions?.map(({ id }) => id)]).toEqual(["send-2", ["submit-1"]]);
  });

  test.each([
    ["unavailable", true, true],
    ["accessDenied", true, true],
    ["unknownOutcome", true, false],
    ["protocol", true, false],
    ["unavailable", false, false],
  ] as const)("at %s, journaled %s, the patient call sends: %s", async (kind, journaled, sends) => {
    const { attention } = await (await start()).open({ kind, step: { ...submit, journaled } });
    expect(attention.sends).toBe(sends);
  });
});

describe("a decision is refused", () => {
  const refused: [string, object, string][] = [
    ["with a stale id", { attention: "submit-9" }, "attention: is not open, or is already decided"],
    [
      "that does not exist",
      { decision: "wait" },
      "decision: must be one of retry, happened, abandon",
    ],
    ["without a name", { by: " " }, "by: must be the name of the person who decides"],
    ["by NAME", { by: "NAME" }, "by: must be the name of the person who decides, not NAME"],
    [
      "happened without what it needs",
      { decision: "happened" },
      "result.uniqueId: is required with happened: the provider's value",
    ],
    [
      "happened with another form",
      { decision: "happened", result: { uniqueId: "a b" } },
      "result.uniqueId: is required with happened: the provider's value",
    ],
    [
      "happened with more",
      { decision: "happened", result: { uniqueId: "a", x: 1 } },
      "result.x: is not needed",
    ],
  ];
  test.each(refused)("%s", async (_, given, problem) => {
    const { run, open, resolve } = await start();
    const { attention } = await open({ step: withId });
    const { refused: error } = await resolve(attention, given);
    expect(error?.message).toBe(`Invalid input: ${problem}`);
    expect(run.calls).toEqual([]);
  });

  test("a retry of what may have happened needs a confirmation and a note", async () => {
    const { open, resolve } = await start();
    const { attention } = await open({ kind: "unknownOutcome" });
    expect(attention.shown.retryNeeds).toEqual(["confirmRetry", "note"]);
    expect((await resolve(attention)).refused?.message).toMatch("confirmRetry: must be true");
    const confirmed = await resolve(attention, { confirmRetry: true });
    expect(confirmed.refused?.message).toMatch("note: is required");
    const noted = await resolve(attention, { confirmRetry: true, note: "nothing there" });
    expect(noted.answer).toEqual({ answer: "resolved" });
  });
});

describe("a decision", () => {
  test("happened is taken with what it needs; what is optional may be absent", async () => {
    const { open, resolve } = await start();
    const { attention, decided } = await open({ step: withId });
    await resolve(attention, { decision: "happened", result: { uniqueId: "a" } });
    expect(decided()).toMatchObject({ decision: "happened", result: { uniqueId: "a" } });
  });

  test("is written into every row before it settles the attention", async () => {
    const { run, open, resolve } = await start({ decide: undefined });
    const { attention, decided } = await open({
      rows: () => [
        { step: "create", occurrence: "0" },
        { step: "send", occurrence: "2" },
      ],
    });
    const answer = await resolve(attention, { note: "why not" });
    const [one, other] = run.open;
    expect(one?.input).toMatchObject({ step: "create", occurrence: "0" });
    expect(other?.input).toMatchObject({ step: "send", occurrence: "2" });
    expect(one?.input.resolution).toMatchObject({ principal: "ann@example", note: "why not" });
    await one?.answer(decisions.decide());
    expect([decided(), answer.answer]).toEqual([undefined, undefined]);
    await other?.answer({ ...decisions.decide(), effect: "exists" });
    expect(decided()).toMatchObject({ decision: "retry", occurrence: "1", effect: "exists" });
    expect(answer.answer).toEqual({ answer: "resolved" });
  });

  test("that a row does not take yet, or that cannot be written, leaves the attention open", async () => {
    let answers: unknown = { answer: "notYet" };
    const { run, open, resolve, events } = await start({ decide: () => answers });
    const { attention, decided } = await open();
    expect((await resolve(attention)).answer).toEqual({ answer: "notYet" });
    // Another answer of the process, which a stranger has put in its place (decision 22).
    answers = { answer: "requested" };
    expect((await resolve(attention)).answer).toEqual(answers);
    answers = undefined;
    const failing = await start({ decide: undefined });
    const left = await failing.open();
    const answer = await failing.resolve(left.attention);
    await failing.run.open[0]?.fail({});
    expect(answer.answer).toEqual({ answer: "unavailable" });
    expect([decided(), left.decided()]).toEqual([undefined, undefined]);
    expect(events()).toHaveLength(1);
    expect(run.result).toBeUndefined();
  });

  test.each(["abandon", "retry"])(
    "%s, while the attention ends before it is written, is refused",
    async (decision) => {
      const { run, flow, open, resolve, events } = await start({ decide: undefined });
      const { attention, decided } = await open();
      const answer = await resolve(attention, { decision });
      await run.look(() => flow.attentions.close(attention));
      await run.openCall("decide").answer(decisions.decide());
      expect(answer.refused?.message).toMatch("is not open");
      expect(decided()).toBeUndefined();
      expect(events()).not.toContain(`${decision}: submit`);
    },
  );

  test("happened stands once it is in the row, although the attention has ended before", async () => {
    const { run, flow, open, resolve, events } = await start({ decide: undefined });
    const { attention } = await open();
    const answer = await resolve(attention, { decision: "happened" });
    await run.look(() => flow.attentions.close(attention));
    await run.openCall("decide").answer({ ...decisions.decide(), effect: "exists" });
    expect(answer.answer).toEqual({ answer: "resolved" });
    expect(events().at(-1)).toBe("happened: submit");
  });

  test("beside another one that is being written is answered notYet", async () => {
    const { run, open, resolve } = await start({ decide: undefined });
    const { attention } = await open();
    await resolve(attention);
    expect((await resolve(attention, { decision: "abandon" })).answer).toEqual({
      answer: "notYet",
    });
    expect(run.open).toHaveLength(1);
  });

  test("whose person cannot be checked now is answered unavailable", async () => {
    const { run, open, resolve } = await start({ checkDecision: undefined });
    const { attention } = await open();
    const answer = await resolve(attention);
    await run.open[0]?.fail({});
    expect(answer.answer).toEqual({ answer: "unavailable" });
    expect(run.types).toEqual(["checkDecision"]);
  });

  test.each([
    ["another object of the process", { principal: "Eve" }],
    ["the check of another update", { update: "resolve", updateId: "update-9", firstRunId: "run" }],
    ["the check in another run", { update: "resolve", updateId: "update-1", firstRunId: "old" }],
    [
      "the check of another decision",
      { update: "cancel", updateId: "update-1", firstRunId: "run" },
    ],
  ])("takes no copy as the proof of who decides: %s", async (_, checked) => {
    const copy = { ...checked, checked: "update" in checked ? checked : undefined };
    const { open, resolve, events } = await start({ checkDecision: () => copy });
    const { attention, decided } = await open();
    expect((await resolve(attention)).answer).toEqual({ answer: "unavailable" });
    expect([decided(), events()]).toEqual([undefined, [expect.stringMatching("^Needs")]]);
  });

  test("that needs a second operator is proposed, and taken when another one decides alike", async () => {
    let secondPerson: object | undefined = {};
    const who = () => ({ principal: "ann@example", ...(secondPerson && { secondPerson }) });
    const { flow, open, resolve, events } = await start({ checkDecision: who });
    const { attention, decided } = await open();
    expect((await resolve(attention)).answer).toEqual({ answer: "pending" });
    expect(attention.shown.proposed).toMatchObject({ decision: "retry", principal: "ann@example" });
    expect(flow.attentions.proposals).toEqual([
      { attention: "submit-1", decision: "retry", principal: "ann@example" },
    ]);
    expect(decided()).toBeUndefined();
    secondPerson = { proposedBy: "ann@example" };
    expect((await resolve(attention, { by: "Bea" })).answer).toEqual({ answer: "resolved" });
    expect(decided()).toMatchObject({ by: "Bea", proposedBy: "ann@example" });
    expect(events().slice(1)).toEqual(["Proposed retry: submit", "retry: submit"]);
  });

  test("to continue a process after a cancellation request writes nothing", async () => {
    const { run, open, resolve, events } = await start();
    const { attention, decided } = await open({ kind: "cancelRequested", rows: () => [] });
    await resolve(attention);
    expect(decided()).toMatchObject({ decision: "retry", effect: "none" });
    expect(run.types).toEqual(["checkDecision"]);
    expect(events().at(-1)).toBe("Cancellation withdrawn");
  });
});

test("a closed attention is shown no more, and takes no decision", async () => {
  const { run, flow, open, resolve, events } = await start();
  const { attention } = await open();
  await run.look(() => flow.attentions.close(attention));
  expect(flow.status.current().attention).toBeUndefined();
  expect(events().at(-1)).toBe("No longer needs an operator decision: submit (unavailable)");
  expect((await resolve(attention)).refused?.message).toMatch("is not open");
});

test("the reason calls an answer unreadable only where there is one", () => {
  const said = { ...unavailable, problem: "the batch is away" };
  expect(reasonOf("protocol", { ...said, status: 200 })).toBe(
    "evi-post submit: the provider's answer is unreadable, or it says that the request is wrong: the batch is away",
  );
  expect(reasonOf("protocol", said)).toBe("evi-post submit: the batch is away");
  expect(reasonOf("unknownOutcome", said)).toBe(
    "evi-post submit: the provider may have acted; check the provider's portal before deciding: the batch is away",
  );
});

test("a provider that asks to wait is not called unreachable", () => {
  const problem = { ...unavailable, kind: "rateLimited" as const, status: 429 };
  expect(reasonOf("unavailable", problem)).toContain("asks to wait");
});

test("the reason says why a look-up proves nothing that does not find the effect, after a lost or an unusable answer", () => {
  expect(reasonOf("unknownOutcome", { ...unavailable, lookUp: "missing" })).toContain(
    "no usable answer came, and the look-up does not find the effect. That proves nothing, because this account's look-up does not find our own items",
  );
});

test("the reason names provider, operation, host, code and the id that the answer shows", () => {
  const problem = { ...unavailable, code: "E1", reference: "r-1" };
  expect(reasonOf("unknownOutcome", problem, "the other host")).toBe(
    "evi-post submit at the other host: the provider may have acted; check the provider's portal before deciding (E1); its answer shows the id r-1",
  );
});
