// The scripts that make the databases and roles of the deployment, run by psql against a real PostgreSQL as docker-compose.yml runs
// them: as often as a person likes, after a set-up that failed, and after a password has changed.
import { spawnSync } from "node:child_process";
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Arrivals } from "../../src/callbacks/receiver/arrivals.js";
import { writeSecretFiles } from "../../src/cli/keys/secret-files.js";
import { generateKeyRing } from "../../src/crypto/key-ring.js";
import type { PostgresServer } from "../../packages/dev/src/servers/postgres.js";
import type { Pool } from "../../src/postgres/pool.js";
import { databaseRoles, loginOf } from "../../src/postgres/roles.js";
import type { DatabaseRole } from "../../src/postgres/roles.js";
import { sealRing, subjectOf } from "../callbacks/support.js";
import { commandLine } from "../cli/in-process.js";
import { describeWith } from "../harness/programs.js";
import { startPostgres, withPool } from "../harness/stack/postgres.js";
import { compose } from "./compose-file.js";
import { deploymentDatabase, type DeploymentDatabase } from "./deployment-database.js";
import { temporaryFolder } from "../harness/temporary.js";

let server: PostgresServer;
let database: DeploymentDatabase;
const secrets = await temporaryFolder();

beforeAll(async () => {
  await writeSecretFiles(secrets, generateKeyRing);
  server = await startPostgres();
  database = await deploymentDatabase(server, secrets);
});
afterAll(() => server.close());

/** The check of docker-compose.yml. The image asks nobody on its own address for a password; this server does. */
async function isHealthy(): Promise<boolean> {
  const [, command = "", ...args] = compose.services["postgres"]?.healthcheck?.test ?? [];
  const password = await database.secretOf("database_operator");
  return (
    spawnSync(command, args, { env: database.environment({ PGPASSWORD: password }) }).status === 0
  );
}

/** As in docker-compose.yml: the URL has the user, a file the password. */
function envOf(role: DatabaseRole | "owner"): Record<string, string> {
  return {
    DATABASE_URL: database.urlOf(role === "owner" ? "trustflow" : loginOf(role), "", "trustflow"),
    TRUSTFLOW_DATABASE__PASSWORD__FILE: join(secrets, `database_${role}`),
  };
}

const list = (role: DatabaseRole) => commandLine(["callbacks", "list"], { env: envOf(role) });
const migrate = (role: DatabaseRole | "owner") =>
  commandLine(["migrate", "--database-only"], { env: envOf(role) });

async function havePublicLocks(): Promise<boolean> {
  return withPool(database.urlOf("helper", "helper", "trustflow"), async (pool) => {
    const { rows } = await pool.query(
      "select has_function_privilege('public', 'pg_advisory_lock(bigint)', 'execute') as has",
    );
    return rows[0].has;
  });
}

async function as<T>(
  role: DatabaseRole,
  work: (pool: Pool) => Promise<T>,
  where = "trustflow",
): Promise<T> {
  const password = await database.secretOf(`database_${role}`);
  return withPool(database.urlOf(loginOf(role), password, where), work);
}

test("the last role that is made is the one by which the health check looks", () => {
  const last = databaseRoles.at(-1) ?? "receiver";
  expect(compose.services["postgres"]?.healthcheck?.test).toContain(`--username=${loginOf(last)}`);
});

describeWith("psql", "the scripts of databases and roles", () => {
  test("a set-up that failed leaves PostgreSQL unhealthy; run again it makes what is missing", async () => {
    expect(await isHealthy()).toBe(false);
    const file = join(secrets, "database_operator");
    await rename(file, `${file}.away`);
    await expect(database.setUp()).rejects.toThrow("database_operator");
    // Roles that run already keep their locks until each role has its own.
    expect(await havePublicLocks()).toBe(true);
    await rename(`${file}.away`, file);
    expect(await isHealthy()).toBe(false);
    expect((await migrate("owner")).stderr).toContain("missing: trustflow_operator;");
    await database.setUp();
    expect(await havePublicLocks()).toBe(false);
    expect(await isHealthy()).toBe(true);
  }, 60_000);

  test("each role logs in with the password of its file, has its rights after migrate, and a new password counts after another run", async () => {
    const early = await list("operator");
    const remedy = expect.stringContaining('run "trustflow migrate" as the owner');
    expect([early.code, early.stderr]).toEqual([4, remedy]);

    expect((await migrate("owner")).stderr).toContain("Database roles: granted");
    expect((await list("operator")).code).toBe(0);
    const refused = await list("receiver");
    expect([refused.code === 0, refused.stderr]).toEqual([
      false,
      expect.stringContaining("permission denied"),
    ]);

    const migrated = await migrate("worker");
    expect([migrated.code, migrated.stderr]).toEqual([
      4,
      expect.stringContaining("the URL of the owner of the tables"),
    ]);

    const run = { operator: () => list("operator"), owner: () => migrate("owner") };
    for (const role of ["operator", "owner"] as const) {
      const file = join(secrets, `database_${role}`);
      await rm(file);
      await writeFile(file, "another' password\n");
      expect((await run[role]()).stderr).toContain("password authentication failed");
      await database.setUp();
      expect((await run[role]()).code).toBe(0);
    }
  }, 60_000);

  test("the receiver takes no advisory lock, makes no temporary table or large object, and stores", async () => {
    const statements = [
      "select pg_advisory_lock(1)",
      "select pg_try_advisory_lock(1, 2)",
      "select pg_advisory_xact_lock_shared(1)",
      "create temporary table callbacks (n int)",
      "select lo_from_bytea(0, '')",
    ];
    for (const statement of statements)
      await expect(as("receiver", (pool) => pool.query(statement))).rejects.toThrow(
        /^permission denied/,
      );
    for (const other of ["postgres", "template1", "temporal"])
      await expect(as("receiver", (pool) => pool.query("select 1"), other)).rejects.toThrow(
        /^permission denied/,
      );
    for (const role of ["relay", "worker", "cleanup"] as const)
      await as(role, (pool) => pool.query("select pg_advisory_xact_lock(1)"));

    const arrival = {
      ...{ address: "an address", identifier: "a", subject: subjectOf() },
      body: Buffer.from('{"Identifier":"a"}'),
    };
    const stored = await as("receiver", (pool) =>
      new Arrivals(pool, sealRing).insert([arrival], 5_000),
    );
    expect(stored).toEqual(["stored"]);
  });
});
