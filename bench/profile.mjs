// Loaded into the roles of both sides by `--cpu-prof FOLDER`: leaves a CPU profile of the main thread at its end. (Node 20
// takes its own --cpu-prof only on the command line.)
import { writeFileSync } from "node:fs";
import { Session } from "node:inspector";
import { basename, join } from "node:path";
import { isMainThread } from "node:worker_threads";

const folder = process.env["BENCH_PROFILES"];
if (folder !== undefined && isMainThread) {
  const session = new Session();
  session.connect();
  session.post("Profiler.enable");
  // What belongs to the start is not what is asked.
  setTimeout(() => session.post("Profiler.start"), 8_000).unref();
  process.once("exit", () =>
    session.post("Profiler.stop", (error, answer) => {
      if (error) return;
      const script = basename(process.argv[1] ?? "node", ".js");
      const role = script === "cli" ? process.argv[2] : `floor-${script}`;
      writeFileSync(
        join(folder, `${role}-${process.pid}.cpuprofile`),
        JSON.stringify(answer.profile),
      );
    }),
  );
}
