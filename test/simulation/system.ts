// The whole system in one process: the production code of each role, each as a program of its own that can be killed, the sandbox as the
// providers, and the simulated Temporal. Nothing of `src` is changed or replaced but what lies outside of it: clock, chance, network, disk.
import { setTimeout as delay } from "node:timers/promises";
import { Trustflow } from "../../src/client.js";
import { load } from "../../src/config/load.js";
import { generateKeyRing, KeyRing } from "../../src/crypto/key-ring.js";
import { createPool } from "../../src/postgres/pool.js";
import { migrate } from "../../src/postgres/migrate.js";
import { noteNamespaces } from "../../src/cleanup/own-namespaces.js";
import { connectClient } from "../../src/temporal/connection.js";
import { registerSearchAttributes } from "../../src/temporal/visibility/search-attributes.js";
import { ConfigWithAccounts } from "../../src/providers/accounts.js";
import { receiver } from "../../src/roles/receiver.js";
import { relay } from "../../src/roles/relay.js";
import type { RunningRole } from "../../src/roles/role.js";
import { worker } from "../../src/roles/worker.js";
import { startSandbox } from "../../packages/sandbox/src/sandbox.js";
import type { Sandbox } from "../../packages/sandbox/src/sandbox.js";
import { sandboxPki, stackEnv, envOfRole } from "../../packages/dev/src/stack/stack-env.js";
import { newKeys, portNames } from "../../packages/dev/src/stack/stack-state.js";
import type { PortName } from "../../packages/dev/src/stack/stack-state.js";
import { callbackAddress } from "../harness/stack/inbox.js";
import { openTemporalDoor } from "./doors/temporal.js";
import { TemporalServer } from "./temporal/server.js";
import type { WorkerFaults } from "./temporal/core.js";
import type { HistoryEvent } from "./temporal/history.js";
import type { Run } from "./temporal/run.js";
import { settingsOf } from "./settings.js";
import { runningProgram } from "./world.js";
import type { Program, World } from "./world.js";
import type { Network } from "./doors/sockets.js";

/** An orchestrator starts a role again so soon after its end. */
const RESTART_MS = 3_000;
const HISTORY_DAYS = 30;

const FIRST_PORT = 7_001;
const TLS_PORT = FIRST_PORT + portNames.indexOf("sandboxTls");

const roles = { worker, relay, receiver };
export type RoleName = keyof typeof roles;

export interface System {
  client: Trustflow;
  sandbox: Sandbox;
  temporal: TemporalServer;
  env: Record<string, string>;
  roles: Record<RoleName, Role>;
  /** Workers beside the first one. */
  seconds: Set<Role>;
  /** `release`: another one than this. */
  addWorker(forMs: number, release?: string): Role;
  /** The application starts again. */
  reconnect(): Promise<void>;
  /** Whether Temporal can be reached, for which calls the answer gets lost, and what goes wrong between it and workers. */
  faults: { isTemporalAway: boolean; losesAnswers: boolean } & WorkerFaults;
}

export interface SystemHooks {
  /** Of documents and other files. */
  directory: string;
  databaseUrl: string;
  network: Network;
  /** Whether persons let things lie for days. */
  isSlow: boolean;
  onEvent(run: Run, event: HistoryEvent): void;
  onNondeterminism(run: Run, problem: string): void;
  say(text: string): void;
}

export async function startSystem(world: World, hooks: SystemHooks): Promise<System> {
  const env = {
    ...environment(hooks),
    ...settingsOf(world.fork("settings"), {
      historyDays: HISTORY_DAYS,
      isSlow: hooks.isSlow,
    }),
  };
  Object.assign(process.env, env);
  const matching = world.fork("matching");
  const random = () => matching.next();
  const temporal = world.program("temporal");
  const server = temporal.run(
    () =>
      new TemporalServer({
        namespace: "default",
        retentionDays: HISTORY_DAYS,
        random,
        onEvent: hooks.onEvent,
      }),
  );
  // Roles look whether its port is open before they connect.
  const address = new URL(`tcp://${env["TEMPORAL_ADDRESS"]}`);
  temporal.run(() =>
    hooks.network.listen(address.hostname, Number(address.port), { accept: () => undefined }),
  );
  const faults: System["faults"] = { isTemporalAway: false, losesAnswers: false };
  const latency = world.fork("calls of Temporal");
  openTemporalDoor({
    server: () => (faults.isTemporalAway ? undefined : server),
    asServer: (work) => temporal.run(work),
    latencyMs: () => latency.int(1, 4),
    losesAnswer: () => faults.losesAnswers && latency.chance(0.2),
    onWorker: (gone) => void runningProgram()?.atEnd(gone),
    onNondeterminism: hooks.onNondeterminism,
    workerFaults: faults,
    bundleOf: (code) => (runningProgram()?.release === undefined ? code : ofAnotherRelease(code)),
  });
  await migrateAs(world.program("migrate"), hooks.databaseUrl);
  const sandbox = await startProviders(world.program("providers"), env, hooks);
  const started = {} as Record<RoleName, Role>;
  const startRole = (name: RoleName, release?: string): Role =>
    new Role(world, { name, env, say: hooks.say, release });
  for (const name of Object.keys(roles) as RoleName[]) started[name] = startRole(name);
  await Promise.all(Object.values(started).map((role) => role.ready));
  const connect = () => world.program("application").run(() => Trustflow.connect());
  const system: System = {
    ...{ client: await connect(), sandbox, temporal: server, env, roles: started },
    ...{ seconds: new Set<Role>(), faults },
    addWorker: (forMs, release) => {
      const second = startRole("worker", release);
      system.seconds.add(second);
      world.after(forMs, () => {
        system.seconds.delete(second);
        void second.stop();
      });
      return second;
    },
    reconnect: async () => void (system.client = await connect()),
  };
  return system;
}

/** Other words in the summaries of steps and timers: a change that needs no new generation (docs/testing.md). */
function ofAnotherRelease(code: string): string {
  const changed = code.replaceAll("Pause before the next query to", "Before asking again:");
  if (changed === code) throw new Error("the bundle has no words of a summary to change");
  return changed;
}

/** As the local system has it, with fixed ports: they are those of this process alone. */
function environment({ directory, databaseUrl }: SystemHooks): Record<string, string> {
  const ports = Object.fromEntries(
    portNames.map((name, index) => [name, FIRST_PORT + index]),
  ) as Record<PortName, number>;
  const state = { ports, keys: newKeys(), codecToken: "token", setting: "" };
  const env = stackEnv(state, {
    directory,
    databaseUrl,
    env: { TRUSTFLOW_LOG__LEVEL: "INFO" },
  });
  // A trustflow.toml of the checkout has no part in it.
  env["TRUSTFLOW_CONFIG"] = "/dev/null";
  delete env["TEMPORAL_CONFIG_FILE"];
  delete env["TRUSTFLOW_RELAY__HEALTH_PORT"];
  delete env["TRUSTFLOW_WORKER__HEALTH_PORT"];
  return env;
}

async function migrateAs(program: Program, databaseUrl: string): Promise<void> {
  await program.run(async () => {
    const pool = createPool(databaseUrl);
    await migrate(pool);
    const { connection, close } = await connectClient(KeyRing.parse(generateKeyRing()));
    await registerSearchAttributes(connection, "default");
    await noteNamespaces(pool, connection, "default", true);
    await close();
    await pool.end();
  });
}

function startProviders(
  program: Program,
  env: Record<string, string>,
  hooks: SystemHooks,
): Promise<Sandbox> {
  return program.run(async () => {
    const sandbox = await startSandbox({
      port: Number(new URL(env["TRUSTFLOW_SANDBOX__URL"]!).port),
      tlsPort: TLS_PORT,
      seed: "simulated",
      pkiDirectory: sandboxPki(hooks.directory),
    });
    const subject = { provider: "video-identification", account: "default" };
    const closeEventUrl = callbackAddress({ stack: { env } }, subject);
    sandbox.accounts.change("sandbox", { closeEventUrl });
    return sandbox;
  });
}

interface RoleOptions {
  name: RoleName;
  env: Record<string, string>;
  release: string | undefined;
  say: (text: string) => void;
}

/** One role, started again whenever it ends, as an orchestrator does. */
export class Role {
  readonly ready: Promise<void>;
  readonly #world: World;
  readonly #name: RoleName;
  readonly #env: Record<string, string>;
  readonly #release: string | undefined;
  readonly #say: (text: string) => void;
  #program: Program;
  #running: RunningRole | undefined;
  #isWanted = true;
  #skewMs = 0;

  constructor(world: World, { name, env, release, say }: RoleOptions) {
    this.#world = world;
    this.#name = name;
    this.#env = env;
    this.#release = release;
    this.#say = say;
    this.#program = this.#newProgram();
    this.ready = this.#start();
  }

  /** How far the clock of its machine is ahead, from now on. */
  set skewMs(ms: number) {
    this.#skewMs = ms;
    this.#program.skewMs = ms;
  }

  #newProgram(): Program {
    const own = { skewMs: this.#skewMs, release: this.#release };
    return Object.assign(this.#world.program(this.#name), own);
  }

  /** Whether it has started. */
  get isUp(): boolean {
    return this.#running !== undefined;
  }

  get program(): Program {
    return this.#program;
  }

  async #start(): Promise<void> {
    const program = this.#program;
    for (;;) {
      try {
        const running = await program.run(() =>
          (roles[this.#name] as (config: never) => Promise<RunningRole>)(
            load(ConfigWithAccounts, envOfRole(this.#name, this.#env)) as never,
          ),
        );
        if (this.#program !== program) return;
        this.#running = running;
        running.ended?.catch((error: Error) => void this.#ended(program, error));
        return;
      } catch (error) {
        this.#say(`the ${this.#name} does not start: ${(error as Error).message}`);
        await delay(RESTART_MS);
      }
    }
  }

  async #ended(program: Program, error: Error): Promise<void> {
    if (this.#program !== program) return;
    this.#say(`the ${this.#name} ends by itself: ${error.message}`);
    await this.kill(RESTART_MS);
  }

  /** Like SIGKILL; another one comes after `ms`. */
  async kill(ms: number): Promise<void> {
    const before = this.#program;
    const next = (this.#program = this.#newProgram());
    this.#running = undefined;
    before.kill();
    await delay(ms);
    // It may have been started again meanwhile.
    if (this.#isWanted && this.#program === next) await this.#start();
  }

  /** Like SIGTERM; another one comes at once, and for a while there are two. */
  async restart(): Promise<void> {
    const [before, running] = [this.#program, this.#running];
    this.#program = this.#newProgram();
    this.#running = undefined;
    if (running) before.run(() => running.health.end());
    // It may be ending by itself already.
    const closed = running && before.run(() => running.close()).catch(() => undefined);
    await this.#start();
    await Promise.race([closed, delay(60_000)]);
    before.kill();
  }

  async stop(): Promise<void> {
    this.#isWanted = false;
    const running = this.#running;
    this.#running = undefined;
    if (running)
      await Promise.race([
        this.#program.run(() => running.close()).catch(() => undefined),
        delay(60_000),
      ]);
    this.#program.kill();
  }
}
