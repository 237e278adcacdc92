// The floor's receiver: a signal for each callback, answered when Temporal has it.
// node receiver.js '{ "address", "port" }'
import { Client, Connection } from "@temporalio/client";
import Fastify from "fastify";
import { callback } from "./workflow.js";

const { address, port } = JSON.parse(process.argv[2] ?? "{}");
const client = new Client({ connection: await Connection.connect({ address }) });
const app = Fastify();
app.post("/callbacks/:workflowId", async (request, reply) => {
  const { workflowId } = /** @type {{ workflowId: string }} */ (request.params);
  const { Kind } = /** @type {{ Kind: string }} */ (request.body);
  await client.workflow.getHandle(workflowId).signal(callback, { Kind });
  return reply.code(204).send();
});
const url = await app.listen({ host: "127.0.0.1", port });
console.log(JSON.stringify({ ready: "floor-receiver", url }));
