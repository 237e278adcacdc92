// Replays recorded histories with workflows that wait once more before one activity.
import { beforeAll, describe, expect, test } from "vitest";
import { KeyRing } from "../../src/crypto/key-ring.js";
import type { PathsOf } from "../harness/histories/path-run.js";
import { readRecordings, recordingRing, type Recording } from "../harness/histories/recordings.js";
import { activitiesIn, replay } from "../harness/histories/replaying.js";
import { defectiveBundle } from "../harness/stack/releases.js";

/**
 * For each activity before which the workflows wait once more, a history that has it must fail, and one that has it not must not. Two
 * of them are enough: that every recording is replayed is shown by the first test.
 */
export function testOneMoreTimer(all: PathsOf[]): void {
  let code: string;
  const ring = KeyRing.parse(recordingRing);
  const changedBefore = (activity: string) => code.replaceAll("WAITS_BEFORE", () => activity);
  const failures = async (met: ReturnType<typeof replay>) =>
    [...(await met)].flatMap(([id, error]) => (error === undefined ? [] : [id])).toSorted();

  beforeAll(async () => {
    code = await defectiveBundle();
  }, 60_000);

  describe.each(all)("$process with one more timer", ({ process: processName, activities }) => {
    const own = readRecordings(processName);

    test("before an activity that is never called it replays everything", async () => {
      const met = replay(changedBefore("never"), ring, own);
      expect((await met).size).toBe(own.length);
      expect(await failures(met)).toEqual([]);
    }, 60_000);

    test.each(activities)(
      "before %s it fails on a history that has it, and not on another",
      async (activity) => {
        const has = (one: Recording) => activitiesIn(one).has(activity);
        const [having, other] = [own.find(has), own.find((one) => !has(one))];
        const two = [having, other].filter((one) => one !== undefined);
        expect(await failures(replay(changedBefore(activity), ring, two))).toEqual([
          having?.workflowId,
        ]);
      },
      60_000,
    );
  });
}
