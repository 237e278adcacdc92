// Temporal's four services as processes of their own, several of each, on PostgreSQL: as a cluster has them.
import { Connection } from "@temporalio/client";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startChild, type Child } from "../../packages/dev/src/processes/child.js";
import { answers, freePorts } from "../../packages/dev/src/processes/free-ports.js";
import { run } from "../../packages/dev/src/processes/tools.js";
import { fileOf } from "../compose/stand-ins/programs.js";
import { eventually } from "../harness/outages/wait.js";
import { startHop, type Hop } from "../harness/stack/hop.js";

const roles = ["frontend", "history", "matching", "worker"] as const;
type ServiceRole = (typeof roles)[number];
const SHARDS = 64;
const DAY_SECONDS = 86_400;
const stores = [
  ["temporal", "temporal"],
  ["temporal_visibility", "visibility"],
] as const;

/** A process of the cluster. */
export interface Service {
  readonly name: string;
  readonly pid: number;
  kill(): Promise<void>;
  start(): Promise<void>;
}

export interface TemporalCluster {
  /** Of the hop before the frontends. */
  readonly address: string;
  readonly services: readonly Service[];
  readonly hop: Hop;
  /** Of Temporal's dynamic configuration, which each service reads again within seconds. */
  configure(values: Record<string, unknown>): Promise<void>;
  isServing(): Promise<boolean>;
  /** Its schema first, then service by service: the way that Temporal's guide names. */
  upgrade(release: string): Promise<void>;
  close(): Promise<void>;
}

interface Ports {
  grpcPort: number;
  membershipPort: number;
}

export async function startTemporalCluster(given: {
  directory: string;
  /** Of a superuser. */
  databaseUrl: string;
  /** Processes of each service. */
  of: number;
  /** Its name in programs.ts; default: that of the deployment. */
  release?: string;
}): Promise<TemporalCluster> {
  const { databaseUrl, of } = given;
  let { release = "temporal" } = given;
  const directory = join(given.directory, "temporal-cluster");
  await mkdir(directory, { recursive: true });
  await makeStores(databaseUrl, release);
  const free = await freePorts(roles.length * of * 2);
  const members = roles.flatMap((role) =>
    Array.from({ length: of }, (_, index) => ({
      role,
      name: `temporal-${role}-${index + 1}`,
      ports: { grpcPort: free.pop() ?? 0, membershipPort: free.pop() ?? 0 },
    })),
  );
  const frontends = members.filter(({ role }) => role === "frontend");
  const hop = await startHop(frontends.map(({ ports }) => `127.0.0.1:${ports.grpcPort}`));
  const dynamic = join(directory, "dynamic.yaml");
  const configure = (values: Record<string, unknown>) => writeDynamic(dynamic, values);
  await configure({});
  const services: (Service & { stop(): Promise<void> })[] = [];
  for (const { role, name, ports } of members) {
    const file = join(directory, `${name}.yaml`);
    const portsOf = (other: ServiceRole): Ports =>
      other === role ? ports : members.find((member) => member.role === other)!.ports;
    const configuration = configurationOf(databaseUrl, { portsOf, frontend: hop.address, dynamic });
    // JSON is YAML.
    await writeFile(file, JSON.stringify(configuration), { mode: 0o600 });
    const program = () => fileOf(release, "temporal-server");
    services.push(await startService({ name, role, directory, program }));
    // The first one writes down what the cluster is; two at once would refuse each other's record.
    if (services.length === 1)
      await eventually(`${name} is up`, () => answers(ports.grpcPort), 60_000);
  }
  const connection = Connection.lazy({ address: hop.address, interceptors: [] });
  const isServing = () => serves(connection);
  await eventually("the cluster serves", isServing, 60_000);
  return {
    address: hop.address,
    services,
    hop,
    configure,
    isServing,
    async upgrade(to) {
      await updateSchemas(databaseUrl, to);
      release = to;
      for (const service of services) {
        await service.stop();
        await service.start();
        await eventually("the cluster serves", isServing, 60_000);
      }
    },
    async close() {
      await connection.close();
      hop.close();
      await Promise.all(services.map((service) => service.stop()));
    },
  };
}

async function sqlTool(url: string, release: string, args: string[]): Promise<void> {
  const { hostname, port, username, password } = new URL(url);
  const login = ["--ep", hostname, "-p", port, "-u", username, "--pw", password];
  const program = fileOf(release, "temporal-sql-tool");
  const all = [...login, "--pl", "postgres12", ...args];
  const { ok, output } = await run(program, all, { timeoutMs: 120_000 });
  if (!ok) throw new Error(`temporal-sql-tool ${args.join(" ")}: ${output.slice(-500)}`);
}

async function makeStores(url: string, release: string): Promise<void> {
  for (const [database] of stores) {
    await sqlTool(url, release, ["--db", database, "create-database"]);
    await sqlTool(url, release, ["--db", database, "setup-schema", "-v", "0.0"]);
  }
  await updateSchemas(url, release);
}

async function updateSchemas(url: string, release: string): Promise<void> {
  for (const [database, schema] of stores) {
    const name = ["--schema-name", `postgresql/v12/${schema}`];
    await sqlTool(url, release, ["--db", database, "update-schema", ...name]);
  }
}

function configurationOf(
  url: string,
  {
    portsOf,
    frontend,
    dynamic,
  }: { portsOf(role: ServiceRole): Ports; frontend: string; dynamic: string },
) {
  const { host, username, password } = new URL(url);
  const sql = (databaseName: string, connections: number) => ({
    sql: {
      ...{ pluginName: "postgres12", databaseName, connectAddr: host, connectProtocol: "tcp" },
      ...{ user: username, password, maxConnLifetime: "1h" },
      ...{ maxConns: connections, maxIdleConns: connections },
    },
  });
  return {
    log: { stdout: true, level: "warn" },
    persistence: {
      ...{ defaultStore: "default", visibilityStore: "visibility", numHistoryShards: SHARDS },
      datastores: { default: sql("temporal", 10), visibility: sql("temporal_visibility", 4) },
    },
    global: { membership: { maxJoinDuration: "30s", broadcastAddress: "127.0.0.1" } },
    services: Object.fromEntries(
      roles.map((role) => [role, { rpc: { ...portsOf(role), bindOnLocalHost: true } }]),
    ),
    clusterMetadata: {
      ...{ failoverVersionIncrement: 10, masterClusterName: "here", currentClusterName: "here" },
      clusterInformation: {
        here: {
          enabled: true,
          initialFailoverVersion: 1,
          rpcName: "frontend",
          rpcAddress: frontend,
        },
      },
    },
    dcRedirectionPolicy: { policy: "noop" },
    publicClient: { hostPort: frontend },
    dynamicConfigClient: { filepath: dynamic, pollInterval: "5s" },
  };
}

/** Those of the deployment, and more. */
async function writeDynamic(file: string, values: Record<string, unknown>): Promise<void> {
  const shipped = new URL("../../deploy/temporal/dynamic-config.yaml", import.meta.url);
  const more = Object.entries(values).map(
    ([name, value]) => `${name}: ${JSON.stringify([{ value }])}`,
  );
  await writeFile(file, [await readFile(shipped, "utf8"), ...more].join("\n"));
}

async function startService(given: {
  name: string;
  role: ServiceRole;
  directory: string;
  program: () => string;
}): Promise<Service & { stop(): Promise<void> }> {
  const { name, role, directory, program } = given;
  const args = ["--root", directory, "--config", ".", "--env", name, "start", "--service", role];
  const logFile = join(directory, `${name}.log`);
  const launch = () => startChild({ command: program(), args, logFile });
  let child: Child = await launch();
  return {
    name,
    get pid() {
      return child.pid;
    },
    async kill() {
      child.kill("SIGKILL");
      await child.exited;
    },
    async start() {
      if (!child.isAlive()) child = await launch();
    },
    stop: () => child.stop(),
  };
}

/** Makes the namespace where it is missing. */
async function serves(connection: Connection): Promise<boolean> {
  const { workflowService, operatorService } = connection;
  try {
    return await connection.withDeadline(Date.now() + 5_000, async () => {
      const { namespaces } = await workflowService.listNamespaces({});
      if (!namespaces.some(({ namespaceInfo }) => namespaceInfo?.name === "default"))
        await workflowService.registerNamespace({
          namespace: "default",
          workflowExecutionRetentionPeriod: { seconds: DAY_SECONDS as never },
        });
      await operatorService.listSearchAttributes({ namespace: "default" });
      await workflowService.countWorkflowExecutions({ namespace: "default" });
      return true;
    });
  } catch {
    return false;
  }
}
