// What of the processes only the whole system shows: Temporal's children where one is reset, the erasure of a family, an event that the
// relay can address only with what a worker has found, an account that is added, and one whose crowd does not hold up another's calls. Their
// ways are the paths of test/processes, their accidents those of the simulation.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WorkflowNotFoundError } from "@temporalio/client";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "smol-toml";
import type { HandleOf, PostalHandle } from "../../../src/client.js";
import { InvalidInputError } from "../../../src/client.js";
import { commandLine } from "../../cli/in-process.js";
import { eventually } from "../../harness/outages/wait.js";
import { callbackAddress } from "../../harness/stack/inbox.js";
import { reset, resetToTheStart, tasksOf } from "../../harness/stack/reset.js";
import { startTestStack, statusWhere } from "../../harness/stack/stack.js";
import type { TestStack } from "../../harness/stack/stack.js";
import { letterInput } from "../../processes/send-postal/inputs.js";
import { serveInput } from "../../processes/serve-notice/inputs.js";
import { conferenceOf, identityInput } from "../../processes/verify-identity/inputs.js";

let system: TestStack;
beforeAll(async () => {
  system = await startTestStack({
    sandboxSpeed: 300_000,
    // Far below what a crowd asks for, so that its calls wait in the queue.
    env: { TRUSTFLOW_WORKER__REQUESTS_PER_SECOND: "5" },
  });
}, 120_000);
afterAll(() => system?.close(), 60_000);

const temporal = (workflowId: string) => system.client.temporal.workflow.getHandle(workflowId);

describe("serveNotice, whose children are processes of their own (docs/decisions/0031)", () => {
  type Handle = HandleOf<"serveNotice">;
  const noticeOf = ({ id }: Handle) => system.client.handle(`sendNotice/${id}.notice`);
  const postOf = ({ id }: Handle) => system.client.handle(`sendPostal/${id}.post`);
  const start = (id: string, words: string): Promise<Handle> =>
    system.client.serveNotice(id, serveInput(id, words));

  async function tracked(id: string): Promise<Handle> {
    const handle = await start(id, "open/delivered");
    await statusWhere(handle, ({ references }) => references["noticeUniqueId"] !== undefined);
    return handle;
  }

  /** The provider closes the notice as read. */
  async function close(intent: string): Promise<void> {
    const item = await eventually("the delivery", async () => {
      const { items } = await system.sandbox.items({ intent });
      return items.find(({ state }) => state === "Delivered")?.id;
    });
    await system.sandbox.move(item, { state: "Closed", outcome: "Read" });
  }

  test("a reset of the notice: the parent follows its new run", async () => {
    const handle = await tracked("reset-child");
    await resetToTheStart(system, noticeOf(handle).workflowId);
    await close(handle.id);
    expect((await handle.result()).outcome).toBe("servedByNotice");
    expect(await system.effects(handle.id)).toEqual({ "evi-notice.submit": 1 });
  }, 120_000);

  /** To the first, the middle and the last workflow task that its present run has completed. */
  async function resetToTasks(
    { workflowId }: Handle,
    isDone: () => Promise<unknown>,
  ): Promise<void> {
    const { runId } = await temporal(workflowId).describe();
    const tasks = await tasksOf(system.client, workflowId, runId);
    for (const at of new Set([0, tasks.length >> 1, tasks.length - 1])) {
      await reset(system.client, { workflowId, runId }, tasks[at]!);
      await isDone();
    }
  }

  test("a reset of the parent, open and finished: each child is one, and sends once", async () => {
    const open = await tracked("reset-parent");
    await resetToTasks(open, () =>
      statusWhere(open, ({ references }) => references["noticeUniqueId"] !== undefined),
    );
    await close(open.id);
    expect((await open.result()).outcome).toBe("servedByNotice");
    expect(await system.effects(open.id)).toEqual({ "evi-notice.submit": 1 });

    const finished = await start("reset-finished", "refused/delivered");
    await finished.result();
    await resetToTasks(finished, async () =>
      expect((await finished.result()).outcome).toBe("servedByPost"),
    );
    const both = { "evi-notice.submit": 1, "evi-post.submit": 1 };
    expect(await system.effects(finished.id)).toEqual(both);
  }, 240_000);

  const run = (args: string[]) => commandLine(args, { env: system.stack.env });

  test("an erasure takes both children with it, and the id sends nothing again", async () => {
    const handle = await start("erased", "refused/delivered");
    await handle.result();
    expect(await run(["erase", handle.workflowId, "--by", "Ana"])).toMatchObject({ code: 0 });
    for (const { workflowId } of [handle, noticeOf(handle), postOf(handle)]) {
      await expect(temporal(workflowId).describe()).rejects.toThrow(WorkflowNotFoundError);
      const { code, stdout } = await run(["erasures", workflowId, "--json"]);
      expect({ code, rows: JSON.parse(stdout).length }).toEqual({ code: 0, rows: 1 });
    }
    await expect(start("erased", "refused/delivered")).rejects.toThrow(InvalidInputError);
    const both = { "evi-notice.submit": 1, "evi-post.submit": 1 };
    expect(await system.effects(handle.id)).toEqual(both);
  }, 120_000);
});

const LIMIT_MS = 50_000;
const CROWD = 60;
const bySecond = { account: "second" };
/** Nothing but an event ends a call of this account: its conference data show no state. */
const stateless = { account: "stateless", apiKey: "stateless-api-key" };

const submitted = async (id: string) => Object.keys(await system.effects(id)).length > 0;

test("an account that the configuration file gets serves without a restart", async () => {
  const { stack, client } = system;
  const { directory, logDirectory } = stack;
  const env = stack.envOf("worker");
  const secret = async (name: string, text: string) => {
    await writeFile(join(directory, name), text);
    return { file: join(directory, name) };
  };
  const name = "TRUSTFLOW_ACCOUNTS__DEFAULT__";
  const accounts = {
    second: {
      "evi-post": {
        baseUrl: env[`${name}EVI_POST__BASE_URL`],
        username: env[`${name}EVI_POST__USERNAME`],
        password: await secret("password", env[`${name}EVI_POST__PASSWORD`] ?? ""),
      },
    },
    stateless: {
      "video-identification": {
        baseUrl: env[`${name}VIDEO_IDENTIFICATION__BASE_URL`],
        apiKey: await secret("api-key", stateless.apiKey),
      },
    },
  };
  await writeFile(join(directory, "trustflow.toml"), stringify({ accounts }));
  const log = () => readFile(join(logDirectory, "worker.log"), "utf8");
  const isRead = async () => (await log()).includes("Accounts were read again");
  await eventually("it is read", isRead, LIMIT_MS);
  await client.sendPostal("by-second", letterInput("by-second", "delivered", bySecond));
  await eventually("it is submitted", () => submitted("by-second"), LIMIT_MS);
});

test("verifyIdentity: an event that has its token and nothing else ends its call; forged ones end none, and hold up nothing (P1 §6.1)", async () => {
  // A call takes three seconds, and its token is good for eighteen.
  await system.sandbox.setSpeed(100);
  const { account, apiKey } = stateless;
  const seldom = { account, settings: { pollIntervalSeconds: 3_600 } };
  const address = callbackAddress(system, { provider: "video-identification", account });
  await system.sandbox.putAccount(account, { password: account, apiKey, closeEventUrl: address });
  const start = (id: string, words: string) =>
    system.client.verifyIdentity(id, identityInput(id, words, seldom));
  const handle = await start("token-alone", "token-alone~open");
  const other = await start("still-going-on", "open");
  for (const one of [handle, other])
    await statusWhere(one, ({ waitingFor }) => waitingFor === "the end of the call");
  for (const token of ["eyJh.eyJi.one", "eyJh.eyJi.two", "eyJh.eyJi.three"]) {
    const body = JSON.stringify({ message: { token } });
    expect((await fetch(address, { method: "POST", body })).status).toBe(204);
  }
  const conference = conferenceOf("token-alone", "token-alone~open");
  await system.sandbox.move(conference, { state: "closed" });
  const result = await handle.result();
  expect(result.outcome).toBe("closed");
  expect(result.timeline.filter(({ source }) => source === "callback")).toHaveLength(1);
  const { timeline, phase } = await other.status();
  expect([phase, timeline.filter(({ source }) => source === "callback")]).toEqual(["tracking", []]);
  const { rows: forged } = await system.pool.query(
    "select from trustflow.callbacks where account = $1 and workflow_id is null",
    [account],
  );
  expect(forged).toHaveLength(3);
}, 120_000);

const delayed = (id: string, startDelay: "10 seconds" | "1 hour") =>
  system.client.sendPostal(id, letterInput(id, "delivered"), { startDelay });

test.each<[string, cancel: (handle: PostalHandle) => Promise<unknown>]>([
  [
    "by the Web UI",
    ({ workflowId }) => system.client.temporal.workflow.getHandle(workflowId).cancel(),
  ],
  [
    "by its update",
    async (handle) => expect(await handle.cancel()).toEqual({ answer: "cancelled" }),
  ],
])(
  "a letter that is cancelled %s before its start delay is over is never sent",
  async (how, cancel) => {
    const id = `cancelled early ${how}`.replaceAll(" ", "-");
    const handle = await delayed(id, "10 seconds");
    await cancel(handle);
    expect((await handle.result()).outcome).toBe("cancelledBeforeSubmit");
    expect(await system.effects(id)).toEqual({});
  },
  60_000,
);

test("an update does not end a start delay", async () => {
  const handle = await delayed("delayed", "10 seconds");
  const end = Date.now() + 9_000;
  expect(await handle.requestAffidavit()).toEqual({ answer: "notEligible" });
  expect(await system.effects("delayed")).toEqual({});
  await eventually("it is submitted", () => submitted("delayed"), LIMIT_MS);
  expect(Date.now()).toBeGreaterThan(end);
}, 60_000);

test("a crowd of one account does not hold up the letter of another", async () => {
  const { client, sandbox, stack } = system;
  const crowd = Array.from({ length: CROWD }, (_, index) => `crowd-${index}`);
  // All of them wait when the worker comes back, and the one is the last.
  await stack.role("worker").stop();
  await Promise.all(crowd.map((id) => client.sendPostal(id, letterInput(id, "delivered"))));
  await client.sendPostal("alone", letterInput("alone", "delivered", bySecond));
  await stack.role("worker").restart();
  await eventually("it is submitted", () => submitted("alone"), LIMIT_MS);
  const { newest } = await sandbox.requests();
  const submits = newest.filter(({ operation }) => operation === "evi-post.submit");
  const inOrder = submits.map(({ intent }) => intent ?? "");
  const before = inOrder.slice(0, inOrder.indexOf("alone")).filter((id) => crowd.includes(id));
  expect(before.length).toBeLessThan(CROWD * 0.75);
}, 120_000);
