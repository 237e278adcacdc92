// Keys are rotated with processes open: a new key is put in front, the old one stays as long as something needs it, and
// what is asked of it after that fails with a reason.
import { afterAll, beforeAll, expect, test } from "vitest";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { historyToJSON } from "@temporalio/common/lib/proto-utils.js";
import { callbackAddress, inboxSettled } from "../../harness/stack/inbox.js";
import { commandLine } from "../../cli/in-process.js";
import { Trustflow } from "../../../src/client.js";
import type { CertificateHandle } from "../../../src/client.js";
import { dataKeyId } from "../../../src/crypto/data-key.js";
import { KeyRing, generateKeyRing } from "../../../src/crypto/key-ring.js";
import { publicRingOf } from "../../../src/crypto/sealed-box.js";
import { removeOnExit } from "../../../packages/dev/src/processes/watchdog.js";
import type { DocumentReference } from "../../../src/contracts/shared/values.js";
import type { RoleName } from "../../../packages/dev/src/stack/stack.js";
import { eventOf, post } from "../../processes/send-postal/callbacks.js";
import { codeFor, holderInput } from "../../processes/issue-certificate/inputs.js";
import { batchInput } from "../../processes/send-notice-batch/inputs.js";
import { letterInput } from "../../processes/send-postal/inputs.js";
import { startTestStack, statusWhere } from "../../harness/stack/stack.js";
import type { TestStack } from "../../harness/stack/stack.js";

/** A letter, a holder with codes, and a batch; the simulation rotates keys below all processes. */
const sample = ["sendPostal", "issueCertificate", "sendNoticeBatch"] as const;
const rings = ["codec", "callback", "journal", "inbox", "documents"] as const;
const [oldKeys, newKeys] = ["old", "new"].map((id) => rings.map(() => generateKeyRing(id))) as [
  string[],
  string[],
];
const roles: RoleName[] = ["worker", "receiver", "relay", "codec-server"];
let directory: string;
let system: TestStack;
let client: Trustflow;

async function writeKeys(of: (index: number) => string): Promise<void> {
  const sealing = publicRingOf(KeyRing.parse(of(rings.indexOf("inbox"))));
  await Promise.all([
    ...rings.map((name, index) => writeFile(join(directory, name), of(index))),
    writeFile(join(directory, "inboxPublic"), sealing),
  ]);
}

/** A deployment: the roles start again with these rings, then the application. */
async function deploy(of: (index: number) => string, names: RoleName[]): Promise<void> {
  await writeKeys(of);
  await Promise.all(names.map((name) => system.stack.role(name).restart()));
  await client.close();
  client = await Trustflow.connect();
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "trustflow-rotation-"));
  removeOnExit(directory);
  // The first step of a rotation (docs/operations/keys.md) has been made: everybody can read the new keys.
  await writeKeys((index) => `${oldKeys[index]},${newKeys[index]}`);
  const lines = [...rings, "inboxPublic"].map(
    (name) => `${name} = { file = "${join(directory, name)}" }`,
  );
  const config = join(directory, "trustflow.toml");
  await writeFile(config, ["[keys]", ...lines, ""].join("\n"));
  // An empty variable says nothing, so the keys come from the files.
  const env = Object.fromEntries(
    [...rings, "inbox_public"].map((name) => [`TRUSTFLOW_KEYS__${name.toUpperCase()}`, ""]),
  );
  system = await startTestStack({ config, env, roles: ["sandbox", ...roles] });
  client = await Trustflow.connect();
}, 120_000);

afterAll(async () => {
  await client?.close();
  await system?.close();
  await rm(directory, { recursive: true, force: true });
}, 60_000);

function addressOf(id: string, ring = oldKeys[1] ?? ""): string {
  const subject = { provider: "evi-post", workflowId: `sendPostal/${id}` };
  return callbackAddress(system, subject, KeyRing.parse(ring));
}

/** The ids of the keys that a process's history is encrypted with, in their order. */
async function keysIn(workflowId: string): Promise<string[]> {
  const history = await client.temporal.workflow.getHandle(workflowId).fetchHistory();
  const ids = historyToJSON(history).matchAll(/"encryption-key-id":\s*"([\w+/=]+)"/g);
  return [...ids].map(([, key = ""]) => Buffer.from(key, "base64").toString());
}

async function tracked(id: string, words: string) {
  const handle = await client.sendPostal(id, letterInput(id, words));
  await statusWhere(handle, ({ phase }) => phase === "tracking");
  return handle;
}

async function enrolled(id: string) {
  const handle = await client.issueCertificate(id, holderInput(id));
  await statusWhere(handle, ({ waitingFor }) => waitingFor === "the holder's code");
  return handle;
}

/** With a new code, since the one before has expired: a code lives minutes, and here the sandbox's weeks pass in seconds. */
async function isIssued(id: string): Promise<void> {
  await ends(client.handle(`issueCertificate/${id}`), "issued");
}

async function ends(handle: CertificateHandle, outcome: string): Promise<void> {
  const { id } = handle;
  const { length } = await system.sandbox.messages(id);
  await system.sandbox.setSpeed(1);
  expect(await handle.resendOtp()).toMatchObject({ answer: "sent" });
  const code = await codeFor(system.sandbox, id, length);
  expect(await handle.submitOtp(code)).toEqual({ answer: "accepted" });
  expect((await handle.result()).outcome).toBe(outcome);
  await system.sandbox.setSpeed(60_000);
}

/** A batch that waits for its date. */
async function scheduled(id: string) {
  const scheduledDate = "2099-01-01T00:00:00.000Z";
  const handle = await client.sendNoticeBatch(id, batchInput(id, ["read"], { scheduledDate }));
  await statusWhere(handle, ({ phase }) => phase === "waiting");
}

async function isDeleted(id: string): Promise<void> {
  const handle = client.handle(`sendNoticeBatch/${id}`);
  expect(await handle.cancel()).toEqual({ answer: "cancelled" });
  expect((await handle.result()).outcome).toBe("cancelledBeforeStart");
}

async function cancelled(id: string): Promise<void> {
  const handle = await tracked(id, "stalled");
  expect(await handle.cancel()).toEqual({ answer: "cancelled" });
  expect((await handle.result()).outcome).toBe("cancelled");
}

async function decoded(payloads: unknown): Promise<string> {
  const answer = await fetch(`${system.stack.codecUrl}/decode`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ payloads }),
  });
  const body = (await answer.json()) as { payloads: { data: string }[] };
  return body.payloads.map(({ data }) => Buffer.from(data, "base64").toString()).join();
}

async function inputPayloads(id: string): Promise<unknown> {
  const history = await client.temporal.workflow.getHandle(`sendPostal/${id}`).fetchHistory();
  const { events } = JSON.parse(historyToJSON(history)) as {
    events: { workflowExecutionStartedEventAttributes: { input: { payloads: unknown } } }[];
  };
  return events[0]?.workflowExecutionStartedEventAttributes.input.payloads;
}

const gone = 'the key ring has no key "old"';
const bytes = Buffer.from("%PDF-before");
let document: DocumentReference;

test("processes that are open at a rotation end as they should, at their old addresses", async () => {
  document = await client.documents.put(bytes, "application/pdf");
  await cancelled("ended");
  await tracked("given-up", "stalled");
  await client.temporal.workflow.getHandle("sendPostal/given-up").terminate();
  await tracked("open", "stalled");
  await tracked("under-way", "delivered");
  await enrolled("taken-up");
  await client.temporal.workflow.getHandle("issueCertificate/taken-up").terminate();
  await enrolled("open");
  await scheduled("open");
  await system.stack.role("relay").stop();
  expect(await post(addressOf("open"), eventOf({}, { Details: "before" }))).toBe(204);

  // One role after the other, while callbacks come.
  for (const name of roles) await deploy((index) => `${newKeys[index]},${oldKeys[index]}`, [name]);

  expect(await post(addressOf("open"), eventOf({}, { Details: "after" }))).toBe(204);
  const open = await client.sendPostal("open", letterInput("open", "stalled"));
  const { timeline } = await statusWhere(open, (status) =>
    status.timeline.some(({ note }) => note === "after"),
  );
  expect(timeline).toContainEqual(expect.objectContaining({ note: "before" }));
  expect(await open.cancel()).toEqual({ answer: "cancelled" });
  expect((await open.result()).outcome).toBe("cancelled");
  expect((await client.handle("sendPostal/under-way").result()).outcome).toBe("delivered");
  expect(await client.documents.get(document)).toEqual(bytes);
  expect(await decoded(await inputPayloads("open"))).toContain("stalled");

  await isIssued("open");
  await isDeleted("open");

  for (const processName of sample) {
    const keys = await keysIn(`${processName}/open`);
    expect([processName, keys[0], keys.at(-1)]).toEqual([processName, "old", "new"]);
    expect(keys.lastIndexOf("old")).toBeLessThan(keys.indexOf("new"));
  }
}, 90_000);

test("what begins after it is sealed with the new keys alone", async () => {
  await cancelled("begun");
  await enrolled("begun");
  await isIssued("begun");
  await scheduled("begun");
  await isDeleted("begun");
  for (const processName of sample)
    expect(new Set(await keysIn(`${processName}/begun`))).toEqual(new Set(["new"]));
  const sealedWith = async (workflowId: string) => {
    const id = dataKeyId({ namespace: "default", workflowId });
    const ringKeys = `select distinct convert_from(substr(body, 3, get_byte(body, 1)), 'UTF8') as key
      from trustflow.callbacks where workflow_id = $1 and body is not null`;
    const processKeys = `select distinct convert_from(substr(sealed_answer, 3, get_byte(sealed_answer, 1)), 'UTF8') as key
      from trustflow.effects where workflow_id = $1 and sealed_answer is not null`;
    const keysOf = async (query: string) =>
      (await system.pool.query<{ key: string }>(query, [workflowId])).rows.map(({ key }) => key);
    expect(await keysOf(processKeys)).toEqual([id]);
    const directory = system.stack.env["TRUSTFLOW_DOCUMENTS__DIRECTORY"] ?? "";
    const key = await readFile(join(directory, "keys", id.slice(0, 2), id));
    return [
      ...new Set([key.subarray(2, 2 + key.readUInt8(1)).toString(), ...(await keysOf(ringKeys))]),
    ];
  };
  expect(await sealedWith("sendPostal/ended")).toEqual(["old"]);
  expect(await sealedWith("issueCertificate/taken-up")).toEqual(["old"]);
  for (const processName of sample)
    expect(await sealedWith(`${processName}/begun`)).toEqual(["new"]);
}, 90_000);

test("without the old key, what needs it says so, and everything else goes on", async () => {
  await deploy((index) => newKeys[index] ?? "", roles);
  await expect(client.handle("sendPostal/ended").result()).rejects.toThrow(gone);
  await expect(client.documents.get(document)).rejects.toThrow(gone);
  expect(await decoded(await inputPayloads("ended"))).toContain("the key ring has no key 'old'");
  expect(await post(addressOf("open"), eventOf())).toBe(404);

  await system.pool.query(
    "update trustflow.callbacks set state = 'waiting' where workflow_id = 'sendPostal/ended'",
  );
  for (const [handle, step] of [
    [await client.sendPostal("given-up", letterInput("given-up", "stalled")), "submit"],
    [await client.issueCertificate("taken-up", holderInput("taken-up")), "enroll"],
  ] as const) {
    const { attention } = await statusWhere(handle, (status) => status.attention !== undefined);
    expect(attention).toMatchObject({ kind: "unavailable", step });
    expect(attention?.reason).toContain(gone);
  }

  await cancelled("after");
  const { rows } = await system.pool.query(
    "select distinct state, reason from trustflow.callbacks where workflow_id = 'sendPostal/ended'",
  );
  expect(rows).toEqual([{ state: "parked", reason: "undecryptable" }]);
  for (const name of roles) expect([name, system.stack.role(name).isAlive()]).toEqual([name, true]);
}, 90_000);

test("with the old key back, the processes that missed it go on by themselves, what was parked can be replayed, and nothing was sent twice", async () => {
  await deploy((index) => `${newKeys[index]},${oldKeys[index]}`, ["worker", "relay"]);
  const { env } = system.stack;
  const parked = async () => {
    const { stdout } = await commandLine(["callbacks", "parked", "--json"], { env });
    return (JSON.parse(stdout) as { id: string }[]).map(({ id }) => id);
  };
  const ids = await parked();
  expect(ids).not.toEqual([]);
  expect((await commandLine(["callbacks", "replay", ...ids], { env })).code).toBe(0);
  await inboxSettled(system);
  expect(await parked()).toEqual([]);
  const handle = client.handle("sendPostal/given-up");
  await statusWhere(handle, ({ phase }) => phase === "tracking");
  expect(await handle.cancel()).toEqual({ answer: "cancelled" });
  expect((await handle.result()).outcome).toBe("cancelled");
  expect(await system.effects("given-up")).toMatchObject({ "evi-post.submit": 1 });

  const certificate = client.handle("issueCertificate/taken-up");
  await statusWhere(certificate, ({ waitingFor }) => waitingFor === "the holder's code");
  await isIssued("taken-up");
  expect(await system.effects("taken-up")).toMatchObject({
    "disposable-certificate.enroll": 1,
    "disposable-certificate.validate": 1,
  });
}, 90_000);
