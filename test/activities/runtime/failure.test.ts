// What a provider's refusal becomes for the caller: each field named once, in the caller's spelling.
import { expect, test } from "vitest";
import {
  asActivity,
  NotChangedYet,
  noteAnswered,
  refusalOf,
} from "../../../src/activities/runtime/failure.js";
import type { AttemptMode } from "../../../src/activities/runtime/failure.js";
import { repeatedEvery } from "../../../src/workflows/runtime/activity-options.js";
import { inAttempt, providerError } from "../attempts.js";

test.each([
  ["disposableHolder.birthCity", "disposableHolder.birthCity: is required", "is required"],
  ["disposableHolder.birthCity", "birthCity is required", "is required"],
  ["disposableHolder.birthCity", "birthCityCode is required", "birthCityCode is required"],
  ["disposableHolder.birthCity", "birthCity", "was refused"],
  ["RecipientAddress.Region", "recipientaddress.region must not be empty", "must not be empty"],
  ["", "Invalid", "Invalid"],
])("the field %j with the message %j is named once", (fieldName, message, problem) => {
  const error = providerError("invalidRequest", { fields: [{ fieldName, message }] });
  expect(refusalOf(error).fields.map((field) => field.problem)).toEqual([problem]);
});

test("a refusal without a classifier shows the type of its problem document (P2 §7.2)", () => {
  const type = "https://tools.ietf.org/html/rfc9110#section-15.5.1";
  expect(refusalOf(providerError("invalidRequest", { type })).code).toBe(type);
  expect(refusalOf(providerError("invalidRequest", { type, code: "E1" })).code).toBe("E1");
  const sentence = providerError("invalidRequest", { type: "Ana lives at # 7" });
  expect(refusalOf(sentence)).not.toHaveProperty("code");
});

const context = {
  ...{ provider: "evi-post", operation: "query", environment: "sandbox", account: "default" },
  ...{ mode: "quick" as const, patienceMs: 1, unavailableForMs: 1 },
};

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
      { currentAttemptScheduledTimestampMs: lastedMs, heartbeatDetails: { awaySince: 0 } },
    );
  await expect(fail("quick", hourMs / 2)).rejects.toMatchObject({
    type: "TypeError",
    nonRetryable: false,
  });
  await expect(fail("quick", hourMs)).rejects.toMatchObject({
    type: "unavailable",
    nonRetryable: true,
    message: "trustflow query: unavailable, a defect (TypeError): see the worker's log",
  });
  // An attention says so already.
  await expect(fail("watch", hourMs)).rejects.toMatchObject({ type: "TypeError" });
});
