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
const urgent: CallKey = { ...submit, urgent: true };
/** Calls by their names in a story; any other name is that of a process, which submits. */
const targets: Record<string, CallKey> = {
  ...{ submit, query, urgent },
  elsewhere: { ...submit, account: "evi-post/other" },
  brokenOff: { ...submit, signal: AbortSignal.abort() },
};

const error = (kind: ProblemKind, status?: number, retryAfterMs?: number) =>
  providerError(kind, { status, retryAfterMs });
const denied = error("accessDenied", 401);

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

let provider: Provider;
beforeEach(() => void (provider = new Provider()));

const of = (target: CallKey): CircuitKey => ({ intent: "another", ...target });

async function refusal(target: CallKey = submit): Promise<ProviderError> {
  return provider.circuits
    .run(of(target), () => Promise.reject(new Error("asked")))
    .catch((failure: unknown) => failure as ProviderError);
}

/**
 * What happens, step by step: what the provider `meets` calls with, three calls that are `opened` by a problem, the time to a probe,
 * and how each call ends.
 */
async function play(_: string, story: string): Promise<void> {
  const problemOf = (kind: string, status?: string, ms?: string) =>
    error(kind as ProblemKind, status ? Number(status) : undefined, ms ? Number(ms) : undefined);
  const targetOf = (who: string) => targets[who] ?? { ...submit, intent: who };
  for (const step of story.split(/;\s+/)) {
    const [verb = "", word = "", ...more] = step.split(" ");
    if (verb === "meets") provider.problem = problemOf(word, ...more);
    else if (verb === "serves") provider.problem = undefined;
    else if (verb === "probe") await pause(PROBE_MS);
    else if (verb === "calls") expect([step, provider.calls]).toEqual([step, Number(word)]);
    else if (verb === "opens") await provider.open(problemOf(more[0]!, more[1]), targetOf(word));
    else
      for (const result of [word, ...more]) {
        const asked = provider.ask(targetOf(verb));
        // A person's retry may share its answer with others that come soon.
        if (verb === "urgent") await pause(PROBE_MS / 2);
        expect([step, await asked]).toEqual([step, result]);
      }
  }
}

test.each([
  [
    "wrong credentials open it once a second process has met them, for the whole account, without a further call",
    `meets accessDenied 401; submit refused refused notAsked; query notAsked; submit notAsked;
      calls 2; serves; elsewhere answered`,
  ],
  [
    "a provider that is away is left alone only after several failures in a row",
    `meets unavailable; submit refused refused; serves; submit answered; meets unavailable;
      submit refused refused refused notAsked`,
  ],
  [
    "a probe that fails leaves it open until the next one is due",
    `opens submit accessDenied 401; probe due; submit refused notAsked; calls 1; probe due;
      submit refused notAsked; calls 2; probe due; submit refused notAsked; calls 3`,
  ],
  [
    "calls that we broke off say nothing about the provider",
    "opens brokenOff unavailable; serves; submit answered",
  ],
  [
    "after a 403, a refused submission shows that the operation is permitted again",
    `opens submit accessDenied 403; probe due; meets invalidRequest 400;
      submit refused refused refused`,
  ],
  [
    "a person's retry is the next probe instead of failing fast",
    "opens submit accessDenied 401; serves; urgent answered; calls 1; submit answered",
  ],
  [
    "processes that fail while others are served open nothing for the others, however often they fail",
    `meets accessDenied 401; bad refused; serves; submit answered; meets accessDenied 401;
      worse refused; serves; submit answered; meets accessDenied 401; bad refused; worse refused;
      bad refused; worse refused; serves; submit answered`,
  ],
  [
    "a wrong password opens it for all in spite of what one process met alone before",
    `opens bad accessDenied 401; serves; submit answered; calls 1; meets accessDenied 401;
      bad refused; submit refused refused; bad notAsked; submit notAsked; query notAsked; calls 4`,
  ],
  [
    "a 429 opens it for all, also that of a process that failed alone before",
    `opens bad accessDenied 401; serves; submit answered; meets rateLimited 429 150; bad refused;
      submit notAsked`,
  ],
  [
    "a 401 and a failure of another kind are not two of the same",
    `meets unavailable 503; submit refused refused; meets accessDenied 401; bad refused; serves;
      submit answered`,
  ],
  [
    "where three processes failed until another one was served, and two of them fail again, the next one is asked",
    `meets accessDenied 401; probe due; p1 refused; probe due; p2 refused; probe due; p3 refused;
      probe due; serves; submit answered; meets accessDenied 401; p1 refused; p2 refused;
      submit refused`,
  ],
  [
    "where four processes did so, it is not asked",
    `meets accessDenied 401; probe due; p1 refused; probe due; p2 refused; probe due; p3 refused;
      probe due; p4 refused; probe due; serves; submit answered; meets accessDenied 401; p1 refused;
      p2 refused; submit notAsked`,
  ],
])("%s", play);

test.each(["invalidRequest 400", "protocol 200", "notVisibleYet 404"])(
  "%s does not open it, and proves that the provider is there",
  (problem) =>
    play(
      problem,
      `meets unavailable; submit refused refused; meets ${problem};
        submit refused refused refused refused refused refused; meets unavailable;
        submit refused refused refused`,
    ),
);

test.each(["accessDenied 401", "accessDenied 403", "unavailable 503"])(
  "%s for one process alone stops only that one",
  (problem) => play(problem, `opens bad ${problem}; bad notAsked; serves; submit answered`),
);

test.each([
  [
    "what a process met alone is forgotten once it is served",
    "accessDenied 401",
    "submit answered; bad answered",
  ],
  ["so it is where that process is the first to be served", "accessDenied 401", "bad answered"],
  ["a 429 is nothing that a process meets alone", "rateLimited 429 1", "submit answered"],
])("%s", (title, problem, served) =>
  play(
    title,
    `meets ${problem}; bad refused; probe due; serves; ${served}; meets accessDenied 401;
      bad refused; submit refused notAsked`,
  ),
);

test("an open circuit says what opened it", async () => {
  await provider.open(denied);
  expect(await refusal()).toMatchObject({
    kind: "accessDenied",
    status: 401,
    effect: "none",
    problem: "a test; the circuit is open, so no call is made",
  });
  expect(await refusal()).not.toHaveProperty("retryAfterMs");
});

test("one probe at a time goes through, and its success lets all others go", async () => {
  await provider.open(denied);
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

test("Retry-After is waited for to the end", async () => {
  provider.problem = error("rateLimited", 429, 3 * PROBE_MS);
  expect(await provider.ask()).toBe("refused");
  const end = performance.now() + 3 * PROBE_MS;
  await pause(2 * PROBE_MS);
  const { retryAfterMs = 0 } = await refusal();
  expect(performance.now() + retryAfterMs).toBe(end);
  await pause(retryAfterMs);
  provider.problem = undefined;
  expect(await provider.ask()).toBe("answered");
});

test("a Retry-After of nothing does not send every process at once", async () => {
  provider.problem = error("rateLimited", 429, 0);
  expect(await provider.ask()).toBe("refused");
  expect(await provider.ask(query)).toBe("notAsked");
});

test("a person's retry does not wait for a Retry-After of a day, and its answer opens the way for all", async () => {
  provider.problem = error("rateLimited", 429, 86_400_000);
  expect(await provider.ask()).toBe("refused");
  await pause(PROBE_MS);
  expect(await provider.ask(query)).toBe("notAsked");
  expect(await provider.ask(urgent)).toBe("refused");
  provider.problem = undefined;
  const asked = provider.ask(urgent);
  await pause(PROBE_MS);
  expect(await asked).toBe("answered");
  expect(await provider.ask(query)).toBe("answered");
});

test("an answer to a call that began before the 429 came does not end its wait", async () => {
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

test("a lost answer without a look-up, or an error of our own, says nothing about the account", async () => {
  await provider.open(denied);
  await pause(PROBE_MS);
  provider.problem = error("unknownOutcome");
  expect(await provider.ask()).toBe("refused");
  expect(await provider.ask()).toBe("notAsked");
  await pause(PROBE_MS);
  expect(await refusal()).toEqual(new Error("asked"));
  expect(await provider.ask()).toBe("notAsked");
});

test("a 403 is about its operation: the others of the account go on", async () => {
  await provider.open(error("accessDenied", 403));
  expect(await provider.ask(submit)).toBe("notAsked");
  provider.problem = undefined;
  expect(await provider.ask(query)).toBe("answered");
  expect(await provider.ask(submit)).toBe("notAsked");
  expect(provider.circuits.openError(of(submit))).toBeInstanceOf(CircuitOpenError);
  expect(provider.circuits.openError(of(query))).toBeUndefined();
  expect(provider.circuits.openError(of(urgent))).toBeUndefined();
  await pause(PROBE_MS);
  expect(provider.circuits.openError(of(submit))).toBeUndefined();
  expect(await provider.ask(submit)).toBe("answered");
});

test("many retries of people share one probe and its answer", async () => {
  await provider.open(denied);
  const asked = Promise.all(Array.from({ length: 200 }, () => provider.ask(urgent)));
  await pause(10 * PROBE_MS);
  const answers = await asked;
  expect(provider.calls).toBe(1);
  expect(answers.filter((answer) => answer === "refused")).toHaveLength(1);
  expect(answers.filter((answer) => answer === "notAsked")).toHaveLength(199);
});

test("a thousand processes that failed alone are remembered, and the oldest of one more counts again", async () => {
  const processes = Array.from({ length: 1_001 }, (_, index) => ({
    ...submit,
    intent: `${index}`,
  }));
  for (const one of processes) {
    provider.problem = denied;
    await provider.ask(one);
    provider.problem = undefined;
    expect(await provider.ask()).toBe("answered");
  }
  provider.problem = denied;
  const [oldest = submit, second = submit] = processes;
  for (const one of [second, submit, oldest]) expect(await provider.ask(one)).toBe("refused");
  expect(await provider.ask()).toBe("notAsked");
});
