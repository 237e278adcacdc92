// The look of a process at another one: what counts as a change, whose input has to be whose, and what stays out of the history.
import { expect, test } from "vitest";
import { createLookActivities } from "../../../src/activities/runtime/look.js";
import type { LookRequest, ProcessLooks } from "../../../src/activities/runtime/look.js";
import { comparedInput } from "../../../src/contracts/definition/secret-fields.js";
import { SendNoticeInput } from "../../../src/contracts/send-notice/contract.js";
import type { LookedAt } from "../../../src/contracts/shared/process-look.js";
import type { ProcessStatus } from "../../../src/contracts/shared/status.js";
import { UnknownKeyError } from "../../../src/crypto/errors.js";
import { canonicalJson } from "../../../src/crypto/json-digest.js";
import { contentOf } from "../../../src/documents/content.js";
import { noticeInput } from "../../processes/send-notice/inputs.js";
import { trackedStatus } from "../../harness/stack/tracked-status.js";
import { inAttempt } from "../attempts.js";

const workflowId = "sendNotice/order-1.notice";
const startedAt = "2026-01-01T00:00:00.000Z";
const at = { at: startedAt, source: "process" as const, event: "Submitted" };
const shown = trackedStatus("sendNotice", "order-1.notice", {
  ...{ references: { uniqueId: "u-1" }, timeline: [at] },
});
const open = (more: Partial<ProcessStatus> = {}): LookedAt => ({
  run: "open",
  startedAt,
  status: { ...shown, ...more },
});

const digestOf = (input: object) => canonicalJson(comparedInput(SendNoticeInput, input, contentOf));

const retryPolicy = { backoffCoefficient: 1, maximumInterval: 300_000 };

function lookAt(found: LookedAt, more: Partial<LookRequest> = {}, first?: unknown) {
  const activities = activitiesWith({ look: async () => found, firstInput: async () => first });
  const request = { workflowId, account: "default", wait: "now" as const, ...more };
  return inAttempt(() => activities.lookAt(request), { retryPolicy });
}

function activitiesWith(looks: Partial<ProcessLooks>) {
  const deps = {
    environmentOf: () => "sandbox",
    patienceMs: 1,
    digests: {
      of: canonicalJson,
      same: (value: unknown, stored: string) => canonicalJson(value) === stored,
    },
  };
  const asksWorker = async () => {
    throw new Error("no worker answers");
  };
  const none = { look: asksWorker, firstInput: asksWorker, isOpen: async () => true };
  return createLookActivities(deps, { ...none, ...looks });
}

const fingerprintOf = async (found: LookedAt) => (await lookAt(found)).fingerprint;

test("what has not changed is asked for again by the server, at its own interval", async () => {
  const seen = await fingerprintOf(open());
  const again = lookAt(open(), { wait: "change", seen });
  await expect(again).rejects.toMatchObject({ type: "unchanged", category: "BENIGN" });
  await expect(again).rejects.toMatchObject({ nextRetryDelay: 300_000 });
});

test.each<[string, Partial<ProcessStatus>]>([
  ["a state", { state: "Sent" }],
  ["an outcome", { outcome: "read" }],
  ["a phase", { phase: "affidavits" }],
  ["a reference", { references: { uniqueId: "u-1", other: "o" } }],
  [
    "an attention",
    {
      attention: {
        id: "submit-1",
        kind: "unavailable",
        step: "submit",
        since: startedAt,
        reason: "no answer",
        decisions: ["retry"],
      },
    },
  ],
])("%s is a change", async (_, more) => {
  expect(await fingerprintOf(open(more))).not.toBe(await fingerprintOf(open()));
});

test("the text of a wait and a timeline are none", async () => {
  const more = { waitingFor: "news", until: startedAt, timeline: [] };
  expect(await fingerprintOf(open(more))).toBe(await fingerprintOf(open()));
});

test("a further run that fails as the one before is another end", async () => {
  const failure = { type: "Terminated", message: "", fields: [] };
  const failed = (began: string): LookedAt => ({ run: "failed", startedAt: began, failure });
  expect(await fingerprintOf(failed("2026-01-02T00:00:00.000Z"))).not.toBe(
    await fingerprintOf(failed(startedAt)),
  );
});

test("no timeline goes into the history of the process that looks", async () => {
  const result = { outcome: "read", timeline: [at] };
  expect((await lookAt(open())).found).toMatchObject({ status: { timeline: [] } });
  expect((await lookAt({ run: "completed", startedAt, result })).found).toEqual({
    run: "completed",
    startedAt,
    result: { outcome: "read" },
  });
});

test.each([
  [true, "open"],
  [false, "ended"],
])("whether a process is open (%s) is answered where no worker answers", async (isOpen, run) => {
  const { lookAt: ask } = activitiesWith({ isOpen: async () => isOpen });
  const request = { workflowId, account: "default", wait: "now", only: "run" } as const;
  expect(await inAttempt(() => ask(request))).toEqual({ found: { run } });
});

test("what only a missing key can open is looked at again by the server: each failure that the workflow sees adds events", async () => {
  const { lookAt: ask } = activitiesWith({
    look: async () => {
      throw new UnknownKeyError("k2");
    },
  });
  const looked = inAttempt(() => ask({ workflowId, account: "default", wait: "change" }));
  await expect(looked).rejects.toMatchObject({ type: "unavailable", nonRetryable: false });
});

test("a process that was there has to have the same input, but for its secrets and settings", async () => {
  const input = noticeInput("order-1", "read");
  const digest = digestOf(input);
  const sealed = {
    ...input,
    evidenceAccessControlChallengeResponse: "trustflow-sealed:abc",
    settings: { pollIntervalSeconds: 9 },
  };
  await expect(lookAt(open(), { digest }, sealed)).resolves.toBeDefined();
  for (const other of [{ ...input, subject: "another" }, undefined, "text"])
    await expect(lookAt(open(), { digest }, other)).rejects.toMatchObject({
      type: "InputMismatch",
      nonRetryable: true,
    });
});
