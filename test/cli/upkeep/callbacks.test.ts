import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { readAddress } from "../../../src/callbacks/address.js";
import { Inbox } from "../../../src/callbacks/inbox/inbox.js";
import type { Settlement } from "../../../src/callbacks/inbox/rows.js";
import { Arrivals } from "../../../src/callbacks/receiver/arrivals.js";
import { KeyRing, generateKeyRing } from "../../../src/crypto/key-ring.js";
import { sealRing, subjectOf } from "../../callbacks/support.js";
import { testDatabase } from "../../harness/stack/postgres.js";
import { ofFile } from "../../harness/of-file.js";
import { commandLine } from "../in-process.js";

const database = ofFile(testDatabase);
const keys = generateKeyRing();
const env = {
  TRUSTFLOW_KEYS__CALLBACK: keys,
  TRUSTFLOW_CALLBACKS__PUBLIC_URL: "https://callbacks.example.com",
  TRUSTFLOW_ACCOUNTS__BRANCH__ONE_SHOT_SIGNATURE__BASE_URL: "https://sign.example.com",
  TRUSTFLOW_ACCOUNTS__BRANCH__ONE_SHOT_SIGNATURE__TOKEN: "t",
  TRUSTFLOW_ACCOUNTS__DEFAULT__MESSAGING_GATEWAY__BASE_URL: "https://send.example.com",
  TRUSTFLOW_ACCOUNTS__DEFAULT__MESSAGING_GATEWAY__USERNAME: "u",
  TRUSTFLOW_ACCOUNTS__DEFAULT__MESSAGING_GATEWAY__PASSWORD: "p",
  TRUSTFLOW_ACCOUNTS__DEFAULT__MESSAGING_GATEWAY__API_KEY: "k",
};
const address = (...args: string[]) =>
  commandLine(["callbacks", "address", "one-shot-signature", ...args], { env });

test("callbacks address prints the URL of the account, and nothing else anywhere", async () => {
  const { code, stdout, stderr } = await address("--account", "branch");
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(/^https:\/\/callbacks\.example\.com\/callbacks\/[\w.-]+\n$/);
  const segment = stdout.trim().split("/").at(-1) ?? "";
  expect(readAddress(KeyRing.parse(keys), segment)?.subject).toEqual({
    provider: "one-shot-signature",
    account: "branch",
  });
  const json = await address("--account", "branch", "--json");
  expect(JSON.parse(json.stdout)).toEqual({ url: stdout.trim() });
});

test("callbacks address knows only configured accounts of the provider: another one would collect callbacks without a process", async () => {
  for (const account of ["default", "mistyped"]) {
    const { code, stdout, stderr } = await address("--account", account);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(`accounts.${account}.one-shot-signature is not configured`);
  }
});

describe("callbacks replay --since", () => {
  beforeAll(async () => {
    await fill("old", { state: "parked", reason: "unreadable" });
    await database.pool.query(
      "update trustflow.callbacks set received_at = now() - interval '2 d'",
    );
    await fill("parked", { state: "parked", reason: "unknownProcess" });
    await fill("late", { state: "late" });
    await fill("delivered", { state: "delivered" });
  });

  /** A callback by its identifier, settled as a relay would. */
  async function fill(identifier: string, settlement: Settlement): Promise<void> {
    const subject = subjectOf();
    const body = Buffer.from("{}");
    const arrival = { address: subject.workflowId, identifier, subject, body };
    await new Arrivals(database.pool, sealRing).insert([arrival], 5_000);
    const inbox = new Inbox(database.pool);
    const claim = randomUUID();
    const rows = await inbox.claim(claim, 10_000);
    const ids = rows.map(({ id }) => id);
    await inbox.settle(claim, ids, settlement);
  }

  async function run(...args: string[]) {
    const settings = { env: { DATABASE_URL: database.url } };
    const { code, stdout, stderr } = await commandLine(["callbacks", ...args, "--json"], settings);
    return { code, found: JSON.parse(stdout || "null"), stderr };
  }
  const waiting = async () =>
    (await run("list", "--state", "waiting")).found.map(
      ({ identifier }: { identifier: string }) => identifier,
    );

  test("--dry-run lists what would be replayed, and replays nothing", async () => {
    const { code, found } = await run("replay", "--since", "1d", "--dry-run");
    expect([code, found]).toMatchObject([0, [{ identifier: "parked", state: "parked" }]]);
    const both = ["--state", "parked", "--state", "late"];
    expect((await run("replay", "--since", "1d", "--dry-run", ...both)).found).toHaveLength(2);
    expect(await waiting()).toEqual([]);
  });

  test("a list takes it too", async () => {
    expect((await run("list", "--since", "1d")).found).toHaveLength(3);
    expect((await run("parked", "--since", "3d")).found).toHaveLength(2);
  });

  test("replays what was received from then on and is parked, and nothing else", async () => {
    const { code, found } = await run("replay", "--since", "1d");
    expect([code, found]).toEqual([0, { replayed: [expect.any(String)], notReplayed: [] }]);
    expect(await waiting()).toEqual(["parked"]);
    expect((await run("replay", "--since", "1d", "--state", "late")).found.replayed).toHaveLength(
      1,
    );
    expect(await waiting()).toEqual(["late", "parked"]);
    expect((await run("replay", "--since", "1d")).found).toEqual({ replayed: [], notReplayed: [] });
    const said = await commandLine(["callbacks", "replay", "--since", "1d"], {
      env: { DATABASE_URL: database.url },
    });
    expect(said.stderr).toBe("No parked callback since then\n");
  });

  test("one whose body is deleted is named, and the command ends with 1", async () => {
    await database.pool.query(
      "update trustflow.callbacks set body = null where identifier = 'old'",
    );
    const { code, found } = await run("replay", "--since", "3d");
    expect([code, found]).toEqual([1, { replayed: [], notReplayed: [expect.any(String)] }]);
  });

  test("a page says that there are more, and how to see them", async () => {
    const settings = { env: { DATABASE_URL: database.url } };
    const page = (...args: string[]) => commandLine(["callbacks", "list", ...args], settings);
    const { stdout, stderr } = await page("--limit", "3");
    const last = stdout.trim().split("\n").at(-1)?.split(" ", 1)[0];
    expect(stderr).toBe(`There are more: --before ${last} shows them\n`);
    const { stderr: inJson } = await page("--limit", "3", "--json");
    expect(JSON.parse(inJson)).toEqual({ before: last });
    expect((await page("--before", String(last), "--limit", "1")).stderr).toBe("");
  });

  test("a database that takes no writes, as a standby, is one that is not available", async () => {
    const readOnly = new URL(database.url);
    readOnly.searchParams.set("options", "-c default_transaction_read_only=on");
    const settings = { env: { DATABASE_URL: readOnly.href } };
    const { code, stderr } = await commandLine(["callbacks", "replay", "7"], settings);
    expect(stderr).toContain("The database refuses: cannot execute UPDATE in a read-only");
    expect(code).toBe(4);
  });

  test.each([
    [["replay"], "give callbacks or --since, and not both"],
    [["replay", "7", "--since", "1d"], "give callbacks or --since, and not both"],
    [["replay", "7", "--dry-run"], "need --since"],
    [["replay", "--since", "yesterday"], "must be a time such as"],
    [["replay", "--since", "1d", "--state", "delivered"], "Allowed choices are parked, late"],
  ])("%j is a usage error", async (args, problem) => {
    const { code, stderr } = await run(...args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(problem)]);
  });
});
