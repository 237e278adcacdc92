// The processes that have a folder in their arguments or their environment, read from /proc.
import { readdir, readFile } from "node:fs/promises";
import { isAlive } from "../../packages/dev/src/processes/lock.js";

/** Their argument lists. This process and those that have ended are not among them. */
export async function processesOf(folder: string): Promise<string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const [words, environment] = await Promise.all(
        ["cmdline", "environ"].map((file) =>
          readFile(`/proc/${pid}/${file}`, "utf8").catch(() => ""),
        ),
      );
      const isOf = `${words}${environment}`.includes(folder);
      return isOf && Number(pid) !== process.pid && isAlive(Number(pid))
        ? [`${pid} ${words?.replaceAll("\0", " ")}`]
        : [];
    }),
  );
  return found.flat();
}
