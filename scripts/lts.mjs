// The release of Node that the image runs on, from test/lts. It is locked there, and only its own tests have it on their PATH.
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { alone } from "./install.mjs";
import { npm, root, runStep, say } from "./steps.mjs";

const folder = join(root, "test", "lts");

/** @returns {Promise<string | undefined>} its program; undefined where there is none for this platform */
export async function ltsNode() {
  const { optionalDependencies } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  const windows = process.platform === "win32";
  const name = `node-${windows ? "win" : process.platform}-${process.arch}`;
  const wanted = optionalDependencies[name];
  if (wanted === undefined) {
    say(`no Node of test/lts for ${process.platform}-${process.arch}: nothing is tested under it`);
    return undefined;
  }
  const program = join(folder, "node_modules", name, "bin", windows ? "node.exe" : "node");
  return alone(async () => {
    if ((await versionOf(program)) === wanted) return program;
    say(`getting Node ${wanted}`);
    const install = ["ci", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund"];
    await runStep(...npm([...install, "--include=optional", "--loglevel=error"]), {
      stdout: "stderr",
    });
    const found = await versionOf(program);
    if (found === wanted) return program;
    throw new Error(`Node ${wanted} could not be installed into test/lts (found: ${found})`);
  });
}

/** @param {string} program */
async function versionOf(program) {
  try {
    return (await promisify(execFile)(program, ["--version"])).stdout.trim().replace(/^v/, "");
  } catch {
    return "none";
  }
}
