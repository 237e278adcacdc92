// `serveNotice` on the real dev server: what Temporal does with children where a process is reset, terminated and started again
// (docs/decisions/0031). Each of them may cause no second effect.
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { WorkflowNotFoundError } from "@temporalio/client";
import type { HandleOf } from "../../../../src/client.js";
import { InputMismatchError, InvalidInputError } from "../../../../src/client.js";
import { eventually } from "../../../harness/outages/wait.js";
import { reset, resetToTheStart, tasksOf } from "../../../harness/stack/reset.js";
import { historyOf, startTestStack, statusWhere } from "../../../harness/stack/stack.js";
import type { TestStack } from "../../../harness/stack/stack.js";
import { trustflow } from "../../../cli/run.js";
import { fastSettings, serveInput } from "../../../processes/serve-notice/inputs.js";

type Handle = HandleOf<"serveNotice">;

let system: TestStack;
beforeAll(async () => {
  system = await startTestStack({ sandboxSpeed: 30_000 });
}, 120_000);
afterAll(() => system?.close(), 60_000);

const noticeOf = ({ id }: Handle) => system.client.handle(`sendNotice/${id}.notice`);
const postOf = ({ id }: Handle) => system.client.handle(`sendPostal/${id}.post`);
const temporal = (workflowId: string) => system.client.temporal.workflow.getHandle(workflowId);
const both = { "evi-notice.submit": 1, "evi-post.submit": 1 };

async function start(id: string, words: string): Promise<Handle> {
  return system.client.serveNotice(id, serveInput(id, words));
}

async function tracked(id: string, words: string): Promise<Handle> {
  const handle = await start(id, words);
  await statusWhere(handle, ({ references }) => references["noticeUniqueId"] !== undefined);
  return handle;
}

async function postStarted(handle: Handle): Promise<void> {
  await eventually("the post", () =>
    postOf(handle)
      .isOpen()
      .then(
        () => true,
        () => false,
      ),
  );
}

async function close(id: string, outcome: string): Promise<void> {
  const item = await eventually("the delivery", async () => {
    const { items } = await system.sandbox.items({ intent: id });
    return items.find(({ state }) => state === "Delivered")?.id;
  });
  await system.sandbox.move(item, { state: "Closed", outcome });
}

/** The newest run of a process: another one shows that it was started again. */
const runOf = async (workflowId: string) => (await temporal(workflowId).describe()).runId;

/** The first workflow task that was completed after the event of the first child's start. */
async function taskAfterStart(handle: Handle) {
  const events = (await historyOf(system, handle.workflowId)).events ?? [];
  const started = events.findIndex(
    ({ childWorkflowExecutionStartedEventAttributes: child }) => child,
  );
  const startedId = Number(events[started]?.eventId);
  const tasks = await tasksOf(system.client, handle.workflowId);
  return tasks.find((id) => Number(id) > startedId);
}

describe("a reset", () => {
  test("E1: of the parent to before the start of the notice: the notice is joined", async () => {
    const handle = await tracked("reset-before", "open/delivered");
    const { workflowId } = noticeOf(handle);
    const run = await runOf(workflowId);
    await resetToTheStart(system, handle.workflowId);
    await close(handle.id, "Refused");
    expect((await handle.result()).outcome).toBe("servedByPost");
    expect(await runOf(workflowId)).toBe(run);
    expect(await system.effects(handle.id)).toEqual(both);
  }, 120_000);

  test("E2: of the parent to after it: the process goes on", async () => {
    const handle = await tracked("reset-after", "open/delivered");
    const { workflowId } = noticeOf(handle);
    const run = await runOf(workflowId);
    const after = await taskAfterStart(handle);
    if (after === undefined) throw new Error("no task after the start");
    await reset(system.client, { workflowId: handle.workflowId }, after);
    await close(handle.id, "Refused");
    expect((await handle.result()).outcome).toBe("servedByPost");
    expect(await runOf(workflowId)).toBe(run);
    expect(await system.effects(handle.id)).toEqual(both);
  }, 120_000);

  test("of the parent to the start, with a post on its way: both are joined", async () => {
    const handle = await start("reset-with-post", "refused/delivered");
    await postStarted(handle);
    const ids = [noticeOf(handle), postOf(handle)].map(({ workflowId }) => workflowId);
    const runs = await Promise.all(ids.map(runOf));
    await resetToTheStart(system, handle.workflowId);
    expect((await handle.result()).outcome).toBe("servedByPost");
    expect(await Promise.all(ids.map(runOf))).toEqual(runs);
    expect(await system.effects(handle.id)).toEqual(both);
  }, 120_000);

  test("E3: of the notice: the parent follows its new run", async () => {
    const handle = await tracked("reset-child", "open/delivered");
    await resetToTheStart(system, noticeOf(handle).workflowId);
    await close(handle.id, "Read");
    expect((await handle.result()).outcome).toBe("servedByNotice");
    expect(await system.effects(handle.id)).toEqual({ "evi-notice.submit": 1 });
  }, 120_000);
});

describe("a parent that is terminated", () => {
  test("E4: leaves its children, and a new start joins both", async () => {
    const handle = await start("terminated", "refused/delivered");
    await postStarted(handle);
    await temporal(handle.workflowId).terminate();
    expect(await postOf(handle).isOpen()).toBe(true);
    const again = await start("terminated", "refused/delivered");
    expect((await again.result()).outcome).toBe("servedByPost");
    expect(await system.effects(handle.id)).toEqual(both);
  }, 120_000);

  test("E5: with a notice that has ended: a new start takes its result", async () => {
    const handle = await tracked("ended", "open/delivered");
    await temporal(handle.workflowId).terminate();
    await close(handle.id, "Read");
    await noticeOf(handle).result();
    const again = await start("ended", "open/delivered");
    const { outcome, notice } = await again.result();
    expect([outcome, notice?.outcome]).toEqual(["servedByNotice", "read"]);
    expect(await system.effects(handle.id)).toEqual({ "evi-notice.submit": 1 });
  }, 120_000);
});

test("a cancelled post is not sent by a later run either", async () => {
  const handle = await tracked("cancelled", "open/delivered");
  expect(await handle.cancel()).toEqual({ answer: "cancelled" });
  await temporal(handle.workflowId).terminate();
  const again = await start("cancelled", "open/delivered");
  await close(handle.id, "Refused");
  const { outcome, post } = await again.result();
  expect([outcome, post?.outcome]).toEqual(["notServed", "cancelledBeforeSubmit"]);
  expect(await system.effects(handle.id)).toEqual({ "evi-notice.submit": 1 });
}, 120_000);

describe("an erasure", () => {
  const erase = (id: string) => trustflow(["erase", id, "--by", "Ana"], { env: system.stack.env });

  test("is refused while a child is open, and erases nothing", async () => {
    const handle = await tracked("kept", "open/delivered");
    await temporal(handle.workflowId).terminate();
    const { code, stderr } = await erase(handle.workflowId);
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("sendNotice/kept.notice is still open"),
    });
    expect((await temporal(handle.workflowId).describe()).status.name).toBe("TERMINATED");
    await close(handle.id, "Read");
    await noticeOf(handle).result();
  }, 120_000);

  test("erases both children with it, and the id sends nothing again", async () => {
    const handle = await start("erased", "refused/delivered");
    await handle.result();
    expect(await erase(handle.workflowId)).toMatchObject({ code: 0 });
    for (const { workflowId } of [handle, noticeOf(handle), postOf(handle)]) {
      await expect(temporal(workflowId).describe()).rejects.toThrow(WorkflowNotFoundError);
      const { code, stdout } = await trustflow(["erasures", workflowId, "--json"], {
        env: system.stack.env,
      });
      expect({ code, rows: JSON.parse(stdout).length }).toEqual({ code: 0, rows: 1 });
    }
    await expect(start("erased", "refused/delivered")).rejects.toThrow(InvalidInputError);
    expect(await system.effects(handle.id)).toEqual(both);
  }, 120_000);
});

test("E6: an id of a child that stands for another input refuses the process", async () => {
  const { notice } = serveInput("taken", "open");
  await system.client.sendNotice("taken.notice", { ...notice, subject: "Another" });
  const handle = await start("taken", "open/delivered");
  await expect(handle.result()).rejects.toThrow(InputMismatchError);
}, 60_000);

test("the secrets of both reach their providers", async () => {
  const response = { evidenceAccessControlChallengeResponse: "Rex" };
  const challenge = {
    evidenceAccessControlMethod: "Challenge",
    evidenceAccessControlChallenge: "The dog",
    ...response,
  } as const;
  const { notice, post } = serveInput("secrets", "refused/delivered");
  const handle = await system.client.serveNotice("secrets", {
    notice: { ...notice, ...challenge },
    post: { ...post, options: challenge },
    settings: fastSettings,
  });
  expect((await handle.result()).outcome).toBe("servedByPost");
}, 120_000);
