// Where things are: the package itself, what is cached for all checkouts, what one local stack keeps.
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";

/** Where the package trustflow is. */
export const packageDirectory = dirname(
  createRequire(import.meta.url).resolve("trustflow/package.json"),
);

/** What a role is started from. */
export const cliPath = join(packageDirectory, "dist", "cli.js");

/** Servers that took minutes to build or download. */
export function cacheDirectory(env: NodeJS.ProcessEnv = process.env): string {
  if (env["TRUSTFLOW_CACHE"]) return resolve(env["TRUSTFLOW_CACHE"]);
  return join(env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "trustflow");
}

/** What `trustflow dev` keeps. */
export function stateDirectory(): string {
  return resolve(".trustflow");
}
