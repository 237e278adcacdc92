// The argument lists of this process's descendants, which everybody on a machine may read.
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

const read = (pid: string, file: string) =>
  readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "");

async function argumentLists(): Promise<string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const stats = await Promise.all(pids.map((pid) => read(pid, "stat")));
  const parents = new Map(
    stats.map((stat, index) => [pids[index], stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]]),
  );
  const isBelow = (pid: string): boolean => {
    const parent = parents.get(pid);
    return parent !== undefined && (parent === String(process.pid) || isBelow(parent));
  };
  const lists = await Promise.all(pids.filter(isBelow).map((pid) => read(pid, "cmdline")));
  return lists.map((list) => list.replaceAll("\0", " "));
}

/** All argument lists that were seen while the work went on, and at its end; the words joined with spaces. */
export async function argumentListsDuring<T>(
  work: Promise<T>,
): Promise<{ result: T; seen: Set<string> }> {
  const seen = new Set<string>();
  const look = async () => {
    for (const list of await argumentLists()) seen.add(list);
  };
  let isOver = false;
  const over = work.finally(() => (isOver = true));
  over.catch(() => undefined);
  while (!isOver) {
    await look();
    await delay(20);
  }
  const result = await over;
  await look();
  return { result, seen };
}
