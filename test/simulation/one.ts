// One simulation, in a process of its own: takes a plan from its parent, runs it, and answers with the report.
import { readFile } from "node:fs/promises";
import { installWorld } from "./world.js";
import { installNetwork } from "./doors/sockets.js";
import { installFiles } from "./doors/files.js";
import { Database } from "./doors/database.js";
import type { Plan } from "./plan.js";

const START = new Date("2027-01-04T08:00:00Z");

process.once("disconnect", () => process.exit(1));
process.once("message", ({ plan, database }: { plan: Plan; database: string }) => {
  simulate(plan, database).then(
    (report) => process.send!(report, undefined, undefined, () => process.exit(0)),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});

async function simulate(plan: Plan, dump: string) {
  const { runPlan } = await import("./run-plan.js");
  const content = new Blob([await readFile(dump)]);
  const world = installWorld({ seed: plan.seed, startAt: START });
  const network = installNetwork(world);
  const files = installFiles(world, "/simulated");
  const database = await Database.open(network, content);
  return runPlan(plan, { world, network, files, database });
}
