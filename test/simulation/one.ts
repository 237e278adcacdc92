// One simulation, in a process of its own: takes a plan from its parent, runs it, and answers with the report.
import { installWorld } from "./world.js";
import { installNetwork } from "./doors/sockets.js";
import { installFiles } from "./doors/files.js";
import { Database } from "./doors/database.js";
import type { Plan } from "./plan.js";

const START = new Date("2027-01-04T08:00:00Z");

process.once("message", (plan: Plan) => {
  simulate(plan).then(
    (report) => process.send!(report, undefined, undefined, () => process.exit(0)),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});

async function simulate(plan: Plan) {
  const { runPlan } = await import("./run-plan.js");
  const world = installWorld({ seed: plan.seed, startAt: START });
  const network = installNetwork(world);
  const files = installFiles(world, "/simulated");
  return runPlan(plan, { world, network, files, database: await Database.open(network) });
}
