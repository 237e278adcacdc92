// Processes with an open attention, and terminated ones; the outcomes and updates of each process.
import { expect, test } from "vitest";
import type { PostalHandle } from "../../../src/client.js";
import { TerminatedError } from "../../../src/errors/index.js";
import type { ProcessStatus } from "../../../src/contracts/shared/status.js";
import { handles } from "../../../src/client/processes.js";
import { requireCapability } from "../../../src/cli/context.js";
import { allOutcomes, openAttention, resultOf } from "../../../src/cli/processes/follow.js";

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

test("an open process needs an operator decision", async () => {
  expect(await openAttention(handle(true), status)).toEqual({
    workflowId: "sendPostal/order-7",
    attention: status.attention,
  });
  await expect(resultOf(handle(true), {}, () => undefined)).rejects.toMatchObject({ exitCode: 5 });
});

test("the decision of a process that it has started is asked for under that id", async () => {
  const child = { process: "sendNotice", id: "order-7.notice", attention: status.attention };
  const parent = { phase: "tracking", children: [child] } as unknown as ProcessStatus;
  expect(await openAttention(handle(true), parent)).toEqual({
    workflowId: "sendNotice/order-7.notice",
    attention: status.attention,
  });
});

test("a terminated process needs no decision", async () => {
  expect(await openAttention(handle(false), status)).toBeUndefined();
  await expect(resultOf(handle(false), {}, () => undefined)).rejects.toThrow(TerminatedError);
});

test("each outcome of the processes can be expected once", () => {
  expect(allOutcomes()).toEqual(expect.arrayContaining(["delivered", "issued", "accepted"]));
  expect(allOutcomes().filter((outcome) => outcome === "expired")).toHaveLength(1);
});

const handleOf = (name: keyof typeof handles) =>
  new handles[name]({ workflow: { getHandle: () => ({}) } } as never, name, "x");

test.each([
  ["sendPostal", "cancel", "cancellation", true],
  ["issueCertificate", "cancel", "cancellation", false],
  ["sendMessage", "provideAssertion", "assertion", false],
] as const)("whether %s takes %s is what its handle can do", (name, method, what, isTaken) => {
  const handle = handleOf(name);
  if (isTaken) expect(requireCapability(handle, method, what)).toBe(handle);
  else
    expect(() => requireCapability(handle, method, what)).toThrow(
      expect.objectContaining({ exitCode: 2, message: `${name}/x accepts no ${what}` }),
    );
});
