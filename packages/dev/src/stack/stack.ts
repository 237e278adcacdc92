// The whole system in one process tree: PostgreSQL, Temporal with its Web UI, then each role as a process of its own.
import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { callbackUrl } from "trustflow/internal/callbacks/address.js";
import { CommandError, exitCodes } from "trustflow/internal/cli/output/exit.js";
import { searchAttributes } from "trustflow/internal/contracts/shared/names.js";
import { KeyRing } from "trustflow/internal/crypto/key-ring.js";
import { sandboxControl } from "trustflow-sandbox";
import type { PersonTime, Speed } from "trustflow-sandbox";
import type { Exit } from "../processes/child.js";
import { clockEnv } from "../clock/clock-env.js";
import { makeDatabaseClock } from "../clock/database-clock.js";
import { openDatabaseRoles } from "./database-roles.js";
import { tryLock } from "../processes/lock.js";
import { cliPath } from "../paths.js";
import { startPostgres } from "../servers/postgres.js";
import type { PostgresServer } from "../servers/postgres.js";
import { openPrivateFolder } from "./private-folder.js";
import { envOfRole, cleanEnv, clientEnv, sandboxPki, stackEnv } from "./stack-env.js";
import { roleNames, startRole } from "./role.js";
import type { Role, RoleName } from "./role.js";
import {
  accountsInWords,
  readOwnConfiguration,
  refuseUnusable,
  settingOf,
  replacedKeys,
  sandboxAccountName,
} from "./own-configuration.js";
import type { OwnConfiguration } from "./own-configuration.js";
import { openState, refuseOtherSetting } from "./stack-state.js";
import type { StackState } from "./stack-state.js";
import { findTemporal, startTemporal } from "../servers/temporal-server.js";
import type { TemporalServer } from "../servers/temporal-server.js";
import { run } from "../processes/tools.js";
import type { Progress } from "../processes/tools.js";
import { removeOnExit } from "../processes/watchdog.js";

export type { Role, RoleName } from "./role.js";

export interface StackOptions {
  /** Keys, data, logs. */
  directory: string;
  /** Kept for the next start; else removed at the end, however this process ends. */
  persistent: boolean;
  sandboxSpeed?: Speed;
  /** The clock by which codes and eID assertions get too old. */
  sandboxPersonTime?: PersonTime;
  /** The file of a virtual clock, by which worker and receiver live; default: the real one. */
  clockFile?: string;
  /** Default: all. */
  roles?: readonly RoleName[];
  /** A trustflow.toml to read, if it is there; default none. */
  config?: string;
  /** Laid over the generated configuration. */
  env?: Record<string, string>;
  /** A PostgreSQL of your own; its database is used as it is, by every role. */
  databaseUrl?: string;
  /** How long a role may take to stop before it is killed. */
  graceMs?: number;
  progress?: Progress;
  /** Called when a role ended unexpectedly; default: reported through `progress`. */
  onDeath?: (role: Role, exit: Exit) => void;
}

export interface Stack {
  /** Of an operator: all that is configured. */
  readonly env: Record<string, string>;
  /** The roles and servers write their logs there. */
  readonly logDirectory: string;
  /** What a role is given. */
  envOf(name: RoleName): Record<string, string>;
  /** Of the owner of the tables. */
  readonly databaseUrl: string;
  /** What a client needs, and nothing else. */
  readonly clientEnv: Record<string, string>;
  readonly directory: string;
  readonly temporal: TemporalServer;
  /** Absent with a `databaseUrl`. */
  readonly postgres: PostgresServer | undefined;
  readonly temporalUi: string;
  /** A process in the Web UI. */
  linkOf(workflowId: string): string;
  readonly sandboxUrl: string;
  /** Each account in words. */
  readonly accounts: Record<string, string>;
  readonly receiverUrl: string;
  readonly codecUrl: string;
  role(name: RoleName): Role;
  /** Reads the trustflow.toml of one's own again, for roles that are started from now on; throws where it refuses it. */
  reconfigure(): void;
  close(): Promise<void>;
}

export async function startStack(options: StackOptions): Promise<Stack> {
  const directory = resolve(options.directory);
  const { progress = () => {}, roles: wanted = roleNames } = options;
  await openPrivateFolder(directory, progress);
  const closers = await takeFolder(directory, options.persistent);
  const close = once(async () => {
    for (const closer of closers.splice(0)) await closer();
  });
  try {
    const [state, temporalPath] = await Promise.all([
      openState(directory, progress, settingOf(readOwn(options))),
      findTemporal(progress),
    ]);
    const place = { directory, logDirectory: join(directory, "logs"), state };
    await prepareFiles(place);
    progress("starting PostgreSQL and Temporal");
    const { postgres, temporal } = await startServers(options, place, temporalPath, closers);
    const databaseUrl = options.databaseUrl ?? (postgres as PostgresServer).url;
    if (options.clockFile !== undefined) await makeDatabaseClock(databaseUrl);
    const databaseUrls = postgres && (await openDatabaseRoles(postgres.url));
    const configuration = configurationOf(options, place, databaseUrl, databaseUrls);
    progress(`starting ${wanted.join(", ")}`);
    const roles = await startRoles(options, place, configuration, closers, {
      ...{ databaseUrl, ownsDatabase: postgres !== undefined },
    });
    const url = (port: number): string => `http://127.0.0.1:${port}`;
    const { ports } = state;
    const { env } = configuration;
    if (wanted.includes("sandbox"))
      await giveCloseEventAddress(
        env,
        configuration.sandboxAccount(),
        url(ports.receiver),
        url(ports.sandbox),
      );
    return {
      ...{ env, databaseUrl, clientEnv: clientEnv(state, directory), directory },
      logDirectory: place.logDirectory,
      ...{ temporal, postgres, temporalUi: temporal.uiUrl, sandboxUrl: url(ports.sandbox) },
      ...{ receiverUrl: url(ports.receiver), close },
      linkOf: (workflowId) =>
        `${temporal.uiUrl}/namespaces/default/workflows/${encodeURIComponent(workflowId)}`,
      codecUrl: `${url(ports.codecServer)}/${state.codecToken}`,
      get accounts() {
        return configuration.accounts();
      },
      envOf: configuration.envOf,
      role(name) {
        const role = roles.get(name);
        if (!role) throw new Error(`the stack runs without the role ${name}`);
        return role;
      },
      reconfigure: configuration.read,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** What is closed at the end, in this order: what was opened last is put first. */
type Closers = (() => Promise<unknown>)[];

interface Place {
  directory: string;
  logDirectory: string;
  state: StackState;
}

/** For this stack alone; throws where another one runs in it. */
async function takeFolder(directory: string, isPersistent: boolean): Promise<Closers> {
  const unlock = await tryLock(join(directory, "lock"));
  if (!unlock)
    throw new CommandError(
      exitCodes.unreachable,
      `a stack is already running in ${directory} (its process id is in the file "lock"): end it with Ctrl-C there, or give this one another folder with --directory`,
    );
  if (isPersistent) return [unlock];
  const unregister = removeOnExit(directory);
  const remove = async () => {
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
    unregister();
  };
  return [remove, unlock];
}

async function prepareFiles({ directory, logDirectory }: Place): Promise<void> {
  await mkdir(logDirectory, { recursive: true });
  await writeFile(join(directory, "trustflow.toml"), "");
  // The SDK's reader needs the table to be there.
  await writeFile(join(directory, "temporal.toml"), "[profile.default]\n");
}

async function startServers(
  { databaseUrl, persistent, clockFile }: StackOptions,
  { directory, logDirectory, state }: Place,
  temporalPath: string,
  closers: Closers,
): Promise<{ postgres: PostgresServer | undefined; temporal: TemporalServer }> {
  const { ports } = state;
  const [postgres, temporal] = await all([
    async () => {
      if (databaseUrl !== undefined) return undefined;
      const server = await startPostgres({
        directory: join(directory, "postgres"),
        port: ports.postgres,
      });
      closers.unshift(() => server.close());
      return server;
    },
    async () => {
      const server = await startTemporal({
        path: temporalPath,
        port: ports.temporal,
        uiPort: ports.temporalUi,
        searchAttributes: Object.values(searchAttributes),
        codecEndpoint: `http://127.0.0.1:${ports.codecServer}/${state.codecToken}`,
        logFile: join(logDirectory, "temporal.log"),
        // Temporal may make an activity one second later than it could, and a virtual clock waits for it each time.
        ...(clockFile !== undefined && {
          extraArgs: ["--dynamic-config-value", 'history.timerProcessorMaxTimeShift="1ms"'],
        }),
        ...(persistent && { dbFilename: join(directory, "temporal.db") }),
      });
      closers.unshift(() => server.close());
      return server;
    },
  ]);
  return { postgres, temporal };
}

function ownFile({ config }: StackOptions): string | undefined {
  return config !== undefined && existsSync(config) ? config : undefined;
}

function readOwn(options: StackOptions): OwnConfiguration | undefined {
  const file = ownFile(options);
  return file === undefined ? undefined : readOwnConfiguration(file);
}

/** What the roles and the operator are configured with. The environments stay the same objects when the file is read again. */
function configurationOf(
  options: StackOptions,
  { directory, state }: Place,
  databaseUrl: string,
  databaseUrls: Awaited<ReturnType<typeof openDatabaseRoles>> | undefined,
) {
  const env: Record<string, string> = {};
  const roleEnvs = new Map<RoleName, NodeJS.ProcessEnv>();
  let own: OwnConfiguration | undefined;
  const envOf = (name: RoleName) => envOfRole(name, env, databaseUrls);
  const processEnvOf = (name: RoleName): NodeJS.ProcessEnv => ({
    ...cleanEnv(),
    ...envOf(name),
    ...clockEnv(name, options.clockFile),
  });
  const read = (): void => {
    const present = readOwn(options);
    refuseOtherSetting(directory, state, settingOf(present));
    const config = ownFile(options);
    const replaced = stackEnv(state, {
      ...{ directory, databaseUrl: databaseUrls?.local ?? databaseUrl },
      ...(config !== undefined && { config }),
      ...(present && { own: present }),
      ...(options.env && { env: options.env }),
    });
    if (config !== undefined)
      refuseUnusable(config, { ...cleanEnv(), ...envOfRole("worker", replaced, databaseUrls) });
    own = present;
    refill(env, replaced);
    for (const [name, kept] of roleEnvs) refill(kept, processEnvOf(name));
    if (own) sayReplaced(own, env, options.progress ?? (() => {}));
  };
  read();
  return {
    env,
    envOf,
    read,
    accounts: () => accountsInWords(own),
    sandboxAccount: () => sandboxAccountName(own),
    /** For a process that keeps it. */
    keptEnvOf(name: RoleName): NodeJS.ProcessEnv {
      const kept = processEnvOf(name);
      roleEnvs.set(name, kept);
      return kept;
    },
  };
}

async function startRoles(
  options: StackOptions,
  { directory, logDirectory, state }: Place,
  configuration: ReturnType<typeof configurationOf>,
  closers: Closers,
  { databaseUrl, ownsDatabase }: { databaseUrl: string; ownsDatabase: boolean },
): Promise<Map<RoleName, Role>> {
  const { progress = () => {}, roles: wanted = roleNames } = options;
  const roles = new Map<RoleName, Role>();
  closers.unshift(() => Promise.all([...roles.values()].map((role) => role.stop())));
  const startOne = (name: RoleName) => async (): Promise<void> => {
    const role = await startRole({
      name,
      args: name === "sandbox" ? sandboxArgs(options, directory, state.ports) : [],
      env: configuration.keptEnvOf(name),
      cwd: process.cwd(),
      logDirectory,
      graceMs: options.graceMs ?? 10_000,
      onDeath:
        options.onDeath ??
        ((dead, exit) => progress(`${dead.name} ended unexpectedly (${exit.signal ?? exit.code})`)),
    });
    roles.set(name, role);
  };
  const needsTables = (name: RoleName): boolean => name !== "sandbox" && name !== "codec-server";
  await all([
    ...wanted.filter((name) => !needsTables(name)).map(startOne),
    async () => {
      const env = { ...cleanEnv(), ...configuration.env, DATABASE_URL: databaseUrl };
      await migrate(env, ownsDatabase);
      await all(wanted.filter(needsTables).map(startOne));
    },
  ]);
  return roles;
}

/** A video call tells its end to one address of the account, which a person configures at a real provider (P1 §6.1). */
async function giveCloseEventAddress(
  { TRUSTFLOW_KEYS__CALLBACK: keys }: Record<string, string>,
  account: string,
  receiverUrl: string,
  sandboxUrl: string,
): Promise<void> {
  // Keys that a file has are not known here.
  if (!keys) return;
  const subject = { provider: "video-identification", account };
  const closeEventUrl = callbackUrl(KeyRing.parse(keys), receiverUrl, subject);
  await sandboxControl(sandboxUrl).putAccount("sandbox", { closeEventUrl });
}

/** In place, because roles keep the object that they are started with. */
function refill(target: NodeJS.ProcessEnv, values: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(target)) delete target[name];
  Object.assign(target, values);
}

function sayReplaced(own: OwnConfiguration, env: Record<string, string>, progress: Progress): void {
  const keys = replacedKeys(own, env);
  if (keys.length > 0)
    progress(`ignored in trustflow.toml, because dev sets its own: ${keys.join(", ")}`);
}

async function migrate(env: NodeJS.ProcessEnv, ownsDatabase: boolean): Promise<void> {
  // Where both are the stack's own they belong together. A database of one's own may belong to another Temporal.
  const args = [cliPath, "migrate", ...(ownsDatabase ? ["--accept-namespace"] : [])];
  const { ok, output } = await run(process.execPath, args, { env, timeoutMs: 60_000 });
  if (!ok) throw new Error(`trustflow migrate failed: ${output}`);
}

function sandboxArgs(
  options: StackOptions,
  directory: string,
  ports: StackState["ports"],
): string[] {
  return [
    ...["--host", "127.0.0.1", "--port", String(ports.sandbox)],
    ...["--tls-port", String(ports.sandboxTls), "--pki", sandboxPki(directory)],
    ...(options.sandboxSpeed === undefined ? [] : ["--speed", String(options.sandboxSpeed)]),
    ...(options.sandboxPersonTime ? ["--person-time", options.sandboxPersonTime] : []),
    ...(options.persistent ? ["--state", join(directory, "sandbox")] : []),
  ];
}

/** Like Promise.all, but a failure waits for the others, so that nothing starts after the clean-up. */
async function all<T extends readonly (() => Promise<unknown>)[]>(
  starters: [...T],
): Promise<{ [K in keyof T]: Awaited<ReturnType<T[K]>> }> {
  const settled = await Promise.allSettled(starters.map((start) => start()));
  const failed = settled.find((result) => result.status === "rejected");
  if (failed) throw failed.reason;
  return settled.map((result) => (result as PromiseFulfilledResult<unknown>).value) as never;
}

function once(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => (running ??= work());
}
