// The floor's worker: one queue, a prebuilt bundle, autoscaling pollers, as many cached workflows as Trustflow's.
// node worker.js '{ "address", "bundle", "baseUrl", "receiverUrl" }'
import { DefaultLogger, NativeConnection, Runtime, Worker } from "@temporalio/worker";
import { createActivities } from "./activities.js";

const { address, bundle, ...urls } = JSON.parse(process.argv[2] ?? "{}");
Runtime.install({ logger: new DefaultLogger("WARN") });
const connection = await NativeConnection.connect({ address });
const worker = await Worker.create({
  connection,
  taskQueue: "floor",
  workflowBundle: { codePath: bundle },
  activities: createActivities(urls),
  maxCachedWorkflows: 600,
  workflowTaskPollerBehavior: { type: "autoscaling" },
  activityTaskPollerBehavior: { type: "autoscaling" },
});
const run = worker.run();
console.log(JSON.stringify({ ready: "floor-worker" }));
await run;
await connection.close();
