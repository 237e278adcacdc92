// Memory of the roles, as /proc has them; elsewhere nothing is known and nothing is asserted.
import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { RoleName } from "../../../packages/dev/src/stack/stack.js";
import type { TestStack } from "../stack/stack.js";

export const watchedRoles = ["receiver", "relay", "worker"] as const satisfies RoleName[];

type ByRole = Partial<Record<RoleName, number>>;

/** `peaks`: the largest resident size in MB of each role so far. */
export function watchMemory(system: TestStack) {
  const peaks: ByRole = {};
  let isOver = false;
  const watch = async (): Promise<void> => {
    while (!isOver) {
      const now = await memory(system);
      for (const role of watchedRoles) peaks[role] = Math.max(peaks[role] ?? 0, now[role] ?? 0);
      await delay(200);
    }
  };
  const watching = watch();
  const stop = () => {
    isOver = true;
    return watching;
  };
  return { peaks, stop };
}

/** Resident size in MB. */
export function memory(system: TestStack): Promise<ByRole> {
  return ofRoles(system, async (pid) => {
    const status = await readFile(`/proc/${pid}/status`, "utf8");
    const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(status)?.[1];
    return kilobytes === undefined ? undefined : Math.round(Number(kilobytes) / 1_024);
  });
}

async function ofRoles(
  { stack }: TestStack,
  measure: (pid: number) => Promise<number | undefined>,
): Promise<ByRole> {
  const measured = await Promise.all(
    watchedRoles.map(async (name) => {
      const number = await measure(stack.role(name).pid).catch(() => undefined);
      return number === undefined ? [] : [[name, number] as const];
    }),
  );
  return Object.fromEntries(measured.flat());
}
