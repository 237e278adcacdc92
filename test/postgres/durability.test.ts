// What is read of a server's settings, on a server of its own: each setting that loses commits is named.
import { afterEach, expect, test } from "vitest";
import { durabilityOf } from "../../src/postgres/durability.js";
import { createPool, databaseNow, transaction } from "../../src/postgres/pool.js";
import { generateKeyRing } from "../../src/crypto/key-ring.js";
import { doctor, expectFinding } from "../cli/doctor/doctor.js";
import { trustflow } from "../cli/run.js";
import { startStandby, testDatabase } from "../harness/stack/postgres.js";
import { eventually, until } from "../harness/outages/wait.js";
import { ofFile } from "../harness/of-file.js";

const database = ofFile(() => testDatabase({ own: true }));
afterEach(async () => {
  await database.pool.query("alter system reset all");
  await reload();
});

async function reload(): Promise<void> {
  const loadedAt = async () => {
    const { rows } = await database.pool.query<{ at: Date }>("select pg_conf_load_time() as at");
    return rows[0]?.at.getTime();
  };
  const before = await loadedAt();
  await database.pool.query("select pg_reload_conf()");
  await until(async () => (await loadedAt()) !== before);
}

async function withSettings(settings: Record<string, string>): Promise<void> {
  for (const [name, value] of Object.entries(settings))
    await database.pool.query(`alter system set ${name} = '${value}'`);
  await reload();
}

/** By a connection that is new, as those of a worker that starts are. */
async function durability() {
  const pool = createPool(database.url, { max: 1 });
  try {
    const { rows } = await pool.query<{ synchronous_commit: string }>("show synchronous_commit");
    return { ...(await durabilityOf(pool)), level: rows[0]?.synchronous_commit };
  } finally {
    await pool.end();
  }
}

test("a server as it comes keeps what it commits", async () => {
  expect(await durability()).toEqual({ problems: [], warnings: [], level: "on" });
});

test.each([["fsync"], ["full_page_writes"]])("%s off is named", async (setting) => {
  await withSettings({ [setting]: "off" });
  const { problems } = await durability();
  expect(problems).toEqual([expect.stringMatching(new RegExp(`^${setting} is off: `))]);
  const report = await doctor({ DATABASE_URL: database.url });
  expectFinding(report, "durability", "commitsNotDurable", setting);
});

test("a worker does not start on such a server, and names the setting", async () => {
  await withSettings({ fsync: "off" });
  const ring = generateKeyRing();
  const { code, stderr } = await trustflow(["worker"], {
    env: {
      DATABASE_URL: database.url,
      TRUSTFLOW_KEYS__CODEC: ring,
      TRUSTFLOW_KEYS__CALLBACK: ring,
      TRUSTFLOW_KEYS__JOURNAL: ring,
    },
  });
  expect(code).toBe(4);
  const reason = expect.stringContaining("fsync is off");
  expect(JSON.parse(stderr)).toMatchObject({ exitCode: 4, reason });
});

test.each(["off", "local"])(
  "synchronous_commit %s, of the server or in the URL, is set on for each connection",
  async (level) => {
    await withSettings({ synchronous_commit: level });
    expect(await durability()).toEqual({ problems: [], warnings: [], level: "on" });
    await database.pool.query("alter system reset all");
    await reload();
    const url = `${database.url}?options=-c%20synchronous_commit%3D${level}`;
    const pool = createPool(url, { max: 1 });
    const { rows } = await pool.query("show synchronous_commit");
    await pool.end();
    expect(rows).toEqual([{ synchronous_commit: "on" }]);
  },
);

test("each statement sees what was committed before it, whatever isolation the server has", async () => {
  await withSettings({ default_transaction_isolation: "repeatable read" });
  const level = await transaction(database.pool, (client) =>
    client.query("show transaction_isolation"),
  );
  expect(level.rows).toEqual([{ transaction_isolation: "read committed" }]);
});

test("a time reads as a time, whatever the server's style of dates", async () => {
  await withSettings({ datestyle: "German" });
  const pool = createPool(database.url, { max: 1 });
  const now = await databaseNow(pool);
  await pool.end();
  expect(Math.abs(now.getTime() - Date.now())).toBeLessThan(60_000);
});

test("a level that waits for a standby stays as it is, and is well where one must confirm", async () => {
  await withSettings({ synchronous_commit: "remote_apply" });
  expect(await durability()).toEqual({ problems: [], warnings: [], level: "remote_apply" });
  await withSettings({ synchronous_standby_names: "nobody" });
  expect(await durability()).toEqual({ problems: [], warnings: [], level: "remote_apply" });
});

test.each(["local", "off"])(
  "synchronous_standby_names with a commit level %s, which waits for none, is named",
  async (level) => {
    await withSettings({ synchronous_standby_names: "nobody", synchronous_commit: level });
    const { problems } = await durability();
    const problem = `synchronous_standby_names is set, but synchronous_commit is ${level}`;
    expect(problems).toEqual([expect.stringContaining(problem)]);
  },
);

test("an asynchronous standby is a warning that says what a failover loses", async () => {
  const end = await startStandby(database.url);
  try {
    const found = await eventually("the standby is seen", async () => {
      const seen = await durability();
      return seen.warnings.length > 0 && seen;
    });
    expect(found.problems).toEqual([]);
    expect(found.warnings).toEqual([expect.stringContaining("a failover to one of them loses")]);
    const report = await doctor({ DATABASE_URL: database.url });
    expectFinding(report, "durability", "standbyAsynchronous", "acknowledged callbacks");
  } finally {
    end();
  }
});
