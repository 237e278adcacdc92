// One PostgreSQL for the whole run, named by TEST_DATABASE_URL; a run that has one already keeps it. And the sandbox's certificates, in the
// folder TEST_PKI: three RSA keys take a second of a core. Both are those of dist/, as in the programs that tests start.
import { existsSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export default async function setUp() {
  if (process.env["TEST_DATABASE_URL"]) return;
  const { startPostgres } = await built("dev/dist/servers/postgres.js");
  const { openPki } = await built("sandbox/dist/tls/pki.js");
  const directory = await mkdtemp(join(tmpdir(), "trustflow-tests-"));
  const server = await startPostgres({ directory, throwaway: true });
  const pki = join(directory, "pki");
  await openPki(pki);
  Object.assign(process.env, { TEST_DATABASE_URL: server.url, TEST_PKI: pki });
  return () => server.close();
}

/** @param {string} path within packages */
function built(path) {
  const module = new URL(`../../../packages/${path}`, import.meta.url);
  if (!existsSync(module)) throw new Error("dist/ is missing: run `npm run build` first");
  return import(module.href);
}
