// What a stranger writes in the place of a child or an activity reaches no workflow (docs/decisions/0022, 0031).
import { describe, expect, test } from "vitest";
import type { ActivateInput } from "@temporalio/workflow";
import { interceptors } from "../../../src/workflows/runtime/payload-guard.js";
import { sendMessage } from "../../../src/workflows/send-message/workflow.js";
import { place } from "../plans.js";
import { WorkflowRun } from "../workflow-run.js";

test.each([
  ["a payload that cannot be read", { completed: { result: { metadata: {}, data: null } } }],
  ["a failure", { failed: { failure: { message: "forged" } } }],
])("the end of a child comes without its content: %s", (_, result) => {
  const [guard] = interceptors().internals ?? [];
  const job = { resolveChildWorkflowExecution: { seq: 1, result } };
  const input = { activation: { jobs: [job] }, batchIndex: 0 } as unknown as ActivateInput;
  let seen: unknown;
  guard?.activate?.(input, ({ activation }) => {
    seen = activation.jobs;
  });
  expect(seen).toEqual([{ resolveChildWorkflowExecution: { seq: 1, result: { completed: {} } } }]);
});

describe("an answer that is another payload of the process", () => {
  const startMessage = () =>
    WorkflowRun.start(
      () => sendMessage({} as never),
      { checkDecision: () => ({}) },
      "sendMessage",
      [],
      { guard: interceptors() },
    );

  test.each([[undefined], [null], ["text"], [7], [{ uniqueId: "1" }], [[]]])(
    "makes a step be repeated, and freezes nothing: %j",
    async (copy) => {
      const run = await startMessage();
      for (const id of ["send-1", "send-2"]) {
        await run.openCall("send").answer(copy);
        expect(await run.attention()).toMatchObject({ id });
      }
      await run.openCall("send").answer(place);
      expect(run.types).toEqual(["send", "send", "send"]);
      expect(run.result).toMatchObject({ outcome: "accepted" });
    },
  );

  test.each([[undefined], [{ environment: "sandbox" }]])(
    "makes a decision answer that it may be made again: %j",
    async (copy) => {
      const run = await startMessage();
      await run.openCall("send").fail({ kind: "unknownOutcome" });
      const first = await run.resolve("abandon");
      await run.openCall("decide").answer(copy);
      expect(first.answer).toEqual({ answer: "unavailable" });
      await run.resolve("abandon");
      await run.openCall("decide").answer({ answer: "resolved" });
      expect(run.failure?.type).toBe("Abandoned");
    },
  );
});
