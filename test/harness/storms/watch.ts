// Memory and open handles of the roles, as /proc has them; elsewhere nothing is known and nothing is asserted.
import { readFile, readdir } from "node:fs/promises";
import type { RoleName } from "../../../src/local/stack/stack.js";
import type { TestStack } from "../stack/stack.js";

export const watchedRoles = ["receiver", "relay", "worker"] as const satisfies RoleName[];

export interface MemoryWatch {
  /** The largest resident size in MB of each role so far. */
  readonly peaks: Partial<Record<RoleName, number>>;
  stop(): Promise<void>;
}

export function watchMemory(system: TestStack): MemoryWatch {
  const peaks: Partial<Record<RoleName, number>> = {};
  let stopped = false;
  const watch = async (): Promise<void> => {
    while (!stopped) {
      const now = await memory(system);
      for (const role of watchedRoles) peaks[role] = Math.max(peaks[role] ?? 0, now[role] ?? 0);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  };
  const watching = watch();
  return {
    peaks,
    async stop() {
      stopped = true;
      await watching;
    },
  };
}

/** Resident size in MB. */
export function memory(system: TestStack): Promise<Partial<Record<RoleName, number>>> {
  return ofRoles(system, async (pid) => {
    const status = await readFile(`/proc/${pid}/status`, "utf8");
    const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(status)?.[1];
    return kilobytes === undefined ? undefined : Math.round(Number(kilobytes) / 1_024);
  });
}

export function openHandles(system: TestStack): Promise<Partial<Record<RoleName, number>>> {
  return ofRoles(system, async (pid) => (await readdir(`/proc/${pid}/fd`)).length);
}

async function ofRoles(
  { stack }: TestStack,
  measure: (pid: number) => Promise<number | undefined>,
): Promise<Partial<Record<RoleName, number>>> {
  const measured = await Promise.all(
    watchedRoles.map(async (name) => {
      const number = await measure(stack.role(name).pid).catch(() => undefined);
      return number === undefined ? [] : [[name, number] as const];
    }),
  );
  return Object.fromEntries(measured.flat());
}
