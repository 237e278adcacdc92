// What of the processes only the whole system shows: Temporal's children where one is reset, the erasure of a family, an event that the
// relay can address only with what a worker has found, an account that is added, and one whose crowd does not hold up another's calls. Their
// ways are the paths of test/processes, their accidents those of the simulation.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WorkflowNotFoundError } from "@temporalio/client";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { HandleOf } from "../../../src/client.js";
import { InvalidInputError } from "../../../src/client.js";
import { commandLine } from "../../cli/in-process.js";
import { replaceRole } from "../../harness/outages/roles.js";
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

  /** To each workflow task that its present run has completed, one after the other. */
  async function resetToEach(
    { workflowId }: Handle,
    isDone: () => Promise<unknown>,
  ): Promise<void> {
    const { runId } = await temporal(workflowId).describe();
    for (const eventId of await tasksOf(system.client, workflowId, runId)) {
      await reset(system.client, { workflowId, runId }, eventId);
      await isDone();
    }
  }

  test("a reset of the parent to each of its tasks, open and finished: each child is one, and sends once", async () => {
    const open = await tracked("reset-parent");
    await resetToEach(open, () =>
      statusWhere(open, ({ references }) => references["noticeUniqueId"] !== undefined),
    );
    await close(open.id);
    expect((await open.result()).outcome).toBe("servedByNotice");
    expect(await system.effects(open.id)).toEqual({ "evi-notice.submit": 1 });

    const finished = await start("reset-finished", "refused/delivered");
    await finished.result();
    await resetToEach(finished, async () =>
      expect((await finished.result()).outcome).toBe("servedByPost"),
    );
    const both = { "evi-notice.submit": 1, "evi-post.submit": 1 };
    expect(await system.effects(finished.id)).toEqual(both);
  }, 240_000);

  const run = (args: string[]) => commandLine(args, { env: system.stack.env });
  const erase = (id: string) => run(["erase", id, "--by", "Ana"]);

  test("an erasure is refused while a child is open, and erases nothing", async () => {
    const handle = await tracked("kept");
    await temporal(handle.workflowId).terminate();
    expect(await erase(handle.workflowId)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("sendNotice/kept.notice is still open"),
    });
    expect((await temporal(handle.workflowId).describe()).status.name).toBe("TERMINATED");
    await close(handle.id);
    await noticeOf(handle).result();
  }, 120_000);

  test("an erasure takes both children with it, and the id sends nothing again", async () => {
    const handle = await start("erased", "refused/delivered");
    await handle.result();
    expect(await erase(handle.workflowId)).toMatchObject({ code: 0 });
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

test("verifyIdentity: an event that has its token and nothing else ends its call; forged ones end none, and hold up nothing (P1 §6.1)", async () => {
  // A call takes three seconds, and its token is good for eighteen.
  await system.sandbox.setSpeed(100);
  // Nothing but an event ends a call of this account: its conference data show no state.
  const account = "stateless";
  const seldom = { account, settings: { pollIntervalSeconds: 3_600 } };
  const keys = "VIDEO_IDENTIFICATION";
  const url = system.stack.envOf("worker")[`TRUSTFLOW_ACCOUNTS__DEFAULT__${keys}__BASE_URL`];
  const apiKey = `${account}-api-key`;
  const env = {
    [`TRUSTFLOW_ACCOUNTS__STATELESS__${keys}__BASE_URL`]: url ?? "",
    [`TRUSTFLOW_ACCOUNTS__STATELESS__${keys}__API_KEY`]: apiKey,
  };
  const address = callbackAddress(system, { provider: "video-identification", account });
  await system.sandbox.putAccount(account, { password: account, apiKey, closeEventUrl: address });
  const worker = await replaceRole(system, "worker", env);
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
  await worker.stopAndGiveBack();
}, 120_000);

const LIMIT_MS = 50_000;
const CROWD = 60;
const bySecond = { account: "second" };

const submitted = async (id: string) => Object.keys(await system.effects(id)).length > 0;

test("an account that the configuration file gets serves without a restart", async () => {
  const { stack, client } = system;
  const { directory, env, logDirectory } = stack;
  const name = "TRUSTFLOW_ACCOUNTS__DEFAULT__EVI_POST__";
  const password = join(directory, "password");
  await writeFile(password, env[`${name}PASSWORD`] ?? "");
  const account = {
    baseUrl: env[`${name}BASE_URL`],
    username: env[`${name}USERNAME`],
  };
  const keys = Object.entries(account).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
  await writeFile(
    join(directory, "trustflow.toml"),
    ["[accounts.second.evi-post]", ...keys, `password = { file = "${password}" }`].join("\n"),
  );
  const log = () => readFile(join(logDirectory, "worker.log"), "utf8");
  const isRead = async () => (await log()).includes("Accounts were read again");
  await eventually("it is read", isRead, LIMIT_MS);
  await client.sendPostal("by-second", letterInput("by-second", "delivered", bySecond));
  await eventually("it is submitted", () => submitted("by-second"), LIMIT_MS);
});

test("a crowd of one account does not hold up the letter of another", async () => {
  const { client } = system;
  const crowd = Array.from({ length: CROWD }, (_, index) => `crowd-${index}`);
  await Promise.all(crowd.map((id) => client.sendPostal(id, letterInput(id, "delivered"))));
  await client.sendPostal("alone", letterInput("alone", "delivered", bySecond));
  await eventually("it is submitted", () => submitted("alone"), LIMIT_MS);
  const served = await Promise.all(crowd.map((id) => submitted(id)));
  expect(served.filter(Boolean).length).toBeLessThan(CROWD / 2);
});
