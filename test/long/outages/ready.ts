// A worker whose way to Temporal has ended is not ready within a minute, and says why (docs/operations/stuck.md).
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
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

interface Ready {
  ok: boolean;
  waitingFor?: string[];
  why?: Record<string, string>;
}

/** On a system without a role. They are mostly waiting, so each has a worker of its own, and they run side by side. */
export function testReady(stack: () => TestStack): void {
  let system: TestStack;
  let folder: string;
  const authority = certificateAuthority("authority");
  const server = serverCertificate(["localhost", "127.0.0.1"], authority);

  beforeAll(async () => {
    system = stack();
    folder = await temporaryFolder();
    await writeFile(join(folder, "ca"), authority.cert);
    const migrated = await commandLine(["migrate", "--temporal-only", "--create-namespace", "1"], {
      env: { ...system.stack.env, TEMPORAL_NAMESPACE: NAMESPACE },
    });
    expect(migrated.code).toBe(0);
  });

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

  const throughTls = (address: string) => ({
    TEMPORAL_ADDRESS: address,
    TEMPORAL_TLS: "true",
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: join(folder, "ca"),
  });

  test.concurrent("its namespace is deleted", async () => {
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

  test.concurrent("its client certificate expires while its connection is open", async () => {
    const hop = await startHop([system.stack.temporal.address], {
      ...server,
      ca: authority.cert,
      requestCert: true,
      rejectUnauthorized: true,
    });
    const startWithCertificateOf = async (seconds: number) => {
      const untilDays = seconds * SECOND_IN_DAYS;
      const { cert, key } = clientCertificate("worker", authority, { untilDays });
      const files = { certificate: cert, key };
      for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
      return startWorker({
        ...throughTls(hop.address),
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

  test.concurrent("the connection to Temporal is cut", async () => {
    const hop = await startHop([system.stack.temporal.address], server);
    await using worker = await startWorker(throughTls(hop.address));
    hop.close();
    expect(await worker.becomesUnready()).toEqual({ ok: false, waitingFor: ["Temporal"] });
  }, 180_000);
}
