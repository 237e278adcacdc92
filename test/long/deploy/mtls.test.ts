// The TLS profile: with the certificates of its script and the environment of its file, every role reaches Temporal through a
// real TLS hop; a client without a certificate, or with one of another authority, is refused.
import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { commandLine } from "../../cli/in-process.js";
import { readyLine, start } from "../../cli/run.js";
import {
  certificateAuthority,
  clientCertificate,
  serverCertificate,
} from "../../../packages/sandbox/src/tls/certificate.js";
import { freePorts } from "../../../packages/dev/src/processes/free-ports.js";
import { eventually } from "../../harness/outages/wait.js";
import { startTestStack } from "../../harness/stack/stack.js";
import type { TestStack } from "../../harness/stack/stack.js";
import { startHop } from "../../harness/stack/hop.js";
import type { Hop } from "../../harness/stack/hop.js";
import { temporaryFolder } from "../../harness/temporary.js";
import { authoritiesOfClients, portOfTemporal, root, tlsOf } from "../../deploy/compose-file.js";

const MINUTE_MS = 60_000;
const SECOND_IN_DAYS = 1 / 86_400;
const NAMESPACE = "to-be-deleted";
let system: TestStack;
let folder: string;
let ours: string;
let others: string;
let hop: Hop;

beforeAll(async () => {
  folder = await temporaryFolder();
  [ours, others] = [join(folder, "ours"), join(folder, "others")];
  for (const directory of [ours, others])
    await promisify(execFile)("sh", [`${root}deploy/mtls/make-certificates.sh`, directory]);
  system = await startTestStack({ roles: [] });
  hop = await hopOf(ours);
}, 120_000);
afterAll(async () => {
  hop?.close();
  await system?.close();
});

const hopOf = (directory: string): Promise<Hop> =>
  startHop([system.stack.temporal.address], portOfTemporal(directory, authoritiesOfClients));

function envOf(service: string, tls = tlsOf(service, ours)): Record<string, string> {
  const { stack } = system;
  const own = service === "worker" || service === "relay" ? stack.envOf(service) : stack.env;
  return { ...own, TEMPORAL_ADDRESS: hop.address, ...tls };
}

test("worker and relay start with their certificates, the relay where the secrets of the accounts are absent", async () => {
  const config = join(folder, "shared.toml");
  await writeFile(
    config,
    `[accounts.default.one-shot-signature]
baseUrl = "https://signatures.example.com"
token = { file = "/nowhere/token" }
webhookPointer = "/id"

[accounts.default.evi-post]
baseUrl = "https://post.example.com"
username = "acme"
password = { env = "NOT_HERE" }
`,
  );
  for (const name of ["worker", "relay"]) {
    const own = name === "relay" ? { TRUSTFLOW_CONFIG: config } : {};
    const role = start([name], { env: { ...envOf(name), ...own } });
    expect(await readyLine(role)).toMatchObject({ ready: name });
    role.kill("SIGTERM");
    await once(role, "close");
  }
}, 60_000);

test.each([
  ["migrate", ["migrate", "--temporal-only"]],
  ["cleanup", ["list"]],
  ["cli", ["list"]],
])("%s reaches Temporal with its certificate", async (service, args) => {
  const { code, stderr } = await commandLine(args, { env: envOf(service) });
  expect([code, stderr.includes("Cannot reach Temporal")]).toEqual([0, false]);
});

test("a client without a certificate, with one of another authority, or without TLS is refused", async () => {
  const { TEMPORAL_TLS_SERVER_CA_CERT_PATH = "", TEMPORAL_TLS = "" } = tlsOf("cli", ours);
  const trusting = { TEMPORAL_TLS_SERVER_CA_CERT_PATH };
  const strange = { ...tlsOf("cli", others), ...trusting };
  const refused = [{ TEMPORAL_TLS, ...trusting }, strange, {}];
  for (const tls of refused) {
    const { code, stderr } = await commandLine(["list"], { env: envOf("cli", tls) });
    expect([code, stderr]).toEqual([
      4,
      expect.stringMatching(/^(Cannot reach|TLS with) Temporal\b/m),
    ]);
  }
}, 120_000);

test("a server with a certificate of another authority is not believed", async () => {
  const impostor = await hopOf(others);
  const env = { ...envOf("cli"), TEMPORAL_ADDRESS: impostor.address };
  expect((await commandLine(["list"], { env })).code).toBe(4);
  impostor.close();
});

test("run again, the script keeps existing files; only the owner can read the authority's key", async () => {
  const before = readFileSync(join(ours, "worker.pem"), "utf8");
  await rm(join(ours, "relay.pem"));
  await promisify(execFile)("sh", [`${root}deploy/mtls/make-certificates.sh`, ours]);
  expect(readFileSync(join(ours, "worker.pem"), "utf8")).toBe(before);
  expect(readFileSync(join(ours, "relay.pem"), "utf8")).toContain("BEGIN CERTIFICATE");
  for (const key of ["server-ca-key.pem", "client-ca-key.pem"])
    expect((await stat(join(ours, key))).mode & 0o777).toBe(0o600);
  expect((await stat(ours)).mode & 0o777).toBe(0o700);
});

// A worker whose way to Temporal has ended is not ready within a minute, and says why (docs/operations/stuck.md). Both are mostly waiting, so
// each has a worker of its own, and they run side by side.
interface Ready {
  ok: boolean;
  waitingFor?: string[];
  why?: Record<string, string>;
}

async function startWorker(env: Record<string, string>) {
  const [healthPort, metricsPort] = await freePorts(2);
  const worker = start(["worker"], {
    env: {
      ...system.stack.envOf("worker"),
      TRUSTFLOW_WORKER__HEALTH_PORT: String(healthPort),
      TRUSTFLOW_WORKER__METRICS_ADDRESS: `127.0.0.1:${metricsPort}`,
      ...env,
    },
  });
  worker.stderr?.resume();
  const [health, metrics] = [`http://127.0.0.1:${healthPort}`, `http://127.0.0.1:${metricsPort}`];
  const ready = async () => (await (await fetch(`${health}/ready`)).json()) as Ready;
  const metric = async () => {
    const text = await (await fetch(`${metrics}/metrics`)).text();
    return Number(/^trustflow_worker_ready(?:\{.*\})? (\d)$/m.exec(text)?.[1]);
  };
  async function end(): Promise<void> {
    if (worker.exitCode !== null) return;
    worker.kill("SIGKILL");
    await once(worker, "close");
  }
  try {
    await readyLine(worker);
    await eventually("ready", async () => (await ready()).ok);
    await eventually("the metric", async () => (await metric()) === 1);
  } catch (error) {
    await end();
    throw error;
  }
  return {
    /** What it says as soon as it is not ready; its metric says so too, and it is still alive. */
    async becomesUnready(): Promise<Ready> {
      const said = await eventually(
        "not ready",
        async () => {
          const answer = await ready();
          return !answer.ok && answer;
        },
        MINUTE_MS,
      );
      await eventually("the metric", async () => (await metric()) === 0);
      expect((await fetch(`${health}/health`)).status).toBe(200);
      return said;
    },
    [Symbol.asyncDispose]: end,
  };
}

test.concurrent("a worker whose namespace is deleted is not ready, and says why", async () => {
  const migrate = ["migrate", "--temporal-only", "--create-namespace", "1"];
  const env = { ...system.stack.env, TEMPORAL_NAMESPACE: NAMESPACE };
  expect((await commandLine(migrate, { env })).code).toBe(0);
  await using worker = await startWorker({ TEMPORAL_NAMESPACE: NAMESPACE });
  await system.client.temporal.connection.operatorService.deleteNamespace({
    namespace: NAMESPACE,
  });
  expect(await worker.becomesUnready()).toEqual({
    ok: false,
    waitingFor: ["Temporal"],
    why: {
      Temporal: `Temporal has no namespace "${NAMESPACE}". Either it was deleted, or TEMPORAL_NAMESPACE is wrong.`,
    },
  });
}, 180_000);

test.concurrent("a worker whose client certificate expires while its connection is open is not ready, and says why", async () => {
  const authority = certificateAuthority("authority");
  await writeFile(join(folder, "ca"), authority.cert);
  const server = serverCertificate(["localhost", "127.0.0.1"], authority);
  const proven = { ca: authority.cert, requestCert: true, rejectUnauthorized: true };
  const hop = await startHop([system.stack.temporal.address], { ...server, ...proven });
  const startWithCertificateOf = async (seconds: number) => {
    const untilDays = seconds * SECOND_IN_DAYS;
    const { cert, key } = clientCertificate("worker", authority, { untilDays });
    const files = { certificate: cert, key };
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    return startWorker({
      TEMPORAL_ADDRESS: hop.address,
      TEMPORAL_TLS: "true",
      TEMPORAL_TLS_SERVER_CA_CERT_PATH: join(folder, "ca"),
      TEMPORAL_TLS_CLIENT_CERT_PATH: join(folder, "certificate"),
      TEMPORAL_TLS_CLIENT_KEY_PATH: join(folder, "key"),
    });
  };
  // On a busy machine the certificate may have expired before the worker was ready.
  await using worker = await startWithCertificateOf(25).catch(() => startWithCertificateOf(45));
  const said = await worker.becomesUnready();
  expect(said.waitingFor).toEqual(["Temporal"]);
  expect(said.why?.["Temporal"]).toMatch(
    /^The client certificate for Temporal expired on .+ GMT\. Renew it, then restart this role\.$/,
  );
  hop.close();
}, 300_000);
