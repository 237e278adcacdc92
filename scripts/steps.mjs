// Child processes of the scripts: signals are passed on, and no process is left running.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { killOnExit } from "../packages/dev/src/processes/watchdog.js";

export const root = fileURLToPath(new URL("..", import.meta.url));

/** @param {string} line */
export function say(line) {
  console.error(line);
}

/**
 * Runs a command in the package's folder with its output passed on, in a process group of its own that ends with us.
 * @param {string} command
 * @param {string[]} args
 * @param {{ env?: NodeJS.ProcessEnv, stdout?: "inherit" | "stderr" }} [options]
 * @returns {Promise<number>} its exit code
 */
export async function runStep(command, args, options = {}) {
  const child = spawn(command, args, {
    cwd: root,
    detached: true,
    env: { ...process.env, ...options.env },
    stdio: ["ignore", options.stdout === "stderr" ? 2 : "inherit", "inherit"],
  });
  const unregister = child.pid === undefined ? undefined : killOnExit(-child.pid);
  /** @type {NodeJS.Signals | undefined} */
  let received;
  /** @param {NodeJS.Signals} signal */
  const pass = (signal) => {
    received = signal;
    try {
      if (child.pid !== undefined) process.kill(-child.pid, signal);
    } catch {
      // It has ended meanwhile.
    }
  };
  const signals = /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]);
  for (const signal of signals) process.on(signal, pass);
  /** @type {number} */
  const code = await new Promise((resolve) => {
    child.once("error", (error) => {
      say(`${command}: ${error.message}`);
      resolve(127);
    });
    child.once("close", (status) => resolve(status ?? 1));
  });
  for (const signal of signals) process.off(signal, pass);
  unregister?.();
  if (received) process.kill(process.pid, received);
  return code;
}

/**
 * A program out of node_modules.
 * @param {string} name
 */
export function bin(name) {
  return join(root, "node_modules", ".bin", name);
}

/**
 * npm itself, also where it is not on PATH.
 * @param {string[]} args
 * @returns {[string, string[]]}
 */
export function npm(args) {
  const cli = process.env["npm_execpath"];
  return cli?.endsWith(".js") ? [process.execPath, [cli, ...args]] : ["npm", args];
}

/** Builds in a process of its own, whose memory is gone afterwards. */
export async function runBuild() {
  return (
    (await runStep(process.execPath, [join(root, "scripts", "build.mjs")], {
      stdout: "stderr",
    })) === 0
  );
}
