// While Temporal is away a caller who waits goes on waiting, every other call fails as `UnreachableError`, and an update whose outcome
// is unknown can be repeated as the same update.
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Client, Connection } from "@temporalio/client";
import type { TestWorkflowEnvironment } from "@temporalio/testing";
import { bundleWorkflowCode, DefaultLogger, Runtime, Worker } from "@temporalio/worker";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { Trustflow, UnreachableError } from "../../src/client.js";
import { ProcessHandle } from "../../src/client/handle.js";
import { loadConfig } from "../../src/config.js";
import { dataConverter } from "../../src/temporal/codec/data-converter.js";
import { eventually } from "../harness/outages/wait.js";
import { freshRing, startServer } from "../temporal/support.js";
import { counted, finish, touch } from "./outage.workflows.js";

const ring = freshRing();
let env: TestWorkflowEnvironment;
let way: Awaited<ReturnType<typeof startWay>>;
let client: Client;
let worker: Worker;
let running: Promise<void>;

/** A way to the server that can be cut. */
async function startWay(to: string) {
  const [host = "", port = ""] = to.split(":");
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const other = connect(Number(port), host);
    for (const one of [socket, other]) {
      sockets.add(one);
      one.on("error", () => undefined);
      one.on("close", () => [socket, other].forEach((each) => each.destroy()));
    }
    socket.pipe(other).pipe(socket);
  });
  const listen = async (at: number) => {
    server.listen(at, "127.0.0.1");
    await once(server, "listening");
  };
  await listen(0);
  const { port: own } = server.address() as AddressInfo;
  return {
    address: `127.0.0.1:${own}`,
    async cut() {
      server.close();
      for (const socket of sockets) socket.destroy();
      sockets.clear();
    },
    restore: () => listen(own),
  };
}

beforeAll(async () => {
  Runtime.install({ logger: new DefaultLogger("ERROR", () => undefined) });
  env = await startServer();
  way = await startWay(env.address);
  const converter = dataConverter(ring);
  const connection = await Connection.connect({ address: way.address });
  client = new Client({ connection, dataConverter: converter });
  worker = await Worker.create({
    connection: env.nativeConnection,
    taskQueue: "outage",
    dataConverter: converter,
    workflowBundle: await bundleWorkflowCode({
      workflowsPath: fileURLToPath(new URL("outage.workflows.ts", import.meta.url)),
      logger: new DefaultLogger("ERROR"),
      ...(converter.failureConverterPath && {
        failureConverterPath: converter.failureConverterPath,
      }),
    }),
  });
  running = worker.run();
}, 120_000);
afterAll(async () => {
  worker?.shutdown();
  await running;
  await client?.connection.close();
  await way?.cut();
  await env?.teardown();
});

class TestHandle extends ProcessHandle<{ outcome: string }> {
  touch(updateId: string): Promise<number> {
    return this.update(touch, [], updateId);
  }
}

const near = () => new Client({ connection: env.connection, dataConverter: dataConverter(ring) });

test("a wait outlasts the outage, other calls say that Temporal is away, and a repeated update happens once", async () => {
  const id = randomUUID();
  const workflowId = `sendPostal/${id}`;
  await client.workflow.start("sendPostal", { workflowId, taskQueue: "outage" });
  const handle = new TestHandle(client, "sendPostal", id);
  const ended = handle.result();
  const touching = handle.touch("u-1").catch((error: unknown) => error);
  const inside = near().workflow.getHandle(workflowId);
  await eventually("the update", async () => (await inside.query(counted)) === 1);
  await way.cut();
  const trustflow = Reflect.construct(Trustflow, [{ client }, ring, loadConfig()]) as Trustflow;
  const calls = [
    handle.status(),
    handle.isOpen(),
    trustflow.find(workflowId).then((found) => found.status()),
    trustflow.list()[Symbol.asyncIterator]().next(),
    trustflow.sendMessage(randomUUID(), { providerFields: { to: "+34600000000" } }),
  ];
  const met = await Promise.allSettled(calls);
  for (const call of met)
    expect(call).toMatchObject({ status: "rejected", reason: expect.any(UnreachableError) });
  const unanswered = await touching;
  expect(unanswered).toBeInstanceOf(UnreachableError);
  expect(unanswered).toMatchObject({ updateId: "u-1" });
  expect((unanswered as Error).message).toContain("repeat it with the update id u-1");
  await way.restore();
  await inside.signal(finish, "touched");
  expect(await handle.touch("u-1")).toBe(1);
  await inside.signal(finish, "delivered");
  expect(await ended).toEqual({ outcome: "delivered" });
  expect(await inside.query(counted)).toBe(1);
}, 120_000);
