// The one way of an effect, with fakes: what an error proves and becomes, the circuit, the digest, who owns what is sent, and
// what the caller of an update is answered.
import { beforeEach, expect, test } from "vitest";
import { ApplicationFailure } from "@temporalio/common";
import type { MetricMeter } from "@temporalio/common";
import { affidavitAnswer } from "../../../src/activities/evi/affidavit-request.js";
import { cancelAnswer } from "../../../src/activities/evi-post/index.js";
import { activitiesOf } from "../../../src/activities/runtime/activity.js";
import { CircuitOpenError, Circuits } from "../../../src/activities/runtime/circuit-breaker.js";
import { runEffect } from "../../../src/activities/runtime/effect.js";
import type { ProviderEffect } from "../../../src/activities/runtime/effect.js";
import { InvalidInput } from "../../../src/activities/runtime/failure.js";
import type { AttemptMode } from "../../../src/activities/runtime/failure.js";
import { resendResultOf, tryResultOf } from "../../../src/activities/runtime/one-time-password.js";
import { ProviderContext } from "../../../src/activities/runtime/provider-context.js";
import type {
  AttemptOf,
  ProviderDependencies,
} from "../../../src/activities/runtime/provider-context.js";
import type { ProblemKind } from "../../../src/contracts/shared/problem-kind.js";
import { DecryptionError } from "../../../src/crypto/errors.js";
import { EffectRefused, EffectUnknown } from "../../../src/journal/journal.js";
import type { Effect, Journal, SendFailure } from "../../../src/journal/journal.js";
import type { PossibleEffect } from "../../../src/providers/errors/provider-error.js";
import { ProviderError } from "../../../src/providers/errors/provider-error.js";
import { inAttempt, providerError } from "../attempts.js";

type Handlers = Parameters<Journal["perform"]>[1];

/** Does with one call what the journal does, without rows: `done` lists what happened, in order. */
class FakeJournal {
  effects: Effect[] = [];
  failures: SendFailure[] = [];
  watched: (boolean | undefined)[] = [];
  done: string[] = [];
  /** The rest of the lease. */
  leftMs = 60_000;

  async perform(effect: Effect, handlers: Handlers, { watchOnly }: { watchOnly?: boolean }) {
    this.effects.push(effect);
    this.watched.push(watchOnly);
    const open = handlers.openError?.();
    if (open) throw open;
    this.done.push(`row of ${effect.documents?.map(({ id }) => id).join() ?? "no document"}`);
    const { token } = effect;
    const deadline = new Date(Date.now() + this.leftMs);
    try {
      return await handlers.send({
        token,
        idempotencyToken: `wire ${token}`,
        attempt: 1,
        deadline,
      });
    } catch (error) {
      const failure = handlers.sendFailureOf(error);
      this.failures.push(failure);
      if (failure.kind === "refused") throw new EffectRefused(effect.step, failure.refusal);
      if (failure.kind === "noAnswer") throw new EffectUnknown(effect.step, effect.token, error);
      throw error;
    }
  }

  async past() {
    return { made: 2, refused: 0 };
  }
}

let journal: FakeJournal;
let deps: ProviderDependencies<"evi-post">;
let counted: string[];

beforeEach(() => {
  journal = new FakeJournal();
  counted = [];
  deps = {
    journal,
    // No probe is due while a test runs, however busy the machine is.
    circuits: new Circuits({ probeMs: 600_000, failures: 2 }),
    digests: { of: (value: unknown) => JSON.stringify(value), same: () => true },
    accounts: { default: { name: "default" } },
    environmentOf: (name: string) => (name === "default" ? "sandbox" : "preproduction"),
    patienceMs: 1_000,
    unavailableForMs: 60_000,
  } as unknown as ProviderDependencies<"evi-post">;
});

const meter = {
  createCounter: (name: string) => ({
    add: (_: number, { operation, result }: Record<string, string>) =>
      void (name === "trustflow_provider_calls" && counted.push(`${operation} ${result}`)),
  }),
  createHistogram: () => ({ record: () => undefined }),
} as unknown as MetricMeter;

function inActivity<T>(
  work: (cancel: () => void) => Promise<T>,
  workflowId = "letter-1",
): Promise<T> {
  return inAttempt(work, { workflowExecution: { workflowId, runId: "r" } }, { metricMeter: meter });
}

type Given = Partial<ProviderEffect<"evi-post", object, unknown, never>>;
const reference = { step: "submit", occurrence: "0" };

/** One effect of a process; its call answers `{}` unless the test says otherwise. */
function run(
  given: Given = {},
  of: "step" | "update" = "step",
  { mode = "quick", workflowId }: { mode?: AttemptMode; workflowId?: string } = {},
): Promise<object> {
  return inActivity(() => effectIn({ of, ...given }, mode), workflowId);
}

function effectIn(given: Given, mode: AttemptMode = "quick"): Promise<object> {
  const handlers = { operation: "submit", input: {}, send: async () => ({}), ...given } as const;
  return runEffect<"evi-post", object, unknown>(contextOf(mode), reference, handlers);
}

const contextOf = (mode: AttemptMode) =>
  new ProviderContext<"evi-post">("evi-post", deps, { account: "default", mode });

const error = (
  kind: ProblemKind,
  status?: number,
  more: { effect?: PossibleEffect; reference?: string; detail?: string } = {},
) => providerError(kind, { status, ...more });

const fails = (problem: Error): Given => ({ send: () => Promise.reject(problem) });
const caught = (work: Promise<unknown>) => work.catch((problem: unknown) => problem);

const lost = error("unavailable", 503, { effect: "unknown" });
const refused = error("invalidRequest", 400, { detail: "no such country" });

test.each<[string, Given, SendFailure]>([
  ["a clean refusal", fails(refused), { kind: "refused", refusal: expect.anything() }],
  ["a lost answer", fails(lost), { kind: "noAnswer" }],
  ["an error of our own code", fails(new Error("ours")), { kind: "noAnswer" }],
  ["a 401", fails(error("accessDenied", 401)), { kind: "notSent", renewToken: false }],
  ["a 403", fails(error("accessDenied", 403)), { kind: "notSent", renewToken: true }],
  ["a 429", fails(error("rateLimited", 429)), { kind: "notSent", renewToken: false }],
  [
    "a preparation that fails",
    { prepare: () => Promise.reject(new Error("ENOSPC")) },
    { kind: "notSent" },
  ],
  ["a document that is missing", fails(new InvalidInput([])), { kind: "notSent" }],
  ["a secret that cannot be opened", fails(new DecryptionError("k1")), { kind: "notSent" }],
])("%s is told to the journal as what it proves", async (_, given, failure) => {
  await caught(run(given));
  expect(journal.failures).toEqual([failure]);
  // Where the preparation fails nothing is called.
  expect(counted).toHaveLength(given.prepare ? 0 : 1);
});

test("a call without an answer is kept as an empty one, and given back as it is kept", async () => {
  expect(await run({ send: async () => undefined })).toEqual({});
});

test("what was prepared is sent, with the tokens of the journal's row", async () => {
  const sent: unknown[] = [];
  const send: Given["send"] = async ({ signal, ...call }) => {
    sent.push({ ...call, isAborted: signal.aborted });
    return { uniqueId: "1" };
  };
  expect(await run({ prepare: () => "the letter", send })).toEqual({ uniqueId: "1" });
  const token = journal.effects[0]?.token;
  const tokens = { token, idempotencyToken: `wire ${token}` };
  expect(sent).toEqual([{ prepared: "the letter", ...tokens, isAborted: false }]);
});

const untilAborted: Given["send"] = ({ signal }) =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

test.each([20, -20])("the call is aborted when the lease ends, in %i ms", async (leftMs) => {
  journal.leftMs = leftMs;
  const ended = await caught(run({ send: untilAborted }));
  expect(ended).toMatchObject({ cause: { name: "TimeoutError" } });
});

test("the call may last until then, unless its activity is cancelled", async () => {
  const ended = await caught(
    inActivity((cancel) => {
      setTimeout(cancel, 50);
      return effectIn({ send: untilAborted });
    }),
  );
  expect(ended).toMatchObject({ cause: { name: "CancelledFailure" } });
});

test("the lease of a long call leaves a fifth of itself for what comes before and after the call", async () => {
  await run({ longestMs: 80_000 });
  await run();
  expect(journal.effects.map(({ leaseMs }) => leaseMs)).toEqual([100_000, undefined]);
});

test("a 403 of another call that has opened the circuit changes no token", async () => {
  const open = { kind: "accessDenied", status: 403, effect: "none" } as const;
  const about = { provider: "evi-post", operation: "submit", problem: "the circuit is open" };
  await caught(run(fails(new CircuitOpenError({ ...about, ...open }))));
  expect(journal.failures).toEqual([{ kind: "notSent", renewToken: false }]);
});

test("the digest is of the account and the input alone, and step and occurrence make the token", async () => {
  const input = { recipientAddress: { city: "Lisboa" } };
  await run({ input, documents: [{ id: "a".repeat(32), kind: "submitted" }] });
  await run({ input }, "update", { mode: "watch" });
  await run({ input }, "step", { workflowId: "letter-2" });
  const [first, second, other] = journal.effects;
  expect(first?.digest).toBe(JSON.stringify({ account: "default", input }));
  expect(second?.digest).toBe(first?.digest);
  expect(second?.token).toBe(first?.token);
  expect(other?.token).not.toBe(first?.token);
  expect(first).toMatchObject({ ...reference, namespace: "test", workflowId: "letter-1" });
});

test("the process owns its documents from the row on, before they are read and sent", async () => {
  const { done } = journal;
  await run({
    documents: [{ id: "pdf", kind: "submitted" }],
    prepare: () => void done.push("read"),
    send: async () => ({ done: done.push("sent") }),
  });
  expect(done).toEqual(["row of pdf", "read", "sent"]);
});

test.each<[AttemptMode, boolean]>([
  ["quick", false],
  ["probe", false],
  ["send", false],
  ["watch", true],
])("with %s the journal only watches: %s", async (mode, isWatched) => {
  await run({}, "step", { mode });
  expect(journal.watched).toEqual([isWatched]);
});

test("an operation that is looked up is `once` at an account without a look-up", async () => {
  await run({ operation: "cancel", lookUp: async () => undefined }, "update");
  await run({ operation: "cancel" }, "update");
  await run({ operation: "submit" });
  const classes = journal.effects.map(({ effectClass }) => effectClass);
  expect(classes).toEqual(["lookup", "once", "keyed"]);
});

/** Two processes meet a 401 in a step, which opens the account's circuit. */
async function openCircuit(of: "step" | "update" = "step"): Promise<void> {
  for (const workflowId of ["letter-2", "letter-3"])
    await caught(run(fails(error("accessDenied", 401)), of, { workflowId }));
  counted.length = 0;
}

test("a step's denials open the circuit, and no row is taken while it is open", async () => {
  await openCircuit();
  journal.done.length = 0;
  expect(await caught(run())).toMatchObject({ kind: "accessDenied", status: 401 });
  expect([journal.done, counted]).toEqual([[], []]);
});

test("an update's call passes an open circuit", async () => {
  await openCircuit();
  expect(await run({}, "update")).toEqual({});
  expect(counted).toEqual(["submit ok"]);
});

test("an update's denials open no circuit", async () => {
  await openCircuit("update");
  expect(await run()).toEqual({});
});

test("a denial about a part of an operation leaves the rest of it alone", async () => {
  for (const workflowId of ["letter-2", "letter-3"])
    await caught(
      run({ about: "CMD", ...fails(error("accessDenied", 403)) }, "step", { workflowId }),
    );
  expect(await caught(run({ about: "CMD" }))).toBeInstanceOf(ProviderError);
  expect(await run({ about: "CC" })).toEqual({});
});

const unreadable = error("unavailable", 200, { effect: "unknown", reference: "item-1" });

test("an unreadable answer that shows the id of an item that exists is an answer", async () => {
  const found = run({ ...fails(unreadable), findShown: async (id) => ({ uniqueId: id }) });
  expect(await found).toEqual({ uniqueId: "item-1" });
  expect(counted).toEqual(["submit unavailable"]);
});

test.each<[string, NonNullable<Given["findShown"]>]>([
  ["no such item exists", async () => undefined],
  ["nobody answers", () => Promise.reject(error("unavailable"))],
])("it is a lost answer where %s", async (_, findShown) => {
  expect(await caught(run({ ...fails(unreadable), findShown }))).toMatchObject({
    cause: unreadable,
  });
});

test("the look for a shown item may use the circuit that an operator's retry has just probed", async () => {
  deps = { ...deps, circuits: new Circuits({ probeMs: 1, failures: 2 }) };
  await openCircuit();
  const found = (id: string) =>
    contextOf("probe").throughCircuit("query", async () => ({ uniqueId: id }));
  const answer = run({ ...fails(unreadable), findShown: found }, "step", { mode: "probe" });
  expect(await answer).toEqual({ uniqueId: "item-1" });
});

test.each<[string, Given, string[]]>([
  ["an answer", {}, ["submit ok"]],
  ["an error of the provider", fails(refused), ["submit invalidRequest"]],
  ["an error of our own code", fails(new Error("ours")), ["submit defect"]],
])("%s is counted once", async (_, given, results) => {
  await caught(run(given));
  expect(counted).toEqual(results);
});

/** The failure that the workflow reads, of an activity with one effect. */
async function failureOf(
  given: Given,
  { account = "default", mode = "quick" }: Partial<AttemptOf> = {},
) {
  const activity = activitiesOf("evi-post", deps, ProviderContext<"evi-post">);
  const submit = activity<AttemptOf, object>("submit", (context) =>
    runEffect<"evi-post", object, unknown>(context, reference, {
      operation: "submit",
      input: {},
      send: async () => ({}),
      ...given,
    }),
  );
  const failure = await caught(inActivity(() => submit({ account, mode })));
  if (!(failure instanceof ApplicationFailure)) throw failure;
  const { type, nonRetryable, details } = failure;
  return { type, nonRetryable, problem: details?.[0] as object };
}

test.each<[string, Given, string, boolean, AttemptMode?]>([
  ["a clean refusal", fails(refused), "invalidRequest", true],
  ["a lost answer", fails(lost), "unknownOutcome", true],
  ["a denial", fails(error("accessDenied", 401)), "accessDenied", true],
  [
    "a denial, in the patient phase",
    fails(error("accessDenied", 401)),
    "accessDenied",
    false,
    "send",
  ],
  ["an outage before anything was sent", fails(error("unavailable")), "unavailable", false],
  ["a rate limit", fails(error("rateLimited", 429)), "rateLimited", false],
])("the failure of a step after %s", async (_, given, type, nonRetryable, mode = "quick") => {
  const failure = await failureOf(given, { mode });
  expect(failure).toMatchObject({ type, nonRetryable });
  const place = { environment: "sandbox", account: "default" };
  expect(failure.problem).toMatchObject({ provider: "evi-post", operation: "submit", ...place });
});

test("an unknown outcome names the token that the call was sent with, by which a person may find it", async () => {
  const { problem } = await failureOf(fails(lost));
  expect(problem).toMatchObject({ ownKey: journal.effects[0]!.token });
});

test("an account that is not configured is the caller's mistake, and nothing is sent", async () => {
  const { type, problem } = await failureOf({}, { account: "nobody" });
  expect(type).toBe("InvalidInput");
  const fields = [{ path: "account" }];
  expect(problem).toMatchObject({ account: "nobody", environment: "preproduction", fields });
  expect(journal.effects).toEqual([]);
});

test("an attempt that an open circuit stopped is counted as not asked", async () => {
  await openCircuit();
  expect(await failureOf({})).toMatchObject({ type: "accessDenied" });
  expect(counted).toEqual(["submit notAsked"]);
});

const affidavit = (given: Given) =>
  affidavitAnswer(run(given, "update") as Promise<{ requestId: string }>);
const ofNotice = (given: Given) =>
  affidavitAnswer(run(given, "update") as Promise<{ requestId: string }>, {
    403: "limitReached",
    405: "notEligible",
  });
const cancel = (given: Given) =>
  cancelAnswer(run(given, "update") as never, async () => ({ answer: "tooLate" }));
const another = (given: Given) =>
  resendResultOf({ readStepHistory: () => journal.past() }, "otp", run(given, "update"));
const code = (given: Given) =>
  run(given, "update").catch((problem: unknown) => tryResultOf(problem, () => "wrong"));

test.each<[string, (given: Given) => Promise<object>, Error, object]>([
  ["an affidavit, refused", affidavit, refused, { answer: "refused", reason: "no such country" }],
  ["an affidavit, no answer", affidavit, lost, { answer: "unknown" }],
  ["an affidavit, not sent", affidavit, error("rateLimited", 429), { answer: "unavailable" }],
  ["of a notice, at the limit", ofNotice, error("accessDenied", 403), { answer: "limitReached" }],
  ["of a notice, closed", ofNotice, error("protocol", 405), { answer: "notEligible" }],
  ["of a notice, no answer", ofNotice, lost, { answer: "unknown" }],
  ["a cancellation, not permitted", cancel, error("accessDenied", 403), { answer: "notPermitted" }],
  ["a cancellation, refused", cancel, refused, { answer: "tooLate" }],
  ["a cancellation, not sent", cancel, error("unavailable"), { answer: "unavailable" }],
  ["another code, refused", another, refused, { sent: "refused" }],
  ["another code, no answer", another, lost, { sent: "maybe", codes: 2 }],
  ["a code, refused", code, refused, { verdict: "wrong" }],
  ["a code, no answer", code, lost, { verdict: "unknown", isOpen: true, problem: "a test" }],
  ["a code, denied", code, error("accessDenied", 401), { verdict: "unavailable" }],
])("the answer of an update: %s", async (_, update, problem, answer) => {
  expect(await update(fails(problem))).toEqual(answer);
});

test.each([affidavit, cancel, another, code])(
  "an update does not answer for an error of our own code before the call",
  async (update) => {
    const ours = new DecryptionError("k1");
    expect(await caught(update({ prepare: () => Promise.reject(ours) }))).toBe(ours);
  },
);
