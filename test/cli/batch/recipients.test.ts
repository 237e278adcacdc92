// `trustflow recipients` on a real PostgreSQL: the notices of a batch, as a table, CSV and JSON Lines, and the reports about one.
import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { BatchItems } from "../../../src/batch/items/items.js";
import { bodyContext } from "../../../src/callbacks/inbox/rows.js";
import { KeyRing } from "../../../src/crypto/key-ring.js";
import { BoxSealer, generateBoxRing } from "../../../src/crypto/sealed-box.js";
import { testDatabase } from "../../harness/stack/postgres.js";
import { ofFile } from "../../harness/of-file.js";
import { commandLine } from "../in-process.js";

const NOTICES = 150;
const id = `campaign-${randomUUID()}`;
const batch = { namespace: "default", workflowId: `sendNoticeBatch/${id}` };
const evidenceOf = (index: number) => `notice-${String(index).padStart(4, "0")}`;

const { privateRing, publicRing } = generateBoxRing();
const database = ofFile(testDatabase);
beforeAll(async () => {
  const items = new BatchItems(database.pool);
  await items.open(batch, NOTICES);
  const listed = Array.from({ length: NOTICES }, (_, index) => ({
    evidenceId: evidenceOf(index),
    line: index + 2,
  }));
  await items.noteListed(batch, listed);
  const reads = [
    { evidenceId: evidenceOf(0), state: "Closed", outcome: "refused" },
    { evidenceId: evidenceOf(1), state: "Closed", outcome: "read" },
    { evidenceId: evidenceOf(2), state: "Delivered" },
  ];
  await items.noteRead(batch, reads, new Date("2026-03-02T09:15:27Z"));
  await database.pool.query(
    `insert into trustflow.callbacks (address, identifier, provider, namespace, workflow_id, size, body, state, evidence_id, kind, event_date)
     values ('a', 'one', 'evi-notice', $1, $2, 1, 'x', 'kept', $3, 'Sent', '2026-03-02T09:15:27Z')`,
    [batch.namespace, batch.workflowId, evidenceOf(0)],
  );
  const read = {
    ...{ Identifier: "two", Kind: "Read", Date: "2026-03-02T09:15:27Z" },
    AdditionalData: { To: "ana@example.com", IpAddress: "192.0.2.1", UserAgent: "Mozilla/5.0" },
  };
  const place = { address: "a", identifier: "two" };
  const body = new BoxSealer(KeyRing.parse(publicRing)).seal(
    Buffer.from(JSON.stringify(read)),
    bodyContext(place),
  );
  await database.pool.query(
    `insert into trustflow.callbacks (address, identifier, provider, namespace, workflow_id, size, body, state, evidence_id, kind)
     values ($1, $2, 'evi-notice', $3, $4, 1, $5, 'kept', $6, 'Read'), ($1, 'three', 'evi-notice', $3, $4, 1, null, 'kept', $6, 'Closed')`,
    [...Object.values(place), batch.namespace, batch.workflowId, body, evidenceOf(1)],
  );
});

const recipients = (...args: string[]) => withKeys({}, ...args);
const withKeys = (keys: Record<string, string>, ...args: string[]) =>
  commandLine(["recipients", ...args], { env: { TRUSTFLOW_DATABASE__URL: database.url, ...keys } });

test("a table has the first ones, and says that there are more", async () => {
  const { code, stdout, stderr } = await recipients(id);
  const lines = stdout.trimEnd().split("\n");
  expect([code, lines.length]).toEqual([0, 101]);
  expect(lines[0]).toMatch(/^LINE +NOTICE +STATE +OUTCOME +AT +SOURCE$/);
  expect(lines[1]).toMatch(/^2 +notice-0000 +Closed +refused +2026-03-02T09:15:27.000Z +query$/);
  expect(stderr).toContain("150 recipients");
});

test("--csv and --json have all of them", async () => {
  const csv = (await recipients(id, "--csv")).stdout.trimEnd().split("\r\n");
  expect(csv[0]).toBe('"line","evidenceUniqueId","state","outcome","at","source"');
  expect(csv).toHaveLength(NOTICES + 1);
  const json = (await recipients(batch.workflowId, "--json")).stdout.trimEnd().split("\n");
  expect(json).toHaveLength(NOTICES);
  expect(JSON.parse(json[3] ?? "")).toEqual({
    line: 5,
    evidenceUniqueId: evidenceOf(3),
    source: "recipients",
  });
});

test("filters leave out what they do not fit", async () => {
  const lines = async (...args: string[]) =>
    (await recipients(id, "--json", ...args)).stdout.split("\n").filter(Boolean).length;
  expect(await lines("--state", "refused")).toBe(1);
  expect(await lines("--outcome", "read")).toBe(1);
  expect(await lines("--open")).toBe(NOTICES - 2);
});

test("--history takes the id of a notice, or its line", async () => {
  for (const notice of [evidenceOf(0), "2"]) {
    const { code, stdout } = await recipients(id, "--history", notice);
    expect([code, stdout.trimEnd().split("\n").length]).toEqual([0, 2]);
    expect(stdout).toMatch(/^Sent +2026-03-02T09:15:27.000Z +2/m);
  }
  expect((await recipients(id, "--history", "3")).code).toBe(0);
  expect((await recipients(id, "--history", "1")).code).toBe(3);
});

test("--history --full shows the reader by the private keys of the inbox alone, and nothing of a body that is deleted", async () => {
  const keys = { TRUSTFLOW_KEYS__INBOX: privateRing };
  const asked = [id, "--history", evidenceOf(1), "--json"];
  const [read, closed] = JSON.parse((await withKeys(keys, ...asked, "--full")).stdout);
  const about = { to: "ana@example.com", ipAddress: "192.0.2.1", userAgent: "Mozilla/5.0" };
  expect([read.kind, read.about]).toEqual(["Read", about]);
  expect([closed.kind, closed.about]).toEqual(["Closed", undefined]);
  const table = await withKeys(keys, ...asked.slice(0, 3), "--full");
  expect(table.stdout).toMatch(
    /^EVENT +AT +RECEIVED +to +ipAddress +userAgent\nRead .*192\.0\.2\.1/,
  );
  for (const less of [await withKeys(keys, ...asked), await recipients(...asked, "--full")])
    expect(less.stdout).not.toContain("192.0.2.1");
});

test("what is no batch, and one that is not known", async () => {
  const other = await recipients("sendPostal/order-7");
  expect([other.code, other.stderr]).toEqual([
    2,
    expect.stringContaining("is no batch of notices"),
  ]);
  const unknown = await recipients("nobody");
  expect(unknown.code).toBe(3);
  expect(unknown.stderr).toContain("sendNoticeBatch/nobody has no notices here");
});
