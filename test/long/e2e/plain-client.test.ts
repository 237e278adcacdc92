// A business application without any of Trustflow's code: a plain Temporal client with the same key, the codec of
// docs/any-language.md, and the names that stand there.
import { afterAll, beforeAll, expect, test } from "vitest";
import { Client, Connection } from "@temporalio/client";
import { setTimeout as delay } from "node:timers/promises";
import { InputMismatchError } from "../../../src/client.js";
import { queries, signals } from "../../../src/contracts/message-contracts.js";
import type { MessageContract } from "../../../src/contracts/definition/message-contract.js";
import { processes, updatesOf } from "../../../src/contracts/registry.js";
import type { ProcessName } from "../../../src/contracts/registry.js";
import { pageCodec } from "../../harness/pages/any-language.js";
import { messageSchemaOf } from "../../harness/pages/message-schema.js";
import { brought } from "../../processes/index.js";
import { holderInput } from "../../processes/issue-certificate/inputs.js";
import { letterInput } from "../../processes/send-postal/inputs.js";
import { signerInput } from "../../processes/sign-one-shot/inputs.js";
import { startTestStack } from "../../harness/stack/stack.js";
import type { TestStack } from "../../harness/stack/stack.js";

let system: TestStack;
let connection: Connection;
let client: Client;

beforeAll(async () => {
  system = await startTestStack({ sandboxSpeed: "auto" });
  const ring = system.stack.env["TRUSTFLOW_KEYS__CODEC"] ?? "";
  connection = await Connection.connect({ address: system.stack.env["TEMPORAL_ADDRESS"] ?? "" });
  client = new Client({
    connection,
    dataConverter: { payloadCodecs: [pageCodec(ring)] },
  });
}, 120_000);

afterAll(async () => {
  await connection?.close();
  await system?.close();
}, 60_000);

const input = letterInput("plain", "delivered");

test.each(["sendMessage/plain", "letters/plain", "sendPostal/a b", "plain"])(
  "a letter under the workflow id %s fails as InvalidInput, before any effect",
  async (workflowId) => {
    const failed = client.workflow.execute("sendPostal", {
      workflowId,
      taskQueue: "trustflow",
      args: [{ ...input, lookupKey: "strange" }],
    });
    await expect(failed).rejects.toMatchObject({
      cause: { type: "InvalidInput", details: [{ fields: [{ path: "id" }] }] },
    });
    expect(await system.effects("strange")).toEqual({});
  },
  60_000,
);

test("our client joins what it has started only with the same input, open or finished", async () => {
  const own = { ...input, lookupKey: "shared" };
  const other = { ...own, recipientEmail: "someone@example.org" };
  const workflowId = "sendPostal/shared";
  // The order of the keys and the settings make no difference.
  const same = { ...own, settings: {}, document: own.document };
  const started = await client.workflow.start("sendPostal", {
    workflowId,
    taskQueue: "trustflow",
    args: [own],
  });
  await expect(system.client.sendPostal("shared", other)).rejects.toThrow(InputMismatchError);
  const joined = await system.client.sendPostal("shared", same);
  const result = await started.result();
  expect(await joined.result()).toEqual(result);
  await expect(system.client.sendPostal("shared", other)).rejects.toThrow(InputMismatchError);
  expect(await (await system.client.sendPostal("shared", same)).result()).toEqual(result);
  expect(await system.effects("shared")).toEqual({ "evi-post.submit": 1 });
}, 60_000);

test("our client refuses to join what was started without an input, and needs no worker for that", async () => {
  const workflowId = "sendPostal/nothing";
  // No worker polls this queue.
  await client.workflow.start("sendPostal", { workflowId, taskQueue: "nobody", args: [] });
  const second = system.client.sendPostal("nothing", input);
  await expect(second).rejects.toThrow(InputMismatchError);
}, 60_000);

interface Definition {
  name: string;
}
interface Metadata {
  definition: Record<"updateDefinitions" | "signalDefinitions" | "queryDefinitions", Definition[]>;
}

test.each(processes)(
  "%s registers the updates, signals and queries of its contract, and no other",
  async (processName) => {
    const workflowId = `${processName}/handlers`;
    const handle = await client.workflow.start(processName, {
      workflowId,
      taskQueue: "trustflow",
      args: [brought[processName].input("handlers")],
    });
    await settled(() => handle.query("status"));
    const { definition } = await settled(() =>
      handle.query<Metadata>("__temporal_workflow_metadata"),
    );
    const registered = (of: keyof typeof definition) =>
      definition[of]
        .map(({ name }) => name)
        .filter((name) => !name.startsWith("__"))
        .toSorted();
    const contracted = (messages: MessageContract[]) => messages.map(({ name }) => name).toSorted();
    expect(registered("updateDefinitions")).toEqual(contracted(updatesOf(processName)));
    expect(registered("signalDefinitions")).toEqual(contracted(signals));
    expect(registered("queryDefinitions")).toEqual(contracted(queries));
    await handle.terminate().catch(() => undefined);
  },
  60_000,
);

test.each<[ProcessName, object]>([
  ["sendPostal", { ...input, lookupKey: "arguments", recipientName: "sandbox:cancellable" }],
  ["issueCertificate", holderInput("arguments")],
  ["signOneShot", signerInput("arguments", "", { settings: { requireContractAccepted: true } })],
])(
  "an update of %s whose argument does not fit is refused by its field",
  async (processName, given) => {
    const handle = await client.workflow.start(processName, {
      workflowId: `${processName}/arguments`,
      taskQueue: "trustflow",
      args: [given],
    });
    for (const update of updatesOf(processName).filter(({ argument }) => argument)) {
      const { members } = messageSchemaOf(update);
      const isOptional = members.every((name) => name.endsWith("?"));
      const ofOtherTypes = Object.fromEntries(members.map((name) => [name.replace("?", ""), 7]));
      const none = isOptional ? [] : [null];
      for (const argument of [...none, 7, "some text", [7], ofOtherTypes, { unheard: true }]) {
        const failed = handle.executeUpdate(update.name, { args: [argument] });
        const refused = await failed.catch(({ cause }: { cause: unknown }) => cause);
        const field = { path: expect.any(String), problem: expect.stringMatching(/^(is|must) /) };
        expect([update.name, argument, refused]).toMatchObject([
          update.name,
          argument,
          { type: "InvalidInput", details: [{ fields: [field] }] },
        ]);
      }
    }
    await handle.terminate();
  },
  60_000,
);

/** As docs/any-language.md says: a query that comes too early is repeated. */
async function settled<T>(query: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await query();
    } catch (error) {
      if (!(error as Error).message.includes("ask again")) throw error;
      await delay(100);
    }
  }
}
