// The circuit breakers of docs/design.md §5, alone: when a circuit opens, which call probes, and what closes it.
import { beforeEach, expect, vi, test } from "vitest";
import { Circuits, CircuitOpenError } from "../../../src/activities/runtime/circuit-breaker.js";
import type { CircuitKey } from "../../../src/activities/runtime/circuit-breaker.js";
import { ProviderError } from "../../../src/providers/errors/provider-error.js";
import type { ProblemKind } from "../../../src/contracts/shared/problem-kind.js";
import { providerError } from "../attempts.js";

const PROBE_MS = 150;

// A clock that only the tests move: nothing here depends on how fast the machine is.
beforeEach(() => void vi.useFakeTimers());
const pause = (ms: number) => vi.advanceTimersByTimeAsync(ms);

type CallKey = Omit<CircuitKey, "intent"> & { intent?: string };

const submit: CallKey = { account: "evi-post/default", operation: "submit" };
const query: CallKey = { ...submit, operation: "query" };
const elsewhere: CallKey = { ...submit, account: "evi-post/other" };

const error = (kind: ProblemKind, status?: number, retryAfterMs?: number) =>
  providerError(kind, { status, retryAfterMs });

/** A provider that answers as told, and counts. */
class Provider {
  readonly circuits = new Circuits({ probeMs: PROBE_MS, failures: 3 });
  calls = 0;
  problem: ProviderError | undefined;
  /** Calls that wait for an answer. */
  readonly held: (() => void)[] = [];
  holds = false;
  #intents = 0;

  /** Each call is another process's, unless the test says whose it is. */
  async ask(target: CallKey = submit): Promise<"answered" | "refused" | "notAsked"> {
    try {
      const intent = target.intent ?? `letter-${(this.#intents += 1)}`;
      await this.circuits.run({ ...target, intent }, async () => {
        this.calls += 1;
        const { problem } = this;
        if (this.holds) await new Promise<void>((resolve) => this.held.push(resolve));
        if (problem) throw problem;
      });
      return "answered";
    } catch (failure) {
      if (!(failure instanceof ProviderError)) throw failure;
      return failure instanceof CircuitOpenError ? "notAsked" : "refused";
    }
  }

  async open(problem: ProviderError, target: CallKey = submit): Promise<void> {
    this.problem = problem;
    for (let call = 0; call < 3; call += 1) await this.ask(target);
    this.calls = 0;
  }

  release(): void {
    this.holds = false;
    for (const answer of this.held.splice(0)) answer();
  }
}

const of = (target: CallKey): CircuitKey => ({ intent: "another", ...target });

async function refusal(circuits: Circuits, target: CallKey = submit): Promise<ProviderError> {
  return circuits
    .run(of(target), () => Promise.reject(new Error("asked")))
    .catch((failure: unknown) => failure as ProviderError);
}

test("wrong credentials open it once a second process has met them, for the whole account, without a further call", async () => {
  const provider = new Provider();
  provider.problem = error("accessDenied", 401);
  expect([await provider.ask(), await provider.ask()]).toEqual(["refused", "refused"]);
  for (const target of [submit, query, submit]) expect(await provider.ask(target)).toBe("notAsked");
  expect(provider.calls).toBe(2);
  expect(await refusal(provider.circuits)).toMatchObject({
    kind: "accessDenied",
    status: 401,
    effect: "none",
    problem: "a test; the circuit is open, so no call is made",
  });
  expect(await refusal(provider.circuits)).not.toHaveProperty("retryAfterMs");
  provider.problem = undefined;
  expect(await provider.ask(elsewhere)).toBe("answered");
});

test("a provider that is away is left alone only after several failures in a row", async () => {
  const provider = new Provider();
  provider.problem = error("unavailable");
  expect([await provider.ask(), await provider.ask()]).toEqual(["refused", "refused"]);
  provider.problem = undefined;
  expect(await provider.ask()).toBe("answered");
  provider.problem = error("unavailable");
  for (let call = 0; call < 3; call += 1) expect(await provider.ask()).toBe("refused");
  expect(await provider.ask()).toBe("notAsked");
});

test("one probe at a time goes through, and its success lets all others go", async () => {
  const provider = new Provider();
  await provider.open(error("accessDenied", 401));
  await pause(PROBE_MS);
  provider.problem = undefined;
  provider.holds = true;
  const probe = provider.ask();
  expect(await Promise.all(Array.from({ length: 50 }, () => provider.ask()))).toEqual(
    Array(50).fill("notAsked"),
  );
  await pause(PROBE_MS);
  expect(await provider.ask()).toBe("notAsked");
  expect(provider.calls).toBe(1);
  provider.release();
  expect(await probe).toBe("answered");
  expect(await Promise.all([provider.ask(), provider.ask(query)])).toEqual([
    "answered",
    "answered",
  ]);
});

test("a probe that fails leaves it open until the next one is due", async () => {
  const provider = new Provider();
  await provider.open(error("accessDenied", 401));
  for (let probes = 1; probes <= 3; probes += 1) {
    await pause(PROBE_MS);
    expect(await provider.ask()).toBe("refused");
    expect(await provider.ask()).toBe("notAsked");
    expect(provider.calls).toBe(probes);
  }
});

test("Retry-After is waited for to the end, also by a person's retry", async () => {
  const provider = new Provider();
  provider.problem = error("rateLimited", 429, 3 * PROBE_MS);
  expect(await provider.ask()).toBe("refused");
  const end = performance.now() + 3 * PROBE_MS;
  await pause(2 * PROBE_MS);
  expect(await provider.ask({ ...submit, urgent: true })).toBe("notAsked");
  const { retryAfterMs = 0 } = await refusal(provider.circuits);
  expect(performance.now() + retryAfterMs).toBe(end);
  await pause(retryAfterMs);
  provider.problem = undefined;
  expect(await provider.ask()).toBe("answered");
});

test("an answer to a call that began before the 429 came does not end its wait", async () => {
  const provider = new Provider();
  provider.holds = true;
  const first = provider.ask(query);
  await pause(1);
  provider.problem = error("rateLimited", 429, 60_000);
  const limited = provider.ask();
  await pause(1);
  provider.problem = undefined;
  const last = provider.ask(query);
  await pause(1);
  const [answerFirst, refuse, answerLast] = provider.held;
  refuse?.();
  expect(await limited).toBe("refused");
  answerFirst?.();
  answerLast?.();
  expect(await Promise.all([first, last])).toEqual(["answered", "answered"]);
  expect(await provider.ask()).toBe("notAsked");
});

test.each([
  ["a refused submission", error("invalidRequest", 400)],
  ["an answer that cannot be read", error("protocol", 200)],
  ["an id that is not visible yet", error("notVisibleYet", 404)],
])("%s does not open it, and proves that the provider is there", async (_, problem) => {
  const provider = new Provider();
  provider.problem = error("unavailable");
  await provider.ask();
  await provider.ask();
  provider.problem = problem;
  await provider.ask();
  for (let call = 0; call < 5; call += 1) expect(await provider.ask()).toBe("refused");
  provider.problem = error("unavailable");
  for (let call = 0; call < 3; call += 1) expect(await provider.ask()).toBe("refused");
});

test("a lost answer without a look-up, or an error of our own, says nothing about the account", async () => {
  const provider = new Provider();
  await provider.open(error("accessDenied", 401));
  await pause(PROBE_MS);
  provider.problem = error("unknownOutcome");
  expect(await provider.ask()).toBe("refused");
  expect(await provider.ask()).toBe("notAsked");
  await pause(PROBE_MS);
  expect(await refusal(provider.circuits)).toEqual(new Error("asked"));
  expect(await provider.ask()).toBe("notAsked");
});

test("calls that we broke off say nothing about the provider", async () => {
  const provider = new Provider();
  await provider.open(error("unavailable"), { ...submit, signal: AbortSignal.abort() });
  provider.problem = undefined;
  expect(await provider.ask()).toBe("answered");
});

test("a 403 is about its operation: the others of the account go on", async () => {
  const provider = new Provider();
  await provider.open(error("accessDenied", 403));
  expect(await provider.ask(submit)).toBe("notAsked");
  provider.problem = undefined;
  expect(await provider.ask(query)).toBe("answered");
  expect(await provider.ask(submit)).toBe("notAsked");
  expect(provider.circuits.openError(of(submit))).toBeInstanceOf(CircuitOpenError);
  expect(provider.circuits.openError(of(query))).toBeUndefined();
  expect(provider.circuits.openError(of({ ...submit, urgent: true }))).toBeUndefined();
  await pause(PROBE_MS);
  expect(provider.circuits.openError(of(submit))).toBeUndefined();
  expect(await provider.ask(submit)).toBe("answered");
});

test("after a 403, a refused submission shows that the operation is permitted again", async () => {
  const provider = new Provider();
  await provider.open(error("accessDenied", 403));
  await pause(PROBE_MS);
  provider.problem = error("invalidRequest", 400);
  for (let call = 0; call < 3; call += 1) expect(await provider.ask()).toBe("refused");
});

test("a person's retry is the next probe instead of failing fast", async () => {
  const provider = new Provider();
  await provider.open(error("accessDenied", 401));
  provider.problem = undefined;
  const answer = provider.ask({ ...submit, urgent: true });
  await pause(PROBE_MS / 2);
  expect(provider.calls).toBe(1);
  expect(await answer).toBe("answered");
  expect(await provider.ask()).toBe("answered");
});

test("many retries of people share one probe and its answer", async () => {
  const provider = new Provider();
  await provider.open(error("accessDenied", 401));
  const urgent = { ...submit, urgent: true };
  const asked = Promise.all(Array.from({ length: 200 }, () => provider.ask(urgent)));
  await pause(10 * PROBE_MS);
  const answers = await asked;
  expect(provider.calls).toBe(1);
  expect(answers.filter((answer) => answer === "refused")).toHaveLength(1);
  expect(answers.filter((answer) => answer === "notAsked")).toHaveLength(199);
});

const bad = { ...submit, intent: "bad" };

test.each([
  ["a 401", error("accessDenied", 401)],
  ["a 403", error("accessDenied", 403)],
  ["a provider that is away", error("unavailable", 503)],
])("%s for one process alone stops only that one", async (_, problem) => {
  const provider = new Provider();
  await provider.open(problem, bad);
  expect(await provider.ask(bad)).toBe("notAsked");
  provider.problem = undefined;
  expect(await provider.ask()).toBe("answered");
});

test("processes that fail while others are served open nothing for the others, however often they fail", async () => {
  const provider = new Provider();
  const alone = ["bad", "worse"].map((intent) => ({ ...submit, intent }));
  for (const one of alone) {
    provider.problem = error("accessDenied", 401);
    expect(await provider.ask(one)).toBe("refused");
    provider.problem = undefined;
    expect(await provider.ask()).toBe("answered");
  }
  provider.problem = error("accessDenied", 401);
  for (const one of [...alone, ...alone]) expect(await provider.ask(one)).toBe("refused");
  provider.problem = undefined;
  expect(await provider.ask()).toBe("answered");
});

test("a wrong password opens it for all in spite of what one process met alone before", async () => {
  const provider = new Provider();
  await provider.open(error("accessDenied", 401), bad);
  provider.problem = undefined;
  await provider.ask();
  provider.problem = error("accessDenied", 401);
  provider.calls = 0;
  for (const one of [bad, submit, submit]) expect(await provider.ask(one)).toBe("refused");
  for (const one of [bad, submit, query]) expect(await provider.ask(one)).toBe("notAsked");
  expect(provider.calls).toBe(3);
});

test.each([
  [
    "what a process met alone is forgotten once it is served",
    error("accessDenied", 401),
    [submit, bad],
  ],
  ["so it is where that process is the first to be served", error("accessDenied", 401), [bad]],
  ["a 429 is nothing that a process meets alone", error("rateLimited", 429, 1), [submit]],
])("%s", async (_, problem, served) => {
  const provider = new Provider();
  provider.problem = problem;
  await provider.ask(bad);
  await pause(PROBE_MS);
  provider.problem = undefined;
  for (const one of served) expect(await provider.ask(one)).toBe("answered");
  provider.problem = error("accessDenied", 401);
  for (const one of [bad, submit]) expect(await provider.ask(one)).toBe("refused");
  expect(await provider.ask()).toBe("notAsked");
});

test("a 429 opens it for all, also that of a process that failed alone before", async () => {
  const provider = new Provider();
  await provider.open(error("accessDenied", 401), bad);
  provider.problem = undefined;
  await provider.ask();
  provider.problem = error("rateLimited", 429, PROBE_MS);
  expect([await provider.ask(bad), await provider.ask()]).toEqual(["refused", "notAsked"]);
});

test.each([
  [3, "refused"],
  [4, "notAsked"],
])(
  "where %i processes failed until another one was served, and two of them fail again, the next one is %s",
  async (number, next) => {
    const provider = new Provider();
    const several = Array.from({ length: number }, (_, index) => ({
      ...submit,
      intent: `${index}`,
    }));
    provider.problem = error("accessDenied", 401);
    for (const one of several) {
      await pause(PROBE_MS);
      expect(await provider.ask(one)).toBe("refused");
    }
    await pause(PROBE_MS);
    provider.problem = undefined;
    expect(await provider.ask()).toBe("answered");
    provider.problem = error("accessDenied", 401);
    for (const one of several.slice(0, 2)) expect(await provider.ask(one)).toBe("refused");
    expect(await provider.ask()).toBe(next);
  },
);

test("a thousand processes that failed alone are remembered, and the oldest of one more counts again", async () => {
  const provider = new Provider();
  const processes = Array.from({ length: 1_001 }, (_, index) => ({
    ...submit,
    intent: `${index}`,
  }));
  for (const one of processes) {
    provider.problem = error("accessDenied", 401);
    await provider.ask(one);
    provider.problem = undefined;
    expect(await provider.ask()).toBe("answered");
  }
  provider.problem = error("accessDenied", 401);
  const [oldest = submit, second = submit] = processes;
  for (const one of [second, submit, oldest]) expect(await provider.ask(one)).toBe("refused");
  expect(await provider.ask()).toBe("notAsked");
});

test("a 401 and a failure of another kind are not two of the same", async () => {
  const provider = new Provider();
  provider.problem = error("unavailable", 503);
  for (let call = 0; call < 2; call += 1) await provider.ask();
  provider.problem = error("accessDenied", 401);
  expect(await provider.ask(bad)).toBe("refused");
  provider.problem = undefined;
  expect(await provider.ask()).toBe("answered");
});
