// The argument lists of this process's descendants, which everybody on a machine may read.
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

/** By process id, joined with spaces. */
export async function argumentLists(): Promise<Map<number, string>> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const read = (pid: number, file: string) =>
    readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "");
  const parents = new Map<number, number>();
  await Promise.all(
    pids.map(async (pid) => {
      const stat = await read(pid, "stat");
      parents.set(pid, Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]));
    }),
  );
  const isOurs = (pid: number | undefined): boolean =>
    pid !== undefined && pid !== 0 && (pid === process.pid || isOurs(parents.get(pid)));
  const ours = pids.filter((pid) => pid !== process.pid && isOurs(pid));
  const lists = await Promise.all(
    ours.map(async (pid) => [pid, (await read(pid, "cmdline")).replaceAll("\0", " ")] as const),
  );
  return new Map(lists);
}

/** All argument lists that were seen while the work went on, and at its end. */
export async function argumentListsDuring<T>(
  work: Promise<T>,
): Promise<{ result: T; seen: Set<string> }> {
  const seen = new Set<string>();
  const look = async () => {
    for (const list of (await argumentLists()).values()) seen.add(list);
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
