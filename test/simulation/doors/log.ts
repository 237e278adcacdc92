// What programs write to their standard error, which is file descriptor 2 of the one process that they share. The loggers of production
// code write it with `writeSync`; the harness does not.
import { createRequire, syncBuiltinESMExports } from "node:module";
import { runningProgram } from "../world.js";

/** From now on it is told instead of written. */
export function readLogs(told: (program: string, text: string) => void): void {
  const fs = createRequire(import.meta.url)("node:fs") as typeof import("node:fs");
  const write = fs.writeSync as (...given: unknown[]) => number;
  const replaced = (fd: number, what: string | Buffer, ...more: unknown[]): number => {
    if (fd !== 2) return write(fd, what, ...more);
    told(runningProgram()?.name ?? "worker", what.toString());
    return Buffer.byteLength(what);
  };
  Object.assign(fs, { writeSync: replaced });
  syncBuiltinESMExports();
}
