// Ends the processes and removes the folders that this process would leave behind, however it ends, SIGKILL included: a
// detached second process reads a pipe that closes with its owner. Plain JavaScript, because scripts/ uses it unbuilt.
import { spawn } from "node:child_process";
import { realpathSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { isAlive } from "./lock.js";

const GRACE_MS = 8_000;
const self = fileURLToPath(import.meta.url);

/** @typedef {{ kill?: number, signal?: NodeJS.Signals, remove?: string }} Duty */

/** @type {import("node:stream").Writable | undefined} */
let pipe;
let sequence = 0;

/**
 * Ends a process when this one is gone; a negative pid is a process group.
 * @param {number} pid
 * @param {NodeJS.Signals} signal the polite one; SIGKILL follows
 * @returns {() => void} unregisters it; call it once the process has ended
 */
export function killOnExit(pid, signal = "SIGTERM") {
  return assign({ kill: pid, signal });
}

/**
 * Removes a folder when this process is gone, after the processes have ended.
 * @param {string} path
 * @returns {() => void} unregisters it
 */
export function removeOnExit(path) {
  return assign({ remove: path });
}

/**
 * @param {Duty} duty
 * @returns {() => void}
 */
function assign(duty) {
  const id = ++sequence;
  pipe ??= startWatchdog();
  pipe.write(`${JSON.stringify({ id, duty })}\n`);
  return () => void pipe?.write(`${JSON.stringify({ id })}\n`);
}

function startWatchdog() {
  const child = spawn(process.execPath, [self], {
    detached: true,
    env: { PATH: process.env["PATH"] },
    stdio: ["pipe", "ignore", "ignore"],
  });
  child.unref();
  child.on("error", () => {});
  child.stdin.on("error", () => {});
  // The stream of a pipe is a socket, which may stay open without keeping this process alive.
  /** @type {import("node:net").Socket} */ (/** @type {unknown} */ (child.stdin)).unref();
  return child.stdin;
}

async function watch() {
  /** @type {Map<number, Duty>} */
  const duties = new Map();
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]))
    process.on(signal, () => {});
  for await (const line of createInterface({ input: process.stdin })) {
    const { id, duty } = JSON.parse(line);
    if (duty) duties.set(id, duty);
    else duties.delete(id);
  }
  const left = [...duties.values()];
  const pids = left.flatMap(({ kill }) => (kill === undefined ? [] : [kill]));
  for (const { kill, signal = "SIGTERM" } of left) if (kill !== undefined) send(kill, signal);
  const until = Date.now() + GRACE_MS;
  while (pids.some(isAlive) && Date.now() < until) await delay(50);
  for (const pid of pids) if (isAlive(pid)) send(pid, "SIGKILL");
  for (const { remove } of left) {
    if (remove !== undefined) await rm(remove, { recursive: true, force: true, maxRetries: 5 });
  }
}

/**
 * @param {number} pid
 * @param {NodeJS.Signals} signal
 */
function send(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended by itself.
  }
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === self) await watch();
