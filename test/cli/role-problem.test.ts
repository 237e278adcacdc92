// A worker that does no more work: it says why, is not ready, and its process ends by itself, whatever it still holds.
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { generateKeyRing } from "../../src/crypto/key-ring.js";
import { freePorts } from "../../packages/dev/src/processes/free-ports.js";
import { newSecret } from "../../src/webhooks/signature.js";
import { registerSearchAttributes } from "../../src/temporal/visibility/search-attributes.js";
import { eventually } from "../harness/outages/wait.js";
import { startHop } from "../harness/stack/hop.js";
import { testDatabase } from "../harness/stack/postgres.js";
import { testTemporal } from "../temporal/support.js";
import { root } from "../docs/repository.js";
import { commandLine } from "./in-process.js";
import { readyLine, start, trustflow } from "./run.js";
import { temporaryFolder } from "../harness/temporary.js";
import { ofFile } from "../harness/of-file.js";

const folder = await temporaryFolder();

const database = ofFile(testDatabase);
const temporal = ofFile(testTemporal);
beforeAll(async () => {
  await registerSearchAttributes(temporal.connection, temporal.namespace);
}, 120_000);

/** The environment of a worker. */
function workerEnv() {
  const ring = generateKeyRing();
  const gateway = "TRUSTFLOW_ACCOUNTS__DEFAULT__MESSAGING_GATEWAY";
  return {
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    TRUSTFLOW_ENVIRONMENT: "sandbox",
    TRUSTFLOW_CALLBACKS__PUBLIC_URL: "http://127.0.0.1:1",
    TRUSTFLOW_DOCUMENTS__DIRECTORY: folder,
    TRUSTFLOW_KEYS__CODEC: ring,
    TRUSTFLOW_KEYS__CALLBACK: ring,
    TRUSTFLOW_KEYS__JOURNAL: ring,
    TRUSTFLOW_KEYS__DOCUMENTS: ring,
    [`${gateway}__BASE_URL`]: "http://127.0.0.1:1",
    [`${gateway}__USERNAME`]: "trustflow",
    [`${gateway}__PASSWORD`]: "a password",
    [`${gateway}__API_KEY`]: "a key",
  };
}

const file = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
const built = (path: string) => file(`../../dist/${path}`);

async function linesOf(said: Promise<string>): Promise<object[]> {
  const lines = (await said).trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line) as object);
}

test("a worker whose SDK loses an activation is not ready, and ends with 1 and the reason", async () => {
  const preload = join(folder, "lose.mjs");
  await writeFile(
    preload,
    `process.once("SIGUSR2", async () => {
       const { noteLine } = await import(${built("temporal/worker-watch.js")});
       noteLine("Extra buffered run should not have produced an activation");
       const { status } = await fetch(process.env.READY_URL);
       process.stderr.write(JSON.stringify({ ready: status }) + "\\n");
     });`,
  );
  const [port] = await freePorts(1);
  const role = start(["worker"], {
    env: {
      ...workerEnv(),
      TRUSTFLOW_WORKER__HEALTH_PORT: String(port),
      READY_URL: `http://127.0.0.1:${port}/ready`,
      NODE_OPTIONS: `--import=${preload}`,
    },
  });
  const said = text(role.stderr as NodeJS.ReadableStream);
  await readyLine(role);
  role.kill("SIGUSR2");
  expect(await endOf(role)).toBe(1);
  const lines = await linesOf(said);
  const problem = "the SDK has lost a workflow activation";
  expect(lines).toContainEqual({ ready: 503 });
  expect(lines).toContainEqual(
    expect.objectContaining({ message: "The worker does no more work and ends", problem }),
  );
  expect(lines.at(-1)).toMatchObject({ error: { types: ["WorkerProblem"] }, problem, exitCode: 1 });
}, 60_000);

async function endOf(role: ChildProcess): Promise<number | null> {
  const [code] = (await once(role, "exit")) as [number | null];
  return code;
}

test.each([
  [{ TRUSTFLOW_WORKER__METRICS_ADDRESS: "localhost:9464" }, "worker.metricsAddress: the host must"],
  [
    { TRUSTFLOW_WORKER__HEALTH_HOST: "nowhere.invalid", TRUSTFLOW_WORKER__HEALTH_PORT: "0" },
    "Cannot find the host: getaddrinfo",
  ],
  [{ TEMPORAL_NAMESPACE: "elsewhere" }, 'has no namespace "elsewhere"'],
])("a worker that cannot start with %j ends with 4, and says why", async (more, why) => {
  const { code, stderr } = await trustflow(["worker"], { env: { ...workerEnv(), ...more } });
  expect(code).toBe(4);
  const reason = expect.stringContaining(why);
  expect(await linesOf(Promise.resolve(stderr))).toContainEqual(
    expect.objectContaining({ reason }),
  );
});

test("a relay that Temporal does not answer any more ends with 0, and soon", async () => {
  const hop = await startHop([temporal.address]);
  const ring = generateKeyRing();
  const role = start(["relay"], {
    env: {
      ...workerEnv(),
      TEMPORAL_ADDRESS: hop.address,
      TRUSTFLOW_KEYS__INBOX: ring,
      TRUSTFLOW_RELAY__METRICS_ADDRESS: "127.0.0.1:0",
      TRUSTFLOW_RELAY__EVENT_SECONDS: "1",
      TRUSTFLOW_STUCK__SCAN_SECONDS: "1",
      TRUSTFLOW_WEBHOOKS__BILLING__URL: "http://127.0.0.1:1",
      TRUSTFLOW_WEBHOOKS__BILLING__SECRET: newSecret(),
    },
  });
  onTestFinished(() => void role.kill("SIGKILL"));
  await readyLine(role);
  hop.hold();
  // Both looks, for events and for stuck processes, wait for an answer.
  await delay(3_000);
  role.kill("SIGTERM");
  expect(await endOf(role)).toBe(0);
  hop.close();
}, 60_000);

test("a worker gives an activity up that does not end, and ends with 1", async () => {
  const script = join(folder, "endless.mjs");
  await writeFile(
    script,
    `import { loadWithAccounts } from ${built("providers/accounts.js")};
     import { worker } from ${built("roles/worker.js")};
     import { runRole } from ${built("cli/role.js")};
     const never = () => {
       process.stderr.write('{"begun":true}\\n');
       return new Promise(() => undefined);
     };
     await runRole("worker", async () => {
       const times = { shutdownGraceTime: 200, shutdownForceTime: 2_000 };
       const role = await worker(loadWithAccounts(), times);
       const { default: pg } = await import(${file("../../node_modules/pg/lib/index.js")});
       pg.Pool.prototype.query = never;
       pg.Pool.prototype.connect = never;
       return role;
     });`,
  );
  const env = workerEnv();
  const role = spawn(process.execPath, [script], {
    cwd: folder,
    env: { ...env, TEMPORAL_CONFIG_FILE: "/nonexistent/temporal.toml" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  role.stderr.on("data", (text: Buffer) => (said += text.toString()));
  await readyLine(role);
  const id = randomUUID();
  const started = await commandLine(
    ["send-message", "--id", id, "--input", "examples/message.json"],
    { env, cwd: root },
  );
  expect(started).toMatchObject({ code: 0 });
  await eventually("the work that does not end", () => said.includes("begun"));
  role.kill("SIGTERM");
  expect(await endOf(role)).toBe(1);
  const lines = await linesOf(Promise.resolve(said));
  expect(lines.at(-1)).toMatchObject({ message: "the role failed", exitCode: 1 });
  await temporal.client.workflow.getHandle(`sendMessage/${id}`).terminate();
}, 60_000);

test("a role that has failed and cannot close ends all the same", async () => {
  const script = join(folder, "held.mjs");
  await writeFile(
    script,
    `import { runRole } from ${built("cli/role.js")};
     import { Health } from ${built("roles/health.js")};
     const problem = Object.assign(new Error("secret"), { problem: "a fixed text" });
     setInterval(() => undefined, 1_000);
     await runRole("worker", async () => ({
       health: new Health(),
       ended: Promise.reject(problem),
       close: () => new Promise(() => undefined),
     }), 200);`,
  );
  const role = spawn(process.execPath, [script], { stdio: ["ignore", "ignore", "pipe"] });
  const said = text(role.stderr);
  expect(await endOf(role)).toBe(1);
  expect(await linesOf(said)).toMatchObject([
    { message: "the role failed", problem: "a fixed text", exitCode: 1 },
  ]);
  expect(await said).not.toContain("secret");
}, 20_000);
