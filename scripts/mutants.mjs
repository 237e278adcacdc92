#!/usr/bin/env node
// `npm run mutants [-- --mutate FILE]`: changes the source a little in many ways, and names the changes that no test notices
// (test/mutants.md). The arguments are those of `stryker run`.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureInstalled } from "./install.mjs";
import { bin, runBuild, runStep } from "./steps.mjs";

if (!((await ensureInstalled()) && (await runBuild()))) process.exit(1);
const module = new URL("../packages/dev/dist/servers/postgres.js", import.meta.url).href;
const { startPostgres } = await import(module);
// One for the whole run: the set-up of the tests would start another one for each mutant.
const directory = await mkdtemp(join(tmpdir(), "trustflow-mutants-"));
const server = await startPostgres({ directory, throwaway: true });
try {
  process.exitCode = await runStep(bin("stryker"), ["run", ...process.argv.slice(2)], {
    env: {
      TEST_DATABASE_URL: server.url,
      TEST_TEMPORAL_ADDRESS: "none: no test of this run needs it",
      TEST_RUN: "mutants",
    },
  });
} finally {
  await server.close();
}
