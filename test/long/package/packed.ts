// A package of ours, packed and installed into an empty folder as a user does: without what npm hands on of this checkout's .npmrc.
import { execFile } from "node:child_process";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { root } from "../../docs/repository.js";

const ours = /^npm_config_(engine_strict|ignore_scripts|save_exact)$/;
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name)));

export const run = (command: string, args: string[], cwd: string, more = {}) =>
  promisify(execFile)(command, args, { cwd, env: { ...env, ...more }, maxBuffer: 1e8 });

/** Returns the folder. `path` is that of the package in the repository. */
export async function installPacked(path: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "trustflow-package-"));
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
  const pack = ["pack", "--json", "--pack-destination", folder, ...quiet];
  const { stdout } = await run("npm", pack, join(root, path));
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  await writeFile(join(folder, "package.json"), "{}");
  const install = ["install", "--ignore-scripts", "--prefer-offline", ...quiet];
  await run("npm", [...install, join(folder, filename)], folder);
  return folder;
}
