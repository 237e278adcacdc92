// The table of failures in README.md: what becomes of a process of Trustflow, and of the same job written with Temporal and fetch
// (fetch-app). Both have the same Temporal server and the same sandbox, whose ledger says what was sent.
import { afterAll, beforeAll, expect, test } from "vitest";
import { Client } from "@temporalio/client";
import type { WorkflowHandle } from "@temporalio/client";
import { bundleWorkflowCode, DefaultLogger } from "@temporalio/worker";
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { InputMismatchError, NotAcceptedError } from "../../../src/client.js";
import type { ProcessHandle } from "../../../src/client.js";
import { startPart } from "../../../bench/stand.js";
import type { Part } from "../../../bench/stand.js";
import { freePorts } from "../../../packages/dev/src/processes/free-ports.js";
import { textOf } from "../../docs/repository.js";
import { eventually } from "../../harness/outages/wait.js";
import { callbackAddress } from "../../harness/stack/inbox.js";
import { resetToTheStart } from "../../harness/stack/reset.js";
import { startTestStack, statusWhere } from "../../harness/stack/stack.js";
import type { TestStack } from "../../harness/stack/stack.js";
import { messageInput } from "../../processes/send-message/inputs.js";
import { letterInput, letterPdf } from "../../processes/send-postal/inputs.js";

const DAY_MS = 86_400_000;
/** After all retries of a callback (P2 §6.5). */
const RETRIES_MS = 3 * DAY_MS;

let system: TestStack;
let plain: Client;
let app: Part;
let port = 0;

/** The workers of both, by SIGKILL. */
async function killAndReplaceWorkers(): Promise<void> {
  const worker = system.stack.role("worker");
  process.kill(app.pid, "SIGKILL");
  await worker.kill();
  await Promise.all([app.restart(), worker.restart()]);
}

beforeAll(async () => {
  system = await startTestStack({ persistent: true, sandboxSpeed: "manual" });
  [port = 0] = await freePorts(1);
  plain = new Client({ connection: system.client.temporal.connection });
  const { code } = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL("fetch-app/workflow.js", import.meta.url)),
    logger: new DefaultLogger("ERROR"),
  });
  const { directory, sandboxUrl: baseUrl, temporal } = system.stack;
  const bundle = join(directory, "fetch-app.bundle.js");
  await writeFile(bundle, code);
  app = await startPart(
    new URL("fetch-app/program.js", import.meta.url).href,
    { address: temporal.address, bundle, baseUrl, port },
    join(directory, "logs", "fetch-app.log"),
  );
}, 120_000);
afterAll(async () => {
  await app?.stop();
  await system?.close();
}, 60_000);

/** The intent of the app; Trustflow's is the id itself. */
const plainId = (id: string) => `${id}-fetch`;

const startPlain = (type: string, id: string, input: object) =>
  plain.workflow.start(type, { taskQueue: "fetch-app", workflowId: plainId(id), args: [input] });

const plainMessage = (id: string, words = "", sent = id) =>
  startPlain("sendMessage", id, messageInput(plainId(sent), words).providerFields);

function plainLetter(id: string, words: string, document = letterPdf) {
  const { recipientAddress: address } = letterInput(id, words);
  return startPlain("sendLetter", id, {
    Document: document.toString("base64"),
    RecipientName: `sandbox:${words}`,
    RecipientAddress: {
      StreetAddress: address.streetAddress,
      PostalCode: address.postalCode,
      Locality: address.locality,
      Region: address.region,
      Country: address.country,
    },
    LookupKey: plainId(id),
    Options: {
      PushNotificationUrl: `http://127.0.0.1:${port}/${plainId(id)}`,
      PushNotificationFilter: ["Closed"],
    },
  });
}

async function effects(intent: string): Promise<number> {
  return Object.values(await system.effects(intent)).reduce((sum, times) => sum + times, 0);
}

async function sent(intent: string): Promise<string> {
  const words = ["not sent", "sent once", "sent twice"];
  return words[await effects(intent)] ?? "sent again and again";
}

/** What was sent once nothing more happens by itself. */
async function settled(handle: ProcessHandle<unknown>): Promise<string> {
  const { attention } = await statusWhere(
    handle,
    ({ outcome, attention: open }) => outcome !== undefined || open !== undefined,
  );
  const { kind } = attention ?? {};
  const asks = { unknownOutcome: ", asks a person", accessDenied: ", asks a person at once" };
  return (await sent(handle.id)) + (kind ? asks[kind as keyof typeof asks] : "");
}

/** Nothing will ever wake it: no callback is on its way, and it has neither a timer nor an activity. */
async function waitsForEver(handle: WorkflowHandle): Promise<boolean> {
  const { counts } = await system.sandbox.callbacks();
  const { status, raw } = await handle.describe();
  const { events = [] } = await handle.fetchHistory();
  const hasTimer = events?.some(({ timerStartedEventAttributes: timer }) => timer);
  const works = raw.pendingActivities?.length || raw.pendingWorkflowTask || counts.pending;
  return status.name === "RUNNING" && !hasTimer && !works;
}

/** All that a history says, its payloads included. */
function textsIn(value: unknown): string {
  if (ArrayBuffer.isView(value)) return Buffer.from(value as Uint8Array).toString();
  return typeof value === "object" && value !== null
    ? Object.values(value).map(textsIn).join(" ")
    : String(value);
}

async function itemOf(intent: string): Promise<string> {
  return eventually("the letter at the provider", async () => {
    const { items } = await system.sandbox.items({ intent });
    return items[0]?.id;
  });
}

async function bothTracked(id: string, words: string) {
  const handles = [
    await plainLetter(id, words),
    await system.client.sendPostal(id, letterInput(id, words)),
  ] as const;
  await itemOf(plainId(id));
  await statusWhere(handles[1], ({ phase }) => phase === "tracking");
  return handles;
}

async function closeBoth(id: string): Promise<void> {
  for (const intent of [plainId(id), id])
    await system.sandbox.move(await itemOf(intent), { state: "Closed", outcome: "Delivered" });
  await system.sandbox.advance(60_000);
}

type Letters = Awaited<ReturnType<typeof bothTracked>>;
type Row = (id: string) => Promise<[fetch: string, trustflow: string]>;

async function endsOf([workflow, handle]: Letters): Promise<[string, string]> {
  const { results } = (await workflow.result()) as { results: { outcome: string }[] };
  const { outcome } = await handle.result();
  return [`ends as ${results[0]?.outcome.toLowerCase()}`, `ends as ${outcome}`];
}

/** A fault of the first call. */
const faulty =
  (words: string): Row =>
  async (id) => {
    const workflow = await plainMessage(id, words);
    const handle = await system.client.sendMessage(id, messageInput(id, words));
    await workflow.result();
    return [await sent(plainId(id)), await settled(handle)];
  };

/** What the provider refuses, again and again. */
const refused =
  (words: string, ends: (handle: ProcessHandle<unknown>) => Promise<string>): Row =>
  async (id) => {
    const workflow = await plainMessage(id, words);
    const handle = await system.client.sendMessage(id, messageInput(id, words));
    await eventually("the third attempt", async () => {
      const { raw } = await workflow.describe();
      return raw.pendingActivities?.some(({ attempt }) => (attempt ?? 0) >= 3);
    });
    await workflow.terminate();
    return ["repeats the call for ever", await ends(handle)];
  };

/** Both messages are sent, and the answers are still to come, when something happens. */
const duringTheCall =
  (act: (workflow: WorkflowHandle, handle: ProcessHandle<unknown>) => Promise<unknown>): Row =>
  async (id) => {
    const words = "send=slow-answer-4000";
    const workflow = await plainMessage(id, words);
    const handle = await system.client.sendMessage(id, messageInput(id, words));
    for (const intent of [plainId(id), id])
      await eventually("the message", async () => (await effects(intent)) === 1);
    await act(workflow, handle);
    await plain.workflow.getHandle(plainId(id)).result();
    return [await sent(plainId(id)), await settled(handle)];
  };

const rows: Record<string, Row> = {
  "The connection is lost after the provider has sent the message": faulty("send=cut-after-commit"),
  "The provider sends the message, and answers 500": faulty("send=error-after-commit"),
  "The answer breaks off in the middle": faulty("send=cut-mid-body"),
  "The answer is not JSON, although the message was sent": faulty("send=unreadable"),
  "The answer takes longer than the time limit": faulty("send=slow-answer-8000"),
  "The worker is killed during the call": duringTheCall(killAndReplaceWorkers),
  "The workflow is terminated during the call, and started again": duringTheCall(
    async (workflow, { id, workflowId }) => {
      await workflow.terminate();
      await plainMessage(id);
      await system.client.temporal.workflow.getHandle(workflowId).terminate();
      await system.client.sendMessage(id, messageInput(id, "send=slow-answer-4000"));
    },
  ),
  async "An operator resets the workflow"(id) {
    const workflow = await plainMessage(id);
    const handle = await system.client.sendMessage(id, messageInput(id));
    await Promise.all([workflow.result(), handle.result()]);
    for (const workflowId of [workflow.workflowId, handle.workflowId])
      await resetToTheStart(system, workflowId);
    await plain.workflow.getHandle(workflow.workflowId).result();
    await handle.result();
    return [await sent(plainId(id)), await sent(id)];
  },
  async "The application starts the same order again"(id) {
    for (const time of ["first", "second"]) {
      const workflow = await plainMessage(id);
      await workflow.result();
      const handle = await system.client.sendMessage(id, messageInput(id));
      expect([time, (await handle.result()).outcome]).toEqual([time, "accepted"]);
    }
    return [await sent(plainId(id)), await sent(id)];
  },
  async "Another order is started under the same id"(id) {
    const other = `${id}-other`;
    await (await plainMessage(id)).result();
    await (await plainMessage(id, "", other)).result();
    await (await system.client.sendMessage(id, messageInput(id))).result();
    await expect(system.client.sendMessage(id, messageInput(other))).rejects.toThrow(
      InputMismatchError,
    );
    const both = (await effects(plainId(id))) + (await effects(plainId(other)));
    const ours = (await effects(id)) + (await effects(other));
    return [both === 2 ? "both are sent" : "", ours === 1 ? "the second one is refused" : ""];
  },
  "The provider refuses the input (400)": refused("send=reject-400*", async (handle) => {
    await expect(handle.result()).rejects.toThrow(NotAcceptedError);
    return "ends, and says why";
  }),
  "The provider refuses the password (401)": refused("send=reject-401*", settled),
  async "Somebody reads Temporal's database"(id) {
    const workflow = await plainMessage(id);
    const handle = await system.client.sendMessage(id, messageInput(id));
    await Promise.all([workflow.result(), handle.result()]);
    const shows = async (workflowId: string) => {
      const { events } = await plain.workflow.getHandle(workflowId).fetchHistory();
      return textsIn(events).includes("390612345678")
        ? "shows the recipient"
        : "does not show the recipient";
    };
    return [await shows(workflow.workflowId), await shows(handle.workflowId)];
  },
  async "The document has 2 MB"(id) {
    const large = Buffer.concat([letterPdf, Buffer.alloc(2_000_000, "%")]);
    await expect(plainLetter(id, "delivered", large)).rejects.toThrow();
    const document = await system.client.documents.put(large, "application/pdf");
    const handle = await system.client.sendPostal(id, letterInput(id, "open", { document }));
    await statusWhere(handle, ({ phase }) => phase === "tracking");
    return [await sent(plainId(id)), await sent(id)];
  },
  async "The provider is away when it is asked how the letter ended (503)"(id) {
    const letters = await bothTracked(id, "open,query=reject-503*3");
    await closeBoth(id);
    return endsOf(letters);
  },
  async "The callback of the end is lost"(id) {
    const [workflow, handle] = await bothTracked(id, "open,callbacks-lost");
    await closeBoth(id);
    const { outcome } = await handle.result();
    expect(await waitsForEver(workflow)).toBe(true);
    return ["waits for ever", `ends as ${outcome}`];
  },
  async "Each callback comes twice"(id) {
    const letters = await bothTracked(id, "open,callbacks-doubled");
    await closeBoth(id);
    return endsOf(letters);
  },
  async "Somebody forges the callback of the end"(id) {
    const letters = await bothTracked(id, "open");
    const [workflow, handle] = letters;
    const body = JSON.stringify({ Identifier: randomUUID(), Kind: "Closed" });
    const post = (url: string) => fetch(url, { method: "POST", body });
    expect((await post(`http://127.0.0.1:${port}/${plainId(id)}`)).status).toBe(204);
    // The address has its own MAC, without which nobody can call back.
    const address = callbackAddress(system, {
      provider: "evi-post",
      workflowId: handle.workflowId,
    });
    expect((await post(address.replace(/.$/, (last) => (last === "A" ? "B" : "A")))).status).toBe(
      404,
    );
    const { results } = (await workflow.result()) as { results: { state: string }[] };
    expect(results[0]?.state).not.toBe("Closed");
    await closeBoth(id);
    return ["ends before the letter does", `ends as ${(await handle.result()).outcome}`];
  },
  async "Temporal is away for longer than callbacks are repeated"(id) {
    const [workflow, handle] = await bothTracked(id, "open");
    await system.stack.temporal.kill();
    await closeBoth(id);
    await system.sandbox.advance(RETRIES_MS);
    await system.stack.temporal.restart();
    const { outcome } = await handle.result();
    await eventually("nothing to wait for", () => waitsForEver(workflow));
    return ["waits for ever", `ends as ${outcome}`];
  },
  async "A letter takes sixty days, and the worker is killed meanwhile"(id) {
    const letters = await bothTracked(id, "delivered-after-60-days");
    await killAndReplaceWorkers();
    await system.sandbox.advance(70 * DAY_MS);
    return endsOf(letters);
  },
};

const [, ...table] = textOf("README.md")
  .split("\n| what happens |")[1]!
  .split("\n\n")[0]!
  .trimEnd()
  .split("\n")
  .map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );

test("each row of the page is tried", () => {
  expect(table.slice(1).map(([failure]) => failure)).toEqual(Object.keys(rows));
});

test.each(Object.entries(rows).map(([failure, row], number) => ({ failure, row, number })))(
  "$failure",
  async ({ failure, row, number }) => {
    expect(table).toContainEqual([failure, ...(await row(`row-${number}`))]);
  },
  60_000,
);
