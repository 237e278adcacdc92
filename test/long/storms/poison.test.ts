// Unreadable callbacks among good ones: each is parked with its reason, its neighbours arrive, and `callbacks replay`
// delivers what can be fixed (docs/design.md §7).
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { generateBoxRing } from "../../../src/crypto/sealed-box.js";
import { cliPath } from "../../../packages/dev/src/paths.js";
import { cleanEnv } from "../../../packages/dev/src/stack/stack-env.js";
import { sendPostalUnderTest as underTest } from "../../processes/send-postal/under-test.js";
import { killHeldRoles, replaceRole } from "../../harness/outages/roles.js";
import { inboxSettled, landed } from "../../harness/stack/inbox.js";
import { startTestStack, statusWhere } from "../../harness/stack/stack.js";
import type { TestStack } from "../../harness/stack/stack.js";
import { Postings } from "../../harness/storms/postings.js";
import { send } from "../../harness/storms/sender.js";
import type { Posting } from "../../harness/storms/sender.js";
import { stormEnv } from "../../harness/storms/script.js";

let system: TestStack;
let postings: Postings;

const start = async (id: string): Promise<void> => {
  const handle = await underTest.start(system.client, id, underTest.staysOpen);
  await statusWhere(handle, ({ phase }) => phase === "tracking");
};
const terminate = (id: string) =>
  system.client.temporal.workflow.getHandle(`${underTest.process}/${id}`).terminate("poison");

beforeAll(async () => {
  system = await startTestStack({ env: stormEnv });
  postings = new Postings(system, underTest);
  await Promise.all(["open", "keyless", "terminated"].map(start));
}, 120_000);
afterAll(async () => {
  await killHeldRoles();
  await system.close();
}, 60_000);

test("what cannot be read is parked with its reason, and its neighbours arrive", async () => {
  const neighbours = postings.genuine("open", 6);
  const changed = (member: object): Posting => {
    const [posting] = postings.genuine("open", 1) as [Posting];
    return { ...posting, body: JSON.stringify({ ...JSON.parse(posting.body), ...member }) };
  };
  const poison: Record<string, Posting> = {
    "unreadable EvidenceType": changed({ EvidenceType: "eviMail" }),
    "unreadable Kind": changed({ Kind: 7 }),
    "unreadable Date": changed({ Date: "soon" }),
    "unreadable body": { ...changed({}), body: '"no object"' },
    correlationMismatch: changed({ AdditionalData: { ExtraData: "another person's" } }),
    unknownProvider: { ...changed({}), url: postings.url("open", { provider: "nobody" }) },
  };
  const stranger = changed({ Kind: "Teleported" });
  const tampered = changed({});
  const relay = system.stack.role("relay");
  await relay.stop();
  const all = [...neighbours.slice(0, 3), ...Object.values(poison), stranger, tampered];
  await sendAll([...all, ...neighbours.slice(3)]);
  const { rowCount } = await system.pool.query(
    `update trustflow.callbacks set body = set_byte(body, 40, get_byte(body, 40) # 1)
     where workflow_id || ' ' || identifier = $1`,
    [tampered.key],
  );
  expect(rowCount).toBe(1);
  await relay.restart();
  await inboxSettled(system);

  const parked = await inbox("parked");
  expect(parked.map(({ reason, detail }) => [reason, detail].filter(Boolean).join(" "))).toEqual(
    expect.arrayContaining(["correlationMismatch", "undecryptable", "unknownProvider"]),
  );
  expect(parked.filter(({ reason }) => reason === "unreadable")).toHaveLength(4);
  expect(parked).toHaveLength(7);
  const { applied } = await landed(system, underTest, ["open"]);
  // An unknown kind is handled like any other: the provider is queried when it matters.
  const arrived = [...neighbours, stranger].flatMap(({ key }) => key ?? []);
  expect(applied.toSorted()).toEqual(arrived.toSorted());

  // Replayed, it is what it was.
  await replay(parked.map(({ id }) => id));
  await inboxSettled(system);
  expect(await inbox("parked")).toHaveLength(7);
  expect((await landed(system, underTest, ["open"])).applied).toHaveLength(arrived.length);
}, 60_000);

test("a key that is missing parks, and replay delivers once it is put back", async () => {
  const old = system.stack.env["TRUSTFLOW_KEYS__INBOX"] ?? "";
  const fresh = generateBoxRing("fresh");
  const sent = postings.genuine("keyless", 5);
  const receiver = await replaceRole(system, "receiver", {
    TRUSTFLOW_KEYS__INBOX_PUBLIC: fresh.publicRing,
  });
  await sendAll(sent);
  await inboxSettled(system);
  const parked = (await inbox("parked")).filter(({ workflowId }) =>
    workflowId.endsWith("/keyless"),
  );
  expect(parked.map(({ reason }) => reason)).toEqual(sent.map(() => "undecryptable"));
  expect((await landed(system, underTest, ["keyless"])).applied).toEqual([]);

  const relay = await replaceRole(system, "relay", {
    TRUSTFLOW_KEYS__INBOX: `${fresh.privateRing},${old}`,
  });
  await replay(parked.map(({ id }) => id));
  await inboxSettled(system);
  const { applied } = await landed(system, underTest, ["keyless"]);
  expect(applied.toSorted()).toEqual(sent.flatMap(({ key }) => key ?? []).toSorted());
  await Promise.all([receiver.stopAndGiveBack(), relay.stopAndGiveBack()]);
}, 60_000);

test("terminated is late and never existed is unknown; both are delivered once there is a process", async () => {
  await terminate("terminated");
  const [late, unknown] = [postings.genuine("terminated", 3), postings.genuine("not-yet", 3)];
  const neighbours = postings.genuine("open", 3);
  await sendAll([...late, ...unknown, ...neighbours]);
  await inboxSettled(system);
  const before = await landed(system, underTest, ["open"]);
  expect(before.applied).toEqual(expect.arrayContaining(neighbours.map(({ key }) => key)));
  const lateRows = await inbox("late");
  const unknownRows = (await inbox("parked")).filter(({ reason }) => reason === "unknownProcess");
  expect(lateRows).toHaveLength(3);
  expect(unknownRows).toHaveLength(3);

  await Promise.all(["terminated", "not-yet"].map(start));
  await replay([...lateRows, ...unknownRows].map(({ id }) => id));
  await inboxSettled(system);
  const { applied } = await landed(system, underTest, ["terminated", "not-yet"]);
  const keys = [...late, ...unknown].flatMap(({ key }) => key ?? []);
  expect(applied.toSorted()).toEqual(keys.toSorted());
  expect(await inbox("late")).toEqual([]);
  // The second run took up what the first had sent.
  expect(await system.effects("terminated")).toEqual(underTest.effects);
}, 60_000);

async function sendAll(all: Posting[]): Promise<void> {
  const sending = send(all, { connections: 4 });
  await sending.done;
  expect(Object.keys(sending.answers.genuine)).toEqual(["204"]);
}

interface Listed {
  id: string;
  workflowId: string;
  reason?: string;
  detail?: string;
}

async function inbox(state: "parked" | "late"): Promise<Listed[]> {
  return JSON.parse(await cli("callbacks", state, "--json")) as Listed[];
}

async function replay(ids: string[]): Promise<void> {
  await cli("callbacks", "replay", ...ids);
}

async function cli(...args: string[]): Promise<string> {
  const env = { ...cleanEnv(), ...system.stack.env };
  const { stdout } = await promisify(execFile)(process.execPath, [cliPath, ...args], { env });
  return stdout;
}
