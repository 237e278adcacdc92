// Processes of this machine, read from /proc.
import { readdir, readFile } from "node:fs/promises";
import { isAlive } from "../../packages/dev/src/processes/lock.js";

const pids = async () => (await readdir("/proc")).filter((name) => /^\d+$/.test(name));

const read = (pid: string, file: string) =>
  readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "");

/** Their words joined with spaces. */
export async function argumentLists(): Promise<string[]> {
  const lists = await Promise.all((await pids()).map((pid) => read(pid, "cmdline")));
  return lists.map((list) => list.replaceAll("\0", " "));
}

/** The argument lists of those that have a folder in them or in their environment, but this process and those that have ended. */
export async function processesOf(folder: string): Promise<string[]> {
  const found = (await pids()).map(async (pid) => {
    const [words, environment] = await Promise.all([read(pid, "cmdline"), read(pid, "environ")]);
    const isOf = `${words}${environment}`.includes(folder);
    return isOf && Number(pid) !== process.pid && isAlive(Number(pid))
      ? [`${pid} ${words.replaceAll("\0", " ")}`]
      : [];
  });
  return (await Promise.all(found)).flat();
}
