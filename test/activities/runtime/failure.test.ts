// What an attempt's error becomes: for the caller, with each field named once in the caller's spelling, for the workflow and for Temporal.
import { ApplicationFailureCategory, CancelledFailure } from "@temporalio/common";
import type { ApplicationFailure } from "@temporalio/common";
import { expect, onTestFinished, test, vi } from "vitest";
import {
  asActivity,
  InvalidInput,
  NotChangedYet,
  noteAnswered,
  refusalOf,
} from "../../../src/activities/runtime/failure.js";
import type { AttemptMode } from "../../../src/activities/runtime/failure.js";
import { UnknownKeyError } from "../../../src/crypto/errors.js";
import {
  EffectMismatch,
  EffectRefused,
  EffectUnknown,
  EffectWithdrawn,
  ErasedKeyError,
} from "../../../src/journal/errors.js";
import { repeatedEvery } from "../../../src/workflows/runtime/activity-options.js";
import { inAttempt, providerError } from "../attempts.js";

const city = "disposableHolder.birthCity";

test.each([
  [city, city, `${city}: is required`, "is required"],
  [city, city, "birthCity is required", "is required"],
  [city, city, "birthCityCode is required", "birthCityCode is required"],
  [city, city, "birthCity", "was refused"],
  [city, city, "birthCity, if given: is short", ", if given: is short"],
  ["Holder.Address.City", "holder.address.city", "City is required", "is required"],
  [
    "RecipientAddress.Region",
    "recipientAddress.region",
    "recipientaddress.region must not be empty",
    "must not be empty",
  ],
  ["", "", "- Invalid", "- Invalid"],
  ["street", "street", undefined, "was refused"],
  [undefined, "", "Invalid", "Invalid"],
])(
  "the field %j is %j for the caller, and its message %j names it once",
  (fieldName, path, message, problem) => {
    const error = providerError("invalidRequest", { fields: [{ fieldName, message }] });
    expect(refusalOf(error).fields).toEqual([{ path, problem }]);
  },
);

test("a refusal without a classifier shows the type of its problem document (P2 §7.2)", () => {
  const type = "https://tools.ietf.org/html/rfc9110#section-15.5.1";
  expect(refusalOf(providerError("invalidRequest", { type })).code).toBe(type);
  expect(refusalOf(providerError("invalidRequest", { type, code: "E1" })).code).toBe("E1");
  const sentence = providerError("invalidRequest", { type: "Ana lives at # 7" });
  expect(refusalOf(sentence)).not.toHaveProperty("code");
});

const context = {
  ...{ provider: "evi-post", operation: "query", environment: "sandbox", account: "default" },
  ...{ mode: "quick" as const, patienceMs: 1, unavailableForMs: 1, invisibleForMs: 60_000 },
};

/** What an attempt fails with that meets the error. */
function failureAt(
  met: unknown,
  mode: AttemptMode = "quick",
  sinceMs = 0,
): Promise<ApplicationFailure> {
  const attempt = { ...context, mode, unavailableForMs: 60_000 };
  const info = { scheduledTimestampMs: Date.now() - sinceMs };
  return inAttempt(() => asActivity(attempt, () => Promise.reject(met)), info).catch(
    (error: unknown) => error as ApplicationFailure,
  );
}

const region = { path: "region", problem: "is required" };
const told = {
  ...{ status: 422, code: "E1", requestId: "q-1", host: "api.example:443", detail: "Ana has none" },
  ...{ reference: "r-1", fields: [{ fieldName: "Region", message: "is required" }] },
};
const tellsThat = {
  ...{ operation: "submit", problem: "a test", status: 422, code: "E1", requestId: "q-1" },
  ...{ host: "api.example:443", detail: "Ana has none", fields: [region] },
};
const atHost = "evi-post submit at api.example:443";

test.each<[Error, unknown, object]>([
  [
    new InvalidInput([region]),
    "evi-post query: InvalidInput",
    { kind: "InvalidInput", fields: [region] },
  ],
  [
    new ErasedKeyError(),
    "evi-post query: InvalidInput",
    { kind: "InvalidInput", fields: [{ path: "id", problem: "was erased: use another id" }] },
  ],
  [new EffectMismatch("query"), "evi-post query: InputMismatch", { kind: "InputMismatch" }],
  [new EffectWithdrawn("query"), "evi-post query: withdrawn", { kind: "withdrawn" }],
  [
    new EffectRefused("query", { status: 400, fields: [region] }),
    "evi-post query: invalidRequest",
    { kind: "invalidRequest", status: 400, fields: [region] },
  ],
  [
    new EffectUnknown("query", "key-1"),
    "evi-post query: unknownOutcome",
    { kind: "unknownOutcome", ownKey: "key-1" },
  ],
  [
    new EffectUnknown("query", "key-1", providerError("unknownOutcome", told), "late"),
    "evi-post query at api.example:443: unknownOutcome, a test (E1)",
    {
      ...tellsThat,
      ...{ kind: "unknownOutcome", operation: "query", ownKey: "key-1" },
      ...{ lookUp: "late", reference: "r-1" },
    },
  ],
  [
    new UnknownKeyError("k1"),
    expect.stringContaining('(the key ring has no key "k1")'),
    { kind: "unavailable", provider: "trustflow", code: 'the key ring has no key "k1"' },
  ],
  [
    providerError("protocol", told),
    `${atHost}: protocol, a test (E1)`,
    { ...tellsThat, kind: "protocol" },
  ],
  [
    providerError("accessDenied"),
    "evi-post submit: accessDenied, a test",
    { kind: "accessDenied", operation: "submit", problem: "a test" },
  ],
])(
  "%s is not tried again, and the workflow is told what is known",
  async (met, message, expected) => {
    const failure = await failureAt(met);
    const { provider, operation, environment, account } = context;
    const place = { provider, operation, environment, account, fields: [] };
    expect(failure.details?.[0]).toStrictEqual({ ...place, ...expected });
    expect(failure).toMatchObject({ message, nonRetryable: true });
    expect(failure.stack).not.toBe(failure.message);
  },
);

test.each<[string, Error, AttemptMode, boolean]>([
  ["nothing new", new NotChangedYet(), "quick", true],
  ["an id that is not visible yet", providerError("notVisibleYet"), "quick", true],
  ["a provider that is away", providerError("unavailable"), "quick", false],
  ["a provider that is away, in the patient phase", providerError("unavailable"), "send", true],
])(
  "Temporal counts %s as a failure only where someone may have to act",
  async (_, met, mode, isBenign) => {
    const { category } = await failureAt(met, mode);
    expect(category === ApplicationFailureCategory.BENIGN).toBe(isBenign);
  },
);

test.each<[AttemptMode, number, string, boolean]>([
  ["quick", 59_000, "notVisibleYet", false],
  ["quick", 60_000, "protocol", true],
  ["send", 60_000, "protocol", true],
  ["watch", 60_000, "protocol", false],
])(
  "an id that is not visible in the phase %s after %d ms is %s",
  async (mode, sinceMs, type, nonRetryable) => {
    const failure = await failureAt(providerError("notVisibleYet"), mode, sinceMs);
    expect(failure).toMatchObject({ type, nonRetryable });
  },
);

test("the members that were read last go from attempt to attempt, until newer ones are read", async () => {
  const old = { state: "Sent" };
  const leftAfter = async (met: Error, heartbeatDetails?: object) => {
    let left: unknown;
    const onHeartbeat = (details: unknown) => void (left = details);
    const fails = () => asActivity(context, () => Promise.reject(met));
    await inAttempt(fails, { heartbeatDetails }, { onHeartbeat }).catch(() => undefined);
    return left;
  };
  const place = { environment: "sandbox", account: "default" };
  const read = { state: "Read" };
  expect(await leftAfter(new NotChangedYet(read), { members: old })).toEqual({
    ...place,
    members: read,
  });
  for (const met of [new NotChangedYet(), providerError("accessDenied")])
    expect(await leftAfter(met, { members: old })).toEqual({ ...place, members: old });
  expect(await leftAfter(new NotChangedYet())).toStrictEqual(place);
});

test("a cancelled attempt ends as cancelled, and an attempt that has ended sends no heartbeat", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const cancelled = new CancelledFailure("cancelled");
  expect(await failureAt(cancelled)).toBe(cancelled);
  expect(vi.getTimerCount()).toBe(0);
});

test("an attempt that found nothing new says that this is no error, without a stack", async () => {
  const waits = inAttempt(() => asActivity(context, () => Promise.reject(new NotChangedYet())));
  const message = "No error: evi-post query is made again later";
  await expect(waits).rejects.toMatchObject({ message, stack: message, type: "unchanged" });
});

test.each([
  [1, 1, 60_000],
  [9, 1, 60_000],
  [1, 2, 60_000],
  [3, 2, 240_000],
  [30, 2, 6_000_000],
])(
  "attempt %i, which found nothing new, is made again by its policy's longest interval, growing by %i",
  async (attempt, growth, delayMs) => {
    const retryPolicy = repeatedEvery(60_000, growth);
    const waits = inAttempt(() => asActivity(context, () => Promise.reject(new NotChangedYet())), {
      attempt,
      retryPolicy,
    });
    await expect(waits).rejects.toMatchObject({ nextRetryDelay: delayMs });
    // One that is lost with its worker does not wait so long.
    expect(retryPolicy.initialInterval).toBe(1_000);
  },
);

test("an error of our own is repeated as it is; once it has lasted as long as an outage, the workflow is told", async () => {
  const hourMs = 3_600_000;
  const fail = (mode: AttemptMode, lastedMs: number) =>
    inAttempt(
      () =>
        asActivity({ ...context, mode, unavailableForMs: hourMs }, async () => {
          noteAnswered("query");
          throw new TypeError("x is undefined");
        }),
      { heartbeatDetails: { awayMs: lastedMs } },
    );
  const early = await fail("quick", hourMs / 2).catch(
    (error: unknown) => error as ApplicationFailure,
  );
  expect(early).toMatchObject({ type: "TypeError", nonRetryable: false });
  expect(early.nextRetryDelay).toBeGreaterThan(90_000);
  await expect(fail("quick", hourMs)).rejects.toMatchObject({
    type: "unavailable",
    nonRetryable: true,
    message: "trustflow query: unavailable, a defect (TypeError): see the worker's log",
  });
  // An attention says so already.
  await expect(fail("watch", hourMs)).rejects.toMatchObject({ type: "TypeError" });
});
