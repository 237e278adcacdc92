// The receiver against real HTTP and a real PostgreSQL (docs/design.md §7, P2 §6.4).
import { once } from "node:events";
import { Agent, request } from "node:http";
import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { callbackUrl } from "../../../src/callbacks/address.js";
import { CallbackArchive } from "../../../src/callbacks/inbox/archive.js";
import { BodyOpener } from "../../../src/callbacks/inbox/rows.js";
import { startReceiver } from "../../../src/callbacks/receiver/receiver.js";
import type { Receiver } from "../../../src/callbacks/receiver/receiver.js";
import { generateKeyRing, KeyRing } from "../../../src/crypto/key-ring.js";
import { generateBoxRing } from "../../../src/crypto/sealed-box.js";
import { testDatabase, uncommitted } from "../../harness/stack/postgres.js";
import { bodyKeys, post, ring, sealRing, subjectOf } from "../support.js";
import { ofFile } from "../../harness/of-file.js";
import { until } from "../../harness/outages/wait.js";
import { untilLockAwaited } from "../../harness/documents/document-owners.js";

/** What waits so long waits longer than a test may take. */
const LONG = 600_000;
const events = new Map<string, number>();
const commitSeconds: number[] = [];
const warnings: (object | undefined)[] = [];
const database = ofFile(() => {
  const pool = { connectTimeoutMs: LONG, statementTimeoutMs: LONG };
  return testDatabase({ own: true, pool });
});
const archive = ofFile(() => new CallbackArchive(database.pool));
const receiver = ofFile(() => start({ databaseTimeoutMs: LONG }));

function start(over: Partial<Parameters<typeof startReceiver>[0]> = {}): Promise<Receiver> {
  return startReceiver({
    pool: database.pool,
    ring,
    sealRing,
    host: "127.0.0.1",
    port: 0,
    maxBodyBytes: 10_000,
    onEvent: (event, count) => events.set(event, (events.get(event) ?? 0) + count),
    onCommit: (seconds) => commitSeconds.push(seconds),
    logger: { warn: (_, details) => void warnings.push(details) },
    health: ({ url }, response) => url === "/health" && response.end("well") !== undefined,
    ...over,
  });
}

const count = async (): Promise<number> => {
  const { rows } = await database.pool.query("select count(*)::int as n from trustflow.callbacks");
  return rows[0].n as number;
};

test("a genuine callback is stored raw and sealed before it is acknowledged", async () => {
  const subject = subjectOf();
  const body = '{ "Identifier":"e-1",  "Recipient":"marker-of-a-person" }';
  const began = performance.now();
  const response = await post(receiver.url, subject, body);
  expect([response.status, response.headers.get("retry-after")]).toEqual([204, null]);
  expect(commitSeconds[0]).toBeLessThan((performance.now() - began) / 1_000);
  const [row] = await archive.list({ workflowId: subject.workflowId });
  expect(row).toMatchObject({ identifier: "e-1", state: "waiting", ...subject });
  expect((await archive.show(row?.id ?? "", bodyKeys))?.body).toBe(body);
  const { rows } = await database.pool.query("select * from trustflow.callbacks where id = $1", [
    row?.id,
  ]);
  expect(JSON.stringify(rows)).not.toContain("marker-of-a-person");
  expect((rows[0].body as Buffer).toString("latin1")).not.toContain("marker-of-a-person");
});

test("what is stored opens with the private inbox key, and with nothing that the receiver or the journal has", async () => {
  const subject = subjectOf();
  await post(receiver.url, subject, { Identifier: "e-1" });
  const { rows } = await database.pool.query(
    'select address, identifier, body as "sealedBody" from trustflow.callbacks where workflow_id = $1',
    [subject.workflowId],
  );
  const open = (inbox: KeyRing) => new BodyOpener(inbox).open(rows[0]).toString();
  expect(open(bodyKeys)).toBe('{"Identifier":"e-1"}');
  const { id } = sealRing.active;
  const others = [
    sealRing,
    // Under the id that the body names.
    ...[ring, KeyRing.parse(generateKeyRing("journal"))].map((other) =>
      KeyRing.parse(`${id}:${other.active.bytes.toString("base64")}`),
    ),
    KeyRing.parse(generateBoxRing(id).privateRing),
  ];
  for (const other of others) expect(() => open(other)).toThrow("sealed box");
});

test("a forged or wrong address is 404, whatever the body, and nothing is stored", async () => {
  const before = await count();
  const good = callbackUrl(ring, receiver.url, subjectOf());
  const forged = [
    good.slice(0, -1),
    `${good.slice(0, -1)}${good.endsWith("0") ? "1" : "0"}`,
    `${receiver.url}/callbacks/x`,
    `${receiver.url}/callbacks/`,
    `${receiver.url}/other`,
    `${receiver.url}/callbacks/${"a".repeat(9_000)}`,
  ];
  for (const url of forged) {
    const response = await fetch(url, { method: "POST", body: "x".repeat(50_000) }).catch(
      () => undefined,
    );
    // A sender that is still writing may see the connection closed instead.
    expect([404, 414, undefined]).toContain(response?.status);
    if (response?.status === 404) expect(response.headers.get("connection")).toBe("close");
  }
  expect((await fetch(good)).status).toBe(404);
  expect(await (await fetch(`${receiver.url}/health`)).text()).toBe("well");
  expect(await count()).toBe(before);
});

test("what is not JSON is 400, what is too big is 413", async () => {
  const subject = subjectOf();
  const unlike = await post(receiver.url, subject, "{");
  expect([unlike.status, await unlike.json()]).toEqual([400, { error: "the body must be JSON" }]);
  const tooLarge = await post(receiver.url, subject, { text: "x".repeat(20_000) });
  expect([tooLarge.status, tooLarge.headers.get("connection")]).toEqual([413, "close"]);
  expect(await archive.list({ workflowId: subject.workflowId })).toEqual([]);
});

test.each(["", "json", ";charset=utf-8", "application/json, application/json"])(
  "the body decides whether it is JSON, whatever the content type says: %j",
  async (type) => {
    const body = JSON.stringify({ Identifier: "e-1" });
    const headers = { "content-type": type, "content-length": body.length };
    const to = callbackUrl(ring, receiver.url, subjectOf());
    const sent = request(to, { method: "POST", headers }).end(body);
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    response.resume();
    expect(response.statusCode).toBe(204);
  },
);

test("a forged address is answered before its body has come", async () => {
  const { socket, answer } = raw(receiver.port, "/callbacks/forged", 5_000);
  expect(await answer).toMatch(/^HTTP\/1\.1 404/);
  socket.destroy();
});

test("a body that does not come is cut, and its place is free again", async () => {
  const slow = await start({ requestTimeoutMs: 300, readLimit: 1 });
  const subject = subjectOf();
  const path = new URL(callbackUrl(ring, slow.url, subject)).pathname;
  const senders: ReturnType<typeof raw>[] = [];
  // On a busy machine the first may be cut before the second is asked.
  await until(async () => {
    senders.push(raw(slow.port, path, 5_000));
    return (await post(slow.url, subject, { Identifier: "second" })).status === 503;
  });
  expect(await senders[0]?.answer).toMatch(/^HTTP\/1\.1 408/);
  await Promise.all(senders.map(({ closed }) => closed));
  await until(async () => (await post(slow.url, subject, { Identifier: "third" })).status === 204);
  await slow.close();
});

test("a body that has come is read no more, while it waits for its commit", async () => {
  const small = await start({ readLimit: 1, databaseTimeoutMs: LONG });
  const subject = subjectOf();
  const release = await holdTable();
  const first = post(small.url, subject, { Identifier: "first" });
  await untilLockAwaited(database.pool);
  const second = post(small.url, subject, { Identifier: "second" });
  await until(() => small.inFlight() === 2);
  await release();
  expect([(await first).status, (await second).status]).toEqual([204, 204]);
  await small.close();
});

test("slow senders do not take the place of others", async () => {
  const small = await start({ queueLimit: 1 });
  const subject = subjectOf();
  const path = new URL(callbackUrl(ring, small.url, subject)).pathname;
  const slow = Array.from({ length: 20 }, () => raw(small.port, path, 5_000));
  await Promise.all(slow.map(({ socket }) => once(socket, "connect")));
  expect((await post(small.url, subject, { Identifier: "quick" })).status).toBe(204);
  for (const { socket } of slow) socket.destroy();
  await small.close();
});

test("beyond the queue limit the answer is 503 with Retry-After, at once, and the rest is stored", async () => {
  const small = await start({ queueLimit: 20, databaseTimeoutMs: LONG });
  // One address alone takes half of the places (quota.test.ts).
  const subjects = [subjectOf(), subjectOf()] as const;
  const release = await holdTable();
  const refused: Response[] = [];
  const all = Array.from({ length: 120 }, async (_, i) => {
    const response = await post(small.url, subjects[i % 2] ?? subjects[0], {
      Identifier: `e-${i}`,
    });
    if (response.status === 503) refused.push(response);
    return response.status;
  });
  await until(() => refused.length === 100);
  for (const { headers } of refused) expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
  // Then it looks at no address, and it still says that it is well.
  expect((await fetch(`${small.url}/callbacks/forged`, { method: "POST" })).status).toBe(503);
  expect(await (await fetch(`${small.url}/health`)).text()).toBe("well");
  expect(events.get("overloaded")).toBeGreaterThan(100);
  await release();
  expect((await Promise.all(all)).filter((status) => status === 204)).toHaveLength(20);
  const lists = subjects.map(({ workflowId }) => archive.list({ workflowId, limit: 1_000 }));
  expect((await Promise.all(lists)).flat()).toHaveLength(20);
  await small.close();
});

test("what comes together shares commits", async () => {
  const subjects = [subjectOf(), subjectOf()] as const;
  const release = await holdTable();
  const sent = Array.from({ length: 200 }, (_, i) =>
    post(receiver.url, subjects[i % 2] ?? subjects[0], { Identifier: `b-${i}` }),
  );
  await until(async () => receiver.inFlight() === 200);
  await release();
  expect(new Set((await Promise.all(sent)).map(({ status }) => status))).toEqual(new Set([204]));
  const { rows } = await database.pool.query(
    "select count(*)::int as events, count(distinct xmin::text)::int as commits from trustflow.callbacks where workflow_id = any($1)",
    [subjects.map(({ workflowId }) => workflowId)],
  );
  expect(rows[0].events).toBe(200);
  expect(rows[0].commits).toBeLessThan(100);
});

test("closing serves the connections it has, and does not wait for a body that never comes", async () => {
  const closing = await start({ requestTimeoutMs: 1_500 });
  const subject = subjectOf();
  const path = new URL(callbackUrl(ring, closing.url, subject)).pathname;
  const stalled = raw(closing.port, path, 5_000);
  await once(stalled.socket, "connect");
  const agents = [0, 1].map(() => new Agent({ keepAlive: true, maxSockets: 1 }));
  const send = (identifier: string, agent = agents[0]) => {
    const body = JSON.stringify({ Identifier: identifier });
    return once(request(closing.url + path, { agent, method: "POST" }).end(body), "response");
  };
  // The second connection stays idle.
  for (const agent of agents) {
    const [before] = (await send("before", agent)) as [IncomingMessage];
    before.resume();
    await once(before, "end");
  }
  const closed = closing.close();
  // Its request comes after several looks for idle connections, and within the time that they are given.
  await delay(100);
  const [last] = (await send("last")) as [IncomingMessage];
  expect([last.statusCode, last.headers.connection]).toEqual([204, "close"]);
  await expect(post(closing.url, subject, { Identifier: "new" })).rejects.toThrow();
  expect(await stalled.answer).toMatch(/^HTTP\/1\.1 408/);
  await closed;
  const rows = await archive.list({ workflowId: subject.workflowId });
  expect(rows.map(({ identifier }) => identifier).toSorted()).toEqual(["before", "last"]);
  for (const agent of agents) agent.destroy();
});

test("while PostgreSQL is away: 503 quickly; afterwards all is well by itself", async () => {
  const subject = subjectOf();
  // It has nothing that may be left out.
  const { pool } = database;
  const bare = await startReceiver({ pool, ring, sealRing, host: "127.0.0.1", port: 0 });
  await database.server?.stop();
  const response = await post(receiver.url, subject, { Identifier: "away" });
  expect(response.status).toBe(503);
  expect(response.headers.get("retry-after")).not.toBeNull();
  expect((await post(bare.url, subject, { Identifier: "away" })).status).toBe(503);
  await database.server?.start();
  for (const { url } of [receiver, bare])
    expect((await post(url, subject, { Identifier: "away" })).status).toBe(204);
  await bare.close();
  expect(events.get("databaseAway")).toBe(1);
  expect(warnings[0]).toHaveProperty("code");
});

// No transaction can write into the table until it is released, which a test that fails does too.
async function holdTable(): Promise<() => Promise<void>> {
  const commit = await uncommitted(database.pool, (client) =>
    client.query("lock table trustflow.callbacks in exclusive mode"),
  );
  let released: Promise<void> | undefined;
  const release = () => (released ??= commit());
  onTestFinished(release);
  return release;
}

// A request whose headers have come and whose body has not.
function raw(port: number, path: string, length: number) {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n{`,
  );
  const answer = once(socket, "data").then(([data]) => String(data));
  const closed = new Promise((resolve) => socket.once("close", resolve));
  return { socket, answer, closed };
}
