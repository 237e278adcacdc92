// What an update answers whose own call has failed (docs/reading-the-specification.md §9).
import { ActivityFailure, ApplicationFailure, TimeoutFailure } from "@temporalio/common";
import { expect, test } from "vitest";
import { answerTo } from "../../../src/workflows/runtime/activity-errors.js";
import { unavailable } from "../workflow-run.js";

const failed = (cause: Error) =>
  answerTo(() =>
    Promise.reject(new ActivityFailure("failed", "cancel", "1", "TIMEOUT", undefined, cause)),
  );

const away = ApplicationFailure.create({ message: "away", details: [unavailable] });

test.each([
  [
    "no worker has begun in its time",
    new TimeoutFailure("", undefined, "SCHEDULE_TO_START"),
    "unavailable",
  ],
  ["was not over in its time", new TimeoutFailure("", undefined, "SCHEDULE_TO_CLOSE"), "unknown"],
  ["was lost with its worker", new TimeoutFailure("", undefined, "HEARTBEAT"), "unknown"],
  ["was not sent", away, "unavailable"],
] as const)("a call that %s", async (_, cause, answer) => {
  expect(await failed(cause)).toEqual({ answer });
});
