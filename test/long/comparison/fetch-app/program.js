// Its worker and its receiver: node program.js '{ "address", "bundle", "baseUrl", "port" }'
import { activityInfo } from "@temporalio/activity";
import { Client, Connection } from "@temporalio/client";
import { DefaultLogger, NativeConnection, Runtime, Worker } from "@temporalio/worker";
import http from "node:http";
import { json } from "node:stream/consumers";

const { address, bundle, baseUrl, port } = JSON.parse(process.argv[2] ?? "{}");

/**
 * @param {string} path
 * @param {RequestInit} [request]
 * @returns {Promise<any>}
 */
async function call(path, request = {}) {
  const headers = {
    authorization: `Basic ${btoa("sandbox:sandbox")}`,
    "x-api-key": "sandbox-api-key",
    "x-evi-idempotencytoken": activityInfo().workflowExecution?.workflowId ?? "",
    "content-type": "application/json",
  };
  const response = await fetch(baseUrl + path, { ...request, headers });
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return response.json();
}

const activities = {
  /**
   * @param {string} path
   * @param {object} body
   * @returns {Promise<{ uniqueId: string }>}
   */
  post: (path, body) => call(path, { method: "POST", body: JSON.stringify(body) }),
  /**
   * @param {string} uniqueId
   * @returns {Promise<{ results: { state: string, outcome: string }[] }>}
   */
  query: (uniqueId) => call(`/v1/EviPost/Query?WithUniqueIds=${uniqueId}`),
};
/** @typedef {typeof activities} Activities */

Runtime.install({ logger: new DefaultLogger("WARN") });
const connection = await NativeConnection.connect({ address });
const worker = await Worker.create({
  connection,
  taskQueue: "fetch-app",
  workflowBundle: { codePath: bundle },
  activities,
});
// Its signals are sent once: the provider repeats a callback that was not taken.
const client = new Client({ connection: await Connection.connect({ address, interceptors: [] }) });
const receiver = http.createServer((request, response) => {
  const [, workflowId = ""] = request.url?.split("/") ?? [];
  const handle = client.workflow.getHandle(workflowId);
  json(request)
    .then((event) => handle.signal("callback", event))
    .then(() => response.writeHead(204).end())
    .catch(() => response.writeHead(500).end());
});
receiver.listen(port, "127.0.0.1", () => console.log('{"ready":"fetch-app"}'));
await worker.run();
