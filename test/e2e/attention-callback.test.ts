// A process with an open attention still receives its callbacks, and each callback makes it try at once instead of at the
// next turn of its patient phase (docs/design.md §6).
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { letterInput } from "../processes/send-postal/inputs.js";
import { eventually } from "../harness/outages/wait.js";
import { startTestStack, statusWhere } from "../harness/stack/stack.js";
import type { TestStack } from "../harness/stack/stack.js";

let system: TestStack;

beforeAll(async () => {
  const env = { TRUSTFLOW_ATTENTION__RETRY_SECONDS: "3600" };
  system = await startTestStack({ sandboxSpeed: 1, env });
}, 120_000);
afterAll(() => system?.close(), 60_000);

test("a letter with an open attention is queried as soon as a callback comes, although the next try is an hour away", async () => {
  const { id } = await system.sandbox.addFault({
    operation: "evi-post.query",
    kind: "reject",
    status: 400,
    times: "always",
    lookupKey: "heard",
  });
  const input = letterInput("heard", "delivered");
  const handle = await system.client.sendPostal("heard", input);
  const { attention } = await statusWhere(handle, (status) => status.attention !== undefined);
  expect(attention).toMatchObject({ kind: "protocol", step: "ask" });
  // The patient phase has looked in vain too: its next look is an hour off.
  await eventually("the look of the patient phase", async () =>
    (await system.sandbox.faults()).some((fault) => fault.id === id && fault.fired >= 2),
  );
  await system.sandbox.removeFault(id);

  await system.sandbox.advance(86_400_000);
  const { timeline } = await statusWhere(handle, (status) => status.attention === undefined);
  expect(timeline.map(({ source }) => source)).toContain("callback");
  expect(await system.effects("heard")).toEqual({ "evi-post.submit": 1 });
});
