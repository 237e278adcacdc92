// A PostgreSQL as docker-compose.yml has it: that of the image, and what the service `database-setup` makes in it.
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { PostgresServer } from "../../packages/dev/src/servers/postgres.js";
import { withPool } from "../harness/stack/postgres.js";
import { compose, root } from "./compose-file.js";

export type DeploymentDatabase = Awaited<ReturnType<typeof deploymentDatabase>>;

/** `secrets`: the folder of the secrets. The superuser is `postgres` then, with the password of its file, and nothing else is there. */
export async function deploymentDatabase({ url, port }: PostgresServer, secrets: string) {
  const urlOf = (user: string, password: string, database: string): string => {
    const other = new URL(url);
    Object.assign(other, { username: user, password, pathname: `/${database}` });
    return other.href;
  };
  const environment = (more: Record<string, string> = {}): Record<string, string> => ({
    PATH: process.env["PATH"] ?? "",
    PGPORT: String(port),
    SECRETS_DIRECTORY: secrets,
    ...more,
  });
  const secretOf = async (name: string) => (await readFile(join(secrets, name), "utf8")).trim();
  await withPool(url, (pool) => pool.query("create role helper superuser login password 'helper'"));
  const password = await secretOf("database_superuser");
  await withPool(urlOf("helper", "helper", "postgres"), async (pool) => {
    await pool.query("alter role trustflow rename to postgres");
    await pool.query("drop database trustflow with (force)");
    await pool.query(`alter role postgres password '${password}'`);
  });
  return {
    urlOf,
    environment,
    secretOf,
    /** The command of the service, with this machine's addresses and folders. */
    async setUp(): Promise<void> {
      const [shell = "", ...args] = compose.services["database-setup"]?.entrypoint ?? [];
      const here = args.map((arg) =>
        arg
          .replaceAll("$$", "$")
          .replaceAll("PGHOST=postgres", "PGHOST=127.0.0.1")
          .replaceAll("/setup", `${root}deploy/postgres`)
          .replaceAll("/run/secrets", secrets),
      );
      await promisify(execFile)(shell, here, { env: environment() });
    },
  };
}
