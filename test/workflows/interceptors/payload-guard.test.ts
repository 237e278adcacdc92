// The event of a child's end, which a worker of a stranger may write, reaches no workflow (docs/decisions/0031).
import { expect, test } from "@jest/globals";
import type { ActivateInput } from "@temporalio/workflow";
import { interceptors } from "../../../src/workflows/interceptors/payload-guard.js";

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
