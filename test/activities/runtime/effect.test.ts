// The one way of an effect, with fakes: what an error proves and becomes, the circuit, the digest, who owns what is sent, and
// what the caller of an update is answered.
import { beforeEach, describe, expect, test } from "vitest";
import { ApplicationFailure } from "@temporalio/common";
import type { MetricMeter } from "@temporalio/common";
import { affidavitAnswer } from "../../../src/activities/evi/affidavit-request.js";
import { cancelAnswer } from "../../../src/activities/evi-post/index.js";
import { activitiesOf } from "../../../src/activities/runtime/activity.js";
import { CircuitOpenError, Circuits } from "../../../src/activities/runtime/circuit-breaker.js";
import { runEffect } from "../../../src/activities/runtime/effect.js";
import type { AssumedLookUp, ProviderEffect } from "../../../src/activities/runtime/effect.js";
import { InvalidInput } from "../../../src/activities/runtime/failure.js";
import type { AttemptMode } from "../../../src/activities/runtime/failure.js";
import { resendResultOf, tryResultOf } from "../../../src/activities/runtime/one-time-password.js";
import { NotAllowed, ProviderContext } from "../../../src/activities/runtime/provider-context.js";
import type {
  AttemptOf,
  ProviderDependencies,
} from "../../../src/activities/runtime/provider-context.js";
import type { ProblemKind } from "../../../src/contracts/shared/problem-kind.js";
import { DecryptionError } from "../../../src/crypto/errors.js";
import { EffectRefused, EffectUnknown } from "../../../src/journal/journal.js";
import type { Effect, Journal, SendFailure } from "../../../src/journal/journal.js";
import type { LookUpKey, LookUpProofs } from "../../../src/journal/look-up-proofs.js";
import type { PossibleEffect } from "../../../src/providers/errors/provider-error.js";
import { ProviderError } from "../../../src/providers/errors/provider-error.js";
import { inAttempt, providerError } from "../attempts.js";
import type { CancelReason } from "../attempts.js";

type Handlers = Parameters<Journal["perform"]>[1];

/** Does with one call what the journal does, without rows: `done` lists what happened, in order. */
class FakeJournal {
  effects: Effect[] = [];
  failures: SendFailure[] = [];
  watched: (boolean | undefined)[] = [];
  done: string[] = [];
  handlers: Handlers | undefined;
  references: object[] = [];
  /** The rest of the lease. */
  leftMs = 60_000;
  /** What the row has from an earlier run. */
  stored: object | undefined;
  /** The account at which the process may have an effect. */
  begunAt: string | undefined;

  async perform(effect: Effect, handlers: Handlers, { watchOnly }: { watchOnly?: boolean }) {
    this.effects.push(effect);
    this.watched.push(watchOnly);
    this.handlers = handlers;
    if (this.stored) return this.stored;
    const open = handlers.openError?.();
    if (open) throw open;
    this.done.push(`row of ${effect.documents?.map(({ id }) => id).join() ?? "no document"}`);
    const { token } = effect;
    const ends = performance.now() + this.leftMs;
    try {
      return await handlers.send({
        token,
        idempotencyToken: `wire ${token}`,
        attempt: 1,
        leftMs: () => ends - performance.now(),
      });
    } catch (error) {
      const failure = handlers.sendFailureOf(error);
      this.failures.push(failure);
      if (failure.kind === "refused") throw new EffectRefused(effect.step, failure.refusal);
      if (failure.kind === "noAnswer") throw new EffectUnknown(effect.step, effect.token, error);
      throw error;
    }
  }

  async mayHaveEffect(_: object, account: string) {
    return account === this.begunAt;
  }

  async noteReference(reference: object) {
    this.references.push(reference);
  }

  async past() {
    return { made: 2, refused: 0 };
  }
}

/** `done` lists what is asked and told, in order; a sample is looked for wherever that is asked. */
class FakeProofs implements Pick<LookUpProofs, keyof LookUpProofs> {
  done: unknown[] = [];
  known: "found" | "unproven" = "unproven";
  mayLook = true;
  error: Error | undefined;

  async offer(key: LookUpKey, sample: unknown) {
    this.done.push({ offered: sample, key });
    if (this.error) throw this.error;
    return this.mayLook;
  }

  async look(_: LookUpKey, find: (sample: unknown) => Promise<boolean>) {
    const isFound = await find("a sample").catch(() => "no answer");
    this.done.push(isFound);
    if (isFound === "no answer") throw lost;
  }

  async found({ form }: LookUpKey) {
    this.done.push(`found ${form}`);
    if (this.error) throw this.error;
    if (form === "joined") this.known = "found";
  }

  finding = async () => this.known;
  newestAnswered = async () => ["third", "second", "first", "oldest"];
  report = async () => [];
}

let proofs: FakeProofs;
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
    digests: {
      of: (value: unknown) => JSON.stringify(value),
      same: (value: unknown, stored: string) => JSON.stringify(value) === stored,
    },
    lookUpProofs: (proofs = new FakeProofs()),
    accounts: {
      default: { name: "default" },
      assuming: { name: "assuming", lookUpConfiguration: "digest" },
    },
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
  work: (cancel: (reason?: CancelReason) => void) => Promise<T>,
  workflowId = "letter-1",
): Promise<T> {
  return inAttempt(work, { workflowExecution: { workflowId, runId: "r" } }, { metricMeter: meter });
}

type Given = Partial<ProviderEffect<"evi-post", object, unknown, string>>;
const reference = { step: "submit", occurrence: "0" };

/** One effect of a process; its call answers `{}` unless the test says otherwise. */
function run(
  given: Given = {},
  of: "step" | "update" = "step",
  {
    mode = "quick",
    workflowId,
    account,
  }: { mode?: AttemptMode; workflowId?: string; account?: string } = {},
): Promise<object> {
  return inActivity(() => effectIn({ of, ...given }, mode, account), workflowId);
}

function effectIn(given: Given, mode: AttemptMode = "quick", account = "default"): Promise<object> {
  const handlers = { operation: "submit", input: {}, send: async () => ({}), ...given } as const;
  const context: ProviderContext<"evi-post"> = contextOf(mode, account);
  return runEffect<"evi-post", object, unknown, string>(context, reference, handlers);
}

const contextOf = (mode: AttemptMode, account = "default") =>
  new ProviderContext<"evi-post">("evi-post", deps, { account, mode });

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
  ["a 401", fails(error("accessDenied", 401)), { kind: "notSent" }],
  ["a 403", fails(error("accessDenied", 403)), { kind: "denied" }],
  ["a 429", fails(error("rateLimited", 429)), { kind: "notSent" }],
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

test("the call is aborted when the lease ends", async () => {
  journal.leftMs = 20;
  const ended = await caught(run({ send: untilAborted }));
  expect(ended).toMatchObject({ cause: { name: "TimeoutError" } });
});

test("no call is made that another attempt may make by then: the lease has ended before it", async () => {
  journal.leftMs = 20;
  const prepare = () => new Promise((resolve) => setTimeout(resolve, 40));
  const ended = await caught(run({ prepare }));
  expect(ended).toMatchObject({ kind: "unavailable", effect: "none" });
  expect(journal.failures).toEqual([{ kind: "notSent" }]);
  expect(counted).toEqual([]);
});

describe.each(["step", "update"] as const)("the call of a %s that is cancelled or paused", (of) => {
  const cancelledBy = (reason?: CancelReason) =>
    caught(
      inActivity((cancel) => {
        setTimeout(() => cancel(reason), 50);
        return effectIn({ of, send: untilAborted });
      }),
    );

  test("goes on until its lease ends: its answer is needed", async () => {
    journal.leftMs = 200;
    expect(await cancelledBy()).toMatchObject({ cause: { name: "TimeoutError" } });
  });

  test("is broken off when its worker stops", async () => {
    const ended = await cancelledBy("WORKER_SHUTDOWN");
    expect(ended).toMatchObject({ cause: { name: "CancelledFailure" } });
  });

  test("is not made where its activity is cancelled before it", async () => {
    const made = inActivity((cancel) =>
      effectIn({
        of,
        prepare: () => cancel(),
        send: async ({ signal }) => signal.throwIfAborted(),
      }),
    );
    expect(await caught(made)).toMatchObject({ cause: { name: "CancelledFailure" } });
  });
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
  expect(journal.failures).toEqual([{ kind: "notSent" }]);
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
  expect(["another", first!.digest].map((digest) => second?.sameDigest(digest))).toEqual([
    false,
    true,
  ]);
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

test.each<[string, Pick<Given, "findShown">, Error]>([
  ["no such item exists", { findShown: async () => undefined }, unreadable],
  ["nobody answers", { findShown: () => Promise.reject(error("unavailable")) }, unreadable],
  ["the operation's items cannot be asked for", {}, unreadable],
  ["no item is shown", { findShown: async () => ({ uniqueId: "another" }) }, lost],
])("it is a lost answer where %s", async (_, given, cause) => {
  expect(await caught(run({ ...fails(cause), ...given }))).toMatchObject({ cause });
});

test("callbacks find the process by the id in the answer, also in one from an earlier run", async () => {
  journal.stored = { uniqueId: "letter" };
  await run();
  await run({ referenceOf: (answer) => `of ${Object.values(answer).join()}` });
  const owner = { namespace: "test", workflowId: "letter-1" };
  const noted = { provider: "evi-post", account: "default", reference: "of letter", ...owner };
  expect(journal.references).toEqual([expect.objectContaining(noted)]);
});

/** A look-up that finds the item in the form `joined`, until `find` says otherwise. */
const assuming = (over: Partial<AssumedLookUp<string>> = {}): Given => ({
  lookUp: async (token) => (token === "lost" ? { uniqueId: "1" } : undefined),
  assumed: {
    form: "joined",
    sampleOf: (token) => `item of ${token}`,
    find: async () => "joined",
    ...over,
  },
});
const inAssuming = { account: "assuming" };

test("an answered item is a sample of the look-up of the account, and is looked for at once", async () => {
  await run(assuming(), "step", inAssuming);
  const key = { provider: "evi-post", account: "assuming", operation: "submit" };
  expect(proofs.done).toEqual([
    {
      offered: `item of ${journal.effects[0]?.token}`,
      key: { ...key, form: "joined", configuration: "digest" },
    },
    true,
  ]);
});

test.each<[string, Given, { account?: string }, object?]>([
  ["the look-up rests on no assumption", { lookUp: async () => undefined }, inAssuming],
  ["the account configures none", assuming(), {}],
  ["the item is changed afterwards", assuming({ isNoSample: true }), inAssuming],
  ["the answer is from an earlier run", assuming(), inAssuming, { uniqueId: "1" }],
])("there is no sample where %s", async (_, given, account, stored) => {
  journal.stored = stored;
  await run(given, "step", account);
  expect(proofs.done).toEqual([]);
});

test("an effect does not fail with its proof, and a sample that is not due is not looked for", async () => {
  proofs.mayLook = false;
  await run(assuming(), "step", inAssuming);
  proofs.error = new Error("no database");
  expect(await run(assuming(), "step", inAssuming)).toEqual({});
  expect(proofs.done).toHaveLength(2);
  expect(await journal.handlers?.lookUp?.("lost")).toEqual({ uniqueId: "1" });
});

test.each<[string, () => Promise<string | undefined>, boolean | string]>([
  ["nothing", async () => undefined, false],
  ["another form of it", async () => "alone", true],
  ["an unusable answer", () => Promise.reject(error("protocol")), false],
  ["that it is not visible yet", () => Promise.reject(error("notVisibleYet")), false],
  ["an outage", () => Promise.reject(error("unavailable")), "no answer"],
  ["an error of our own", () => Promise.reject(new TypeError("ours")), "no answer"],
])("a look for a sample that meets %s", async (_, find, isFound) => {
  await run(assuming({ find }), "step", inAssuming);
  expect(proofs.done[1]).toBe(isFound);
});

test("what the effect's own look-up finds is its answer, and proves the look-up", async () => {
  for (const account of ["default", "assuming"]) {
    await run(assuming({ isNoSample: true }), "step", { account });
    expect(await journal.handlers?.lookUp?.("other")).toBeUndefined();
    expect(proofs.done).toEqual([]);
    expect(await journal.handlers?.lookUp?.("lost")).toEqual({ uniqueId: "1" });
  }
  expect(proofs.done).toEqual(["found joined"]);
});

test.each<[string, Given, string | undefined, string[]]>([
  ["no look-up", {}, "assuming", []],
  ["an account's look-up that rests on no assumption", assuming(), undefined, ["lookUp"]],
  ["one that rests on an assumption", assuming(), "assuming", ["lookUp", "lookUpFinding"]],
])("with %s the journal gets what there is", async (_, given, account = "default", names) => {
  await run(given, "step", { account });
  expect(Object.keys(journal.handlers!).filter((name) => name.startsWith("lookUp"))).toEqual(names);
});

const formOfEarlier: Record<string, string> = {
  "a sample": "joined",
  "item of second": "alone",
  "item of first": "joined",
  "item of oldest": "joined",
};
const findEarlier = async (sample: string) => formOfEarlier[sample];
const isAway = () => Promise.reject(error("unavailable"));

test.each<[string, Partial<AssumedLookUp<string>>, "found" | "unproven", unknown[]]>([
  ["is looked for", { find: findEarlier }, "unproven", [true]],
  ["and nothing more, once it is found", { isByToken: true, find: findEarlier }, "found", [true]],
  [
    "and earlier items until this form is found",
    { isByToken: true, find: findEarlier },
    "unproven",
    [true, "found alone", "found joined"],
  ],
  ["proves nothing in an outage", { isByToken: true, find: isAway }, "unproven", ["no answer"]],
])("before an empty look-up counts, the sample %s", async (_, over, known, done) => {
  await run(assuming({ isNoSample: true, ...over }), "step", inAssuming);
  proofs.known = known;
  const isFound = known === "found" || done.includes("found joined");
  expect(await journal.handlers?.lookUpFinding?.()).toBe(isFound ? "found" : "unproven");
  expect(proofs.done).toEqual(done);
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
  { mode = "quick", ...at }: Partial<AttemptOf> & { input?: object } = { account: "default" },
) {
  const activity = activitiesOf("evi-post", deps, ProviderContext<"evi-post">);
  const submit = activity<typeof at & { mode: AttemptMode }, object>("submit", (context) =>
    runEffect<"evi-post", object, unknown, string>(context, reference, {
      operation: "submit",
      input: {},
      send: async () => ({}),
      ...given,
    }),
  );
  const failure = await caught(inActivity(() => submit({ ...at, mode })));
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

const ofNobody = { input: { account: "nobody" } };

test("an account that is not configured is the caller's mistake before any effect, and nothing is sent", async () => {
  journal.begunAt = "another";
  const { type, problem } = await failureOf({}, ofNobody);
  expect(type).toBe("InvalidInput");
  const fields = [{ path: "account" }];
  expect(problem).toMatchObject({ account: "nobody", environment: "preproduction", fields });
  expect(journal.effects).toEqual([]);
});

test.each([
  ["the plan of the process names", { account: "nobody" }],
  ["the journal names", ofNobody],
])("an account that %s is missing on a worker alone: the process waits for it", async (_, at) => {
  journal.begunAt = "nobody";
  const problem = 'a worker has no account "nobody" of evi-post; configure it there again';
  const denied = { type: "accessDenied", problem: { problem, account: "nobody" } };
  expect(await failureOf({}, at)).toMatchObject({ ...denied, nonRetryable: true });
  const waits = await failureOf({}, { ...at, mode: "watch" });
  expect(waits).toMatchObject({ ...denied, nonRetryable: false });
  expect(journal.effects).toEqual([]);
});

test("what the account does not allow is the caller's mistake before any effect; later the process waits for its configuration", async () => {
  const rule: Given = {
    prepare: () => Promise.reject(new NotAllowed([{ path: "otpType", problem: "is not enabled" }])),
  };
  const at = { input: { account: "assuming" } };
  expect(await failureOf(rule, at)).toMatchObject({
    type: "InvalidInput",
    problem: { fields: [{ path: "otpType" }] },
  });
  journal.begunAt = "assuming";
  const problem =
    'the account "assuming" of evi-post does not allow what has begun: otpType is not enabled';
  const denied = { type: "accessDenied", problem: { problem } };
  expect(await failureOf(rule, at)).toMatchObject({ ...denied, nonRetryable: true });
  const waits = await failureOf(rule, { ...at, mode: "send" });
  expect(waits).toMatchObject({ ...denied, nonRetryable: false });
});

test.each([
  ["with their worker's stop open no", "WORKER_SHUTDOWN", {}],
  ["by themselves, after their activities' cancellation, open the", undefined, "unavailable"],
] as const)("calls that end %s circuit", async (_how, reason, expected) => {
  for (const workflowId of ["letter-1", "letter-2", "letter-3"])
    await caught(
      inActivity(
        (cancel) => effectIn({ send: () => (cancel(reason), Promise.reject(lost)) }),
        workflowId,
      ),
    );
  expect(await run().catch(({ kind }: { kind: string }) => kind)).toEqual(expected);
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
