// Where things are: the package itself, what is cached for all checkouts, what one local stack keeps.
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** The package's folder, whether this runs from src/ or from dist/. */
export const packageDirectory = resolve(fileURLToPath(new URL("../..", import.meta.url)));

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
