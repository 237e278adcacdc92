// A worker of another release and one of this release, side by side (docs/design.md §4): the other one waits once more before it submits.
import { afterAll, expect, test } from "vitest";
import { providerEvents } from "../../../src/contracts/shared/messages.js";
import type { Role } from "../../../packages/dev/src/stack/role.js";
import { letterInput } from "../../processes/send-postal/inputs.js";
import { eventually } from "../../harness/outages/wait.js";
import { defectiveBundle, startRelease } from "../../harness/stack/releases.js";
import { startTestStack, statusWhere } from "../../harness/stack/stack.js";
import type { TestStack } from "../../harness/stack/stack.js";

let system: TestStack | undefined;
let other: Role | undefined;

afterAll(async () => {
  await other?.stop();
  await system?.close();
}, 60_000);

test("a worker fails the task of a process that another release has run, and one of that release beside it goes on", async () => {
  // Nothing happens by itself until the end.
  system = await startTestStack({ sandboxSpeed: 1 });
  const current = system.stack.role("worker");
  const handle = await system.client.sendPostal("shared", letterInput("shared", "delivered"));
  await statusWhere(handle, ({ phase }) => phase === "tracking");
  await current.stop();
  const code = (await defectiveBundle()).replaceAll("WAITS_BEFORE", "submit");
  other = await startRelease(system, "other", code);
  const run = system.client.temporal.workflow.getHandle(handle.workflowId);
  await run.signal(providerEvents, []);
  await eventually("its task fails", async () => {
    const { events } = await run.fetchHistory();
    return events?.some(({ workflowTaskFailedEventAttributes: failed }) =>
      failed?.failure?.message?.includes("TMPRL1100"),
    );
  });
  await current.restart();
  await system.sandbox.setSpeed(60_000);
  expect(await handle.result()).toMatchObject({ outcome: "delivered" });
  expect(other.isAlive()).toBe(true);
  expect(await system.effects("shared")).toEqual({ "evi-post.submit": 1 });
}, 180_000);
