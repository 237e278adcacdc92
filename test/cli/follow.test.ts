// Where a process waits for a person, and where it only did until somebody terminated it.
import { expect, test } from "@jest/globals";
import type { PostalHandle } from "../../src/client.js";
import { TerminatedError } from "../../src/client/errors.js";
import type { ProcessStatus } from "../../src/contracts/status.js";
import { openAttention, resultOf } from "../../src/cli/follow.js";

const status = {
  phase: "submitting",
  attention: { id: "a1", reason: "The outcome is unknown" },
} as ProcessStatus;

function handle(open: boolean): PostalHandle {
  return {
    workflowId: "sendPostal/order-7",
    isOpen: () => Promise.resolve(open),
    async *watch() {
      yield status;
    },
    result: () => Promise.reject(new TerminatedError("sendPostal/order-7")),
  } as unknown as PostalHandle;
}

test("an open process waits for a person", async () => {
  expect(await openAttention(handle(true), status)).toBe(status.attention);
  await expect(resultOf(handle(true), {}, () => undefined)).rejects.toMatchObject({ exitCode: 5 });
});

test("a terminated process waits for nobody", async () => {
  expect(await openAttention(handle(false), status)).toBeUndefined();
  await expect(resultOf(handle(false), {}, () => undefined)).rejects.toThrow(TerminatedError);
});
