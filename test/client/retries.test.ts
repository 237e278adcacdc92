// What a status shows of the calls that Temporal makes again, and of where a call is made before its first answer.
import { expect, test } from "vitest";
import { isCalling, withOpenCalls } from "../../src/client/retries.js";
import type { ProcessStatus } from "../../src/contracts/shared/status.js";
import type { OpenCall } from "../../src/temporal/visibility/open-calls.js";

const nextAttemptAt = new Date("2026-01-01T00:00:00.000Z");
const known: ProcessStatus = {
  ...{ process: "sendPostal", id: "x", environment: "unknown", account: "default" },
  ...{ phase: "submitting", references: {}, timeline: [] },
};
const problem = {
  ...{ kind: "unavailable", provider: "evi-post", operation: "submit", host: "api.example" },
  ...{ environment: "sandbox", account: "other", status: 503, requestId: "r-1", fields: [] },
  problem: "answered 503",
  detail: "Ana lives at Calle Mayor 1",
};

const call = (lastFailure: OpenCall["lastFailure"], more: Partial<OpenCall> = {}): OpenCall => ({
  ...{ activity: "submit", attempt: 3, nextAttemptAt, heartbeat: undefined, lastFailure },
  ...more,
});
const failed = call({ type: "unavailable", detail: problem });

test("a failed call shows host, cause, request and next attempt, and nothing that the provider said", () => {
  expect(withOpenCalls(known, [failed]).retrying).toEqual([
    {
      ...{ provider: "evi-post", operation: "submit", host: "api.example" },
      ...{ cause: "answered 503", requestId: "r-1" },
      ...{ attempt: 3, nextAttemptAt: nextAttemptAt.toISOString() },
    },
  ]);
});

test.each([
  ["Timeout", "the attempt did not end: its worker may be gone"],
  ["DocumentStoreFullError", "the document store is full"],
  ["DocumentStoreUnavailableError", "the document store cannot be used"],
  ["unavailable", "unavailable"],
  ["TypeError", "a defect (TypeError): see the worker's log"],
  ["<b> forged", "a defect: see the worker's log"],
])("an attempt that ended with %j and without a problem has a cause too", (type, cause) => {
  const [found] = withOpenCalls(known, [call({ type, detail: undefined })]).retrying ?? [];
  expect(found).toMatchObject({ provider: "trustflow", operation: "submit", cause });
});

test.each([
  ["without a failed attempt", undefined, true],
  ["whose provider shows no change", { type: "unchanged", detail: problem }, false],
  ["whose provider does not show the item yet", { type: "notVisibleYet", detail: problem }, false],
  [
    "whose answer was lost, and is only looked for",
    { type: "unknownOutcome", detail: problem },
    false,
  ],
  ["whose failure has another shape", { type: "unavailable", detail: { kind: 7 } }, true],
])("a call %s is not being retried", (_, lastFailure, calling) => {
  const calls = [call(lastFailure)];
  expect(withOpenCalls(known, calls)).not.toHaveProperty("retrying");
  expect(isCalling(calls)).toBe(calling);
});

test("before the first answer the heartbeat says where the call is made; later the process knows better", () => {
  const heartbeat = { environment: "sandbox", account: "other", awayMs: 1 };
  const calls = [call(undefined), call(undefined, { heartbeat })];
  expect(withOpenCalls(known, calls)).toMatchObject({ environment: "sandbox", account: "other" });
  const answered: ProcessStatus = { ...known, environment: "production" };
  expect(withOpenCalls(answered, calls)).toEqual(answered);
  expect(withOpenCalls({ ...known, phase: "ended" }, [failed])).not.toHaveProperty("retrying");
});
