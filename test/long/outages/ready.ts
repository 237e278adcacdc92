// A worker whose way to Temporal has ended is not ready within a minute, and says why (docs/operations/stuck.md).
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeAll, expect, test } from "vitest";
import {
  certificateAuthority,
  clientCertificate,
  serverCertificate,
} from "../../../packages/sandbox/src/tls/certificate.js";
import { freePorts } from "../../../packages/dev/src/processes/free-ports.js";
import { commandLine } from "../../cli/in-process.js";
import { readyLine, start } from "../../cli/run.js";
import { eventually } from "../../harness/outages/wait.js";
import type { TestStack } from "../../harness/stack/stack.js";
import { startHop } from "../../harness/stack/hop.js";
import { temporaryFolder } from "../../harness/temporary.js";

const MINUTE_MS = 60_000;
const SECOND_IN_DAYS = 1 / 86_400;
const NAMESPACE = "to-be-deleted";

/** On a system without a role. */
export function testReady(stack: () => TestStack): void {
  let system: TestStack;
  let health: string;
  let metrics: string;
  let worker: ChildProcess | undefined;

  beforeAll(() => {
    system = stack();
  });
  afterEach(endWorker);

  async function endWorker(): Promise<void> {
    if (worker?.exitCode !== null) return;
    worker.kill("SIGKILL");
    await once(worker, "close");
  }

  async function startWorker(env: Record<string, string>): Promise<void> {
    const [healthPort, metricsPort] = await freePorts(2);
    worker = start(["worker"], {
      env: {
        ...system.stack.envOf("worker"),
        TRUSTFLOW_WORKER__HEALTH_PORT: String(healthPort),
        TRUSTFLOW_WORKER__METRICS_ADDRESS: `127.0.0.1:${metricsPort}`,
        ...env,
      },
    });
    worker.stderr?.resume();
    [health, metrics] = [`http://127.0.0.1:${healthPort}`, `http://127.0.0.1:${metricsPort}`];
    await readyLine(worker);
    await eventually("ready", async () => (await ready()).ok);
    await eventually("the metric", async () => (await metric()) === 1);
  }

  interface Ready {
    ok: boolean;
    waitingFor?: string[];
    why?: Record<string, string>;
  }

  const ready = async () => (await (await fetch(`${health}/ready`)).json()) as Ready;

  async function metric(): Promise<number> {
    const text = await (await fetch(`${metrics}/metrics`)).text();
    return Number(/^trustflow_worker_ready(?:\{.*\})? (\d)$/m.exec(text)?.[1]);
  }

  /** What it says as soon as it is not ready; its metric says so too, and it is still alive. */
  async function becomesUnready(): Promise<Ready> {
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
  }

  test("its namespace is deleted", async () => {
    const env = { TEMPORAL_NAMESPACE: NAMESPACE };
    const migrated = await commandLine(["migrate", "--temporal-only", "--create-namespace", "1"], {
      env: { ...system.stack.env, ...env },
    });
    expect(migrated.code).toBe(0);
    await startWorker(env);
    await system.client.temporal.connection.operatorService.deleteNamespace({
      namespace: NAMESPACE,
    });
    expect(await becomesUnready()).toEqual({
      ok: false,
      waitingFor: ["Temporal"],
      why: {
        Temporal: `Temporal has no namespace "${NAMESPACE}". Either it was deleted, or TEMPORAL_NAMESPACE is wrong.`,
      },
    });
  }, 180_000);

  test("its client certificate expires while its connection is open", async () => {
    const folder = await temporaryFolder();
    const authority = certificateAuthority("authority");
    const { cert, key } = serverCertificate(["localhost", "127.0.0.1"], authority);
    const hop = await startHop([system.stack.temporal.address], {
      ...{ cert, key, ca: authority.cert, requestCert: true, rejectUnauthorized: true },
    });
    const startWithCertificateOf = async (seconds: number) => {
      const untilDays = seconds * SECOND_IN_DAYS;
      const client = clientCertificate("worker", authority, { untilDays });
      const files = { ca: authority.cert, certificate: client.cert, key: client.key };
      for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
      await startWorker({
        TEMPORAL_ADDRESS: hop.address,
        TEMPORAL_TLS: "true",
        TEMPORAL_TLS_SERVER_CA_CERT_PATH: join(folder, "ca"),
        TEMPORAL_TLS_CLIENT_CERT_PATH: join(folder, "certificate"),
        TEMPORAL_TLS_CLIENT_KEY_PATH: join(folder, "key"),
      });
    };
    await startWithCertificateOf(25).catch(async () => {
      // On a busy machine the certificate may have expired before the worker was ready.
      await endWorker();
      await startWithCertificateOf(45);
    });
    const said = await becomesUnready();
    expect(said.waitingFor).toEqual(["Temporal"]);
    expect(said.why?.["Temporal"]).toMatch(
      /^The client certificate for Temporal expired on .+ GMT\. Renew it, then restart this role\.$/,
    );
    hop.close();
  }, 300_000);

  test("the connection to Temporal is cut", async () => {
    const authority = certificateAuthority("authority");
    const folder = await temporaryFolder();
    await writeFile(join(folder, "ca"), authority.cert);
    const hop = await startHop(
      [system.stack.temporal.address],
      serverCertificate(["localhost", "127.0.0.1"], authority),
    );
    await startWorker({
      TEMPORAL_ADDRESS: hop.address,
      TEMPORAL_TLS: "true",
      TEMPORAL_TLS_SERVER_CA_CERT_PATH: join(folder, "ca"),
    });
    hop.close();
    expect(await becomesUnready()).toEqual({ ok: false, waitingFor: ["Temporal"] });
  }, 180_000);
}
