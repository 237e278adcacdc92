import { beforeAll, expect, test } from "vitest";
import { quarantine } from "../../../src/cleanup/quarantine.js";
import { testDatabase } from "../../harness/stack/postgres.js";
import { ofFile } from "../../harness/of-file.js";
import { commandLine } from "../in-process.js";

const [first, second] = ["0a".repeat(16), "0b".repeat(16)] as const;
const database = ofFile(testDatabase);
beforeAll(async () => {
  await quarantine(
    database.pool,
    new Map([first, second].map((id) => [id, new Date("2026-01-02T03:04:05Z")])),
  );
  await database.pool.query(
    "update trustflow.document_quarantine set quarantined_at = '2026-03-01T00:00:00Z'",
  );
});

const documents = (...args: string[]) =>
  commandLine(["documents", ...args], { env: { DATABASE_URL: database.url } });
const listed = (id: string) => ({
  uri: `document:${id}`,
  storedAt: "2026-01-02T03:04:05.000Z",
  quarantinedAt: "2026-03-01T00:00:00.000Z",
  removedFrom: "2026-03-15T00:00:00.000Z",
});

test("quarantine lists what is about to go, and from when; release takes one out for good", async () => {
  const { code, stdout } = await documents("quarantine", "--json");
  expect([code, JSON.parse(stdout)]).toEqual([0, [listed(first), listed(second)]]);
  const released = await documents("release", `document:${first}`);
  expect(released).toMatchObject({ code: 0, stdout: `document:${first}\n` });
  const left = await documents("quarantine");
  expect(left.stdout).toContain(second);
  expect(left.stdout).not.toContain(first);
  const both = await documents("release", `document:${first}`, `document:${second}`, "--json");
  expect(both.code).toBe(3);
  expect(JSON.parse(both.stdout)).toEqual({ released: [`document:${second}`] });
  expect(both.stderr).toContain(`document:${first}: not in quarantine`);
  expect(await documents("quarantine")).toMatchObject({
    code: 0,
    stdout: "",
    stderr: "no document is in quarantine\n",
  });
  expect(await documents("release", "order-7")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("uri: order-7 must be document:<32 hex digits>"),
  });
});
