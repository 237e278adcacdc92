// Bundles of workflows. Each is made once in a run, by the first test that needs it, because that takes seconds.
import { bundleWorkflowCode, DefaultLogger } from "@temporalio/worker";
import type { BundleOptions } from "@temporalio/worker";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { withLock } from "../../../packages/dev/src/processes/lock.js";
import { failureConverterPath } from "../../../src/temporal/codec/data-converter.js";

/** With our converter of failures. */
export async function bundled(name: string, options: BundleOptions): Promise<{ codePath: string }> {
  const codePath = join(process.env["TEST_BUNDLES"] as string, `${name}.js`);
  await withLock(`${codePath}.lock`, async () => {
    if (existsSync(codePath)) return;
    const logger = new DefaultLogger("ERROR");
    const { code } = await bundleWorkflowCode({ failureConverterPath, logger, ...options });
    await writeFile(codePath, code);
  });
  return { codePath };
}
