// Each recorded answer of an activity is of the kind that the guard lets through.
import { expect, test } from "vitest";
import { defaultPayloadConverter } from "@temporalio/common";
import { KeyRing } from "../../../src/crypto/key-ring.js";
import { EncryptionCodec } from "../../../src/temporal/codec/codec.js";
import { isAnswerOf } from "../../../src/workflows/runtime/answer-members.js";
import { allPaths } from "../../harness/histories/paths.js";
import {
  readRecordings,
  recordingRing,
  type Recording,
} from "../../harness/histories/recordings.js";

const codec = new EncryptionCodec(KeyRing.parse(recordingRing));

async function refusedIn({ workflowId, history }: Recording): Promise<string[]> {
  const events = history.events ?? [];
  const refused = await Promise.all(
    events.map(async ({ activityTaskCompletedEventAttributes: completed }) => {
      const { scheduledEventId, result } = completed ?? {};
      const of = events.find(({ eventId }) => String(eventId) === String(scheduledEventId));
      const scheduled = of?.activityTaskScheduledEventAttributes;
      if (!scheduled) return [];
      const [payload] = await codec.decode(result?.payloads ?? []);
      const answer = payload && defaultPayloadConverter.fromPayload(payload);
      const name = scheduled.activityType?.name ?? "";
      return isAnswerOf(scheduled.taskQueue?.name ?? "", name, answer)
        ? []
        : [`${workflowId} ${name} ${JSON.stringify(answer)}`];
    }),
  );
  return refused.flat();
}

test("each answer of each recording is let through", async () => {
  const recordings = allPaths.flatMap(({ process: name }) => readRecordings(name));
  expect(recordings.length).toBeGreaterThan(0);
  const refused = await Promise.all(recordings.map(refusedIn));
  expect(refused.flat()).toEqual([]);
});

test("an activity's answer is no answer of another one; what is not known may be anything", () => {
  const asked = { snapshot: {}, documents: [], missing: 0 };
  expect(isAnswerOf("trustflow.evi-post", "ask", asked)).toBe(true);
  expect(isAnswerOf("trustflow.evi-post", "submit", asked)).toBe(false);
  expect(isAnswerOf("trustflow.video-identification", "ask", asked)).toBe(false);
  expect(isAnswerOf("trustflow.video-identification", "keepAudit", undefined)).toBe(true);
  expect(isAnswerOf("trustflow.video-identification", "keepAudit", {})).toBe(false);
  expect(isAnswerOf("trustflow", "withdraw", asked)).toBe(false);
  expect(isAnswerOf("trustflow", "later", null)).toBe(true);
});
