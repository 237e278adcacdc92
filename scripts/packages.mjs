// Whether each package can be used as npm gets it: publint looks at its manifest, attw at its types, from ESM and from CommonJS.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { bin, root, runStep, say } from "./steps.mjs";

/** All are ES modules, which CommonJS can require on every release of Node that we support. */
const attw = ["--profile", "node16", "--ignore-rules", "cjs-resolves-to-esm", "--pack"];

/** @returns {Promise<number>} an exit code */
export async function packages() {
  const names = await readdir(join(root, "packages"));
  let worst = 0;
  for (const folder of [root, ...names.map((name) => join(root, "packages", name))]) {
    const manifest = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    const { messages } = await publint({ pkgDir: folder, pack: "npm", strict: true });
    // npm has no other way for a package of a workspace to ask for the root.
    const problems = messages.filter(({ code }) => code !== "LOCAL_DEPENDENCY");
    for (const one of problems) say(`${manifest.name}: ${formatMessage(one, manifest)}`);
    const typed = await runStep(bin("attw"), [...attw, folder], { stdout: "stderr" });
    worst = Math.max(worst, typed, problems.length > 0 ? 1 : 0);
  }
  return worst;
}
