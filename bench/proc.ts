// What the kernel says of a process: CPU time and memory (Linux).
import { readdirSync, readFileSync } from "node:fs";

/** Clock ticks of /proc are hundredths of a second on every Linux that Node runs on. */
const TICK_MS = 10;

/** User and system time of a process and of its children, living and gone, in milliseconds. */
export function cpuMs(pid: number): number {
  const own = statOf(pid);
  if (!own) return 0;
  const living = childrenOf(pid).map(cpuMs);
  return [own.reaped * TICK_MS, own.used * TICK_MS, ...living].reduce((sum, part) => sum + part);
}

/** Resident memory in bytes. */
export function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? Number.NaN) * 1_024;
}

/** The highest resident size so far; 0 if the process has ended. */
export function peakBytes(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1_024;
  } catch {
    return 0;
  }
}

function statOf(pid: number): { parent: number; used: number; reaped: number } | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return undefined;
  }
  // The name in parentheses may hold anything; behind it come state, parent, …, utime, stime, cutime, cstime.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const at = (index: number) => Number(fields[index]);
  return { parent: at(1), used: at(11) + at(12), reaped: at(13) + at(14) };
}

function childrenOf(pid: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((other) => statOf(other)?.parent === pid);
}
