// The script that makes the database roles of the deployment, run by psql against a real PostgreSQL, as often as it likes.
import { execFile, spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { writeSecretFiles } from "../../src/cli/keys/secret-files.js";
import { generateKeyRing } from "../../src/crypto/key-ring.js";
import type { PostgresServer } from "../../src/local/servers/postgres.js";
import { loginOf } from "../../src/postgres/roles.js";
import type { DatabaseRole } from "../../src/postgres/roles.js";
import { trustflow } from "../cli/run.js";
import { startPostgres } from "../harness/stack/postgres.js";
import { root } from "./compose-file.js";

const hasPsql = spawnSync("psql", ["--version"]).status === 0;
let server: PostgresServer;
let secrets: string;

beforeAll(async () => {
  secrets = await mkdtemp(join(tmpdir(), "trustflow-roles-"));
  await writeSecretFiles(secrets, generateKeyRing);
  server = await startPostgres();
});
afterAll(async () => {
  await server.close();
  await rm(secrets, { recursive: true, force: true });
});

async function makeRoles(): Promise<void> {
  const { username, password, hostname, port } = new URL(server.url);
  await promisify(execFile)("sh", [`${root}deploy/postgres/20-roles.sh`], {
    env: {
      PATH: process.env["PATH"] ?? "",
      POSTGRES_USER: username,
      PGPASSWORD: password,
      PGHOST: hostname,
      PGPORT: port,
      SECRETS_DIRECTORY: secrets,
    },
  });
}

/** As in docker-compose.yml: the URL has the user, a file the password. */
function envOf(role: DatabaseRole): Record<string, string> {
  const url = new URL(server.url);
  url.username = loginOf(role);
  url.password = "";
  return {
    DATABASE_URL: url.href,
    TRUSTFLOW_DATABASE__PASSWORD__FILE: join(secrets, `database_${role}`),
  };
}

const list = (role: DatabaseRole) => trustflow(["callbacks", "list"], { env: envOf(role) });

(hasPsql ? test : test.skip)(
  "each role logs in with the password of its file, has its rights after migrate, and a new password counts after another run",
  async () => {
    const migrate = () =>
      trustflow(["migrate", "--database-only"], { env: { DATABASE_URL: server.url } });
    expect((await migrate()).stderr).toContain("missing: trustflow_receiver, ");
    await makeRoles();
    const early = await list("operator");
    const remedy = expect.stringContaining('run "trustflow migrate" as the owner');
    expect([early.code, early.stderr]).toEqual([4, remedy]);

    expect((await migrate()).stderr).toContain("Database roles: granted");
    expect((await list("operator")).code).toBe(0);
    const refused = await list("receiver");
    expect([refused.code === 0, refused.stderr]).toEqual([
      false,
      expect.stringContaining("permission denied"),
    ]);

    const migrated = await trustflow(["migrate", "--database-only"], { env: envOf("worker") });
    expect([migrated.code, migrated.stderr]).toEqual([
      4,
      expect.stringContaining("the URL of the owner of the tables"),
    ]);

    const file = join(secrets, "database_operator");
    await rm(file);
    await writeFile(file, "another' password\n");
    expect((await list("operator")).stderr).toContain("password authentication failed");
    await makeRoles();
    expect((await list("operator")).code).toBe(0);
  },
  60_000,
);
