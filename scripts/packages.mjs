// Whether each package can be used as npm gets it: publint looks at its manifest, attw at its types, from ESM and from CommonJS.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { removeOnExit } from "../packages/dev/src/processes/watchdog.js";
import { packSources } from "./pack.mjs";
import { bin, runStep, say } from "./steps.mjs";

/** All are ES modules, which CommonJS can require on every release of Node that we support. */
const attw = ["--profile", "node16", "--ignore-rules", "cjs-resolves-to-esm"];

/** @returns {Promise<number>} an exit code */
export async function packages() {
  const folder = await mkdtemp(join(tmpdir(), "trustflow-packages-"));
  const unregister = removeOnExit(folder);
  try {
    let worst = 0;
    for (const tarball of await packSources({ out: folder })) {
      const { buffer } = new Uint8Array(await readFile(tarball));
      const { messages, pkg } = await publint({ pack: { tarball: buffer }, strict: true });
      for (const one of messages) say(`${pkg?.["name"]}: ${formatMessage(one, pkg ?? {})}`);
      const typed = await runStep(bin("attw"), [tarball, ...attw], { stdout: "stderr" });
      worst = Math.max(worst, typed, messages.length > 0 ? 1 : 0);
    }
    return worst;
  } finally {
    await rm(folder, { recursive: true, force: true });
    unregister();
  }
}
