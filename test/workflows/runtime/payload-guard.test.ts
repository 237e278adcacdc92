// What a stranger writes in the place of a child or an activity reaches no workflow (docs/decisions/0022, 0031).
import { describe, expect, test } from "vitest";
import type { ActivateInput } from "@temporalio/workflow";
import type { ProcessStatus } from "../../../src/contracts/shared/status.js";
import { interceptors } from "../../../src/workflows/runtime/payload-guard.js";
import { sendMessage } from "../../../src/workflows/send-message/workflow.js";
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
  const sent = { environment: "sandbox", account: "default" };
  const startMessage = () =>
    WorkflowRun.start(
      () => sendMessage({} as never),
      { checkDecision: () => ({}) },
      "sendMessage",
      [],
      { guard: interceptors() },
    );
  const attentionOf = async (run: WorkflowRun) =>
    ((await run.query("status")) as ProcessStatus).attention;

  test.each([[undefined], [null], ["text"], [7], [{ uniqueId: "1" }], [[]]])(
    "makes a step be repeated, and freezes nothing: %j",
    async (copy) => {
      const run = await startMessage();
      await run.open[0]?.answer(copy);
      expect((await attentionOf(run))?.id).toBe("send-1");
      await run.open[0]?.answer(copy);
      expect((await attentionOf(run))?.id).toBe("send-2");
      await run.open[0]?.answer(sent);
      expect(run.types).toEqual(["send", "send", "send"]);
      expect(run.result).toMatchObject({ outcome: "accepted" });
    },
  );

  test.each([[undefined], [{ environment: "sandbox" }]])(
    "makes a decision answer that it may be made again: %j",
    async (copy) => {
      const run = await startMessage();
      await run.open[0]?.fail({ kind: "unknownOutcome" });
      const given = { attention: "send-1", decision: "abandon", by: "Ann" };
      const first = await run.update("resolve", given);
      await run.open.find(({ type }) => type === "decide")?.answer(copy);
      expect(first.answer).toEqual({ answer: "unavailable" });
      await run.update("resolve", given);
      await run.open.find(({ type }) => type === "decide")?.answer({ answer: "resolved" });
      expect(run.failure?.type).toBe("Abandoned");
    },
  );
});
