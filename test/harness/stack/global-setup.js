// One PostgreSQL and one Temporal dev server for the whole run, named by TEST_DATABASE_URL and TEST_TEMPORAL_ADDRESS; a run that has one
// already keeps it. What takes a second of a core to make is there once too: TEST_POSTGRES is the folder of a PostgreSQL that nobody has
// used, TEST_PKI that of the sandbox's certificates. All are those of dist/, as in the programs that tests start. TEST_BUNDLES is the
// folder of bundles.ts.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

export default async function setUp() {
  const servers = await Promise.all([database(), temporal()]);
  return () => Promise.all(servers.map((server) => server?.close()));
}

async function database() {
  if (process.env["TEST_DATABASE_URL"]) return undefined;
  const { startPostgres } = await built("dev/dist/servers/postgres.js");
  const { openPki } = await built("sandbox/dist/tls/pki.js");
  const directory = await mkdtemp(join(tmpdir(), "trustflow-tests-"));
  const server = await startPostgres({ directory, throwaway: true });
  await server.stop();
  const unused = join(directory, "unused");
  await mkdir(unused, { mode: 0o700 });
  const parts = ["data", "password"].map((name) => join(directory, name));
  await promisify(execFile)("cp", ["-a", ...parts, unused]);
  await server.start();
  const pki = join(directory, "pki");
  await openPki(pki);
  const folders = { TEST_POSTGRES: unused, TEST_PKI: pki };
  Object.assign(process.env, { TEST_DATABASE_URL: server.url, ...folders });
  return server;
}

async function temporal() {
  if (process.env["TEST_TEMPORAL_ADDRESS"]) return undefined;
  const { findTemporal, startTemporal } = await built("dev/dist/servers/temporal-server.js");
  const { removeOnExit } = await built("dev/dist/processes/watchdog.js");
  const folder = await mkdtemp(join(tmpdir(), "trustflow-tests-temporal-"));
  removeOnExit(folder);
  const logFile = join(folder, "temporal.log");
  const server = await startTemporal({ path: await findTemporal(), logFile });
  Object.assign(process.env, { TEST_TEMPORAL_ADDRESS: server.address, TEST_BUNDLES: folder });
  return server;
}

/** @param {string} path within packages */
function built(path) {
  const module = new URL(`../../../packages/${path}`, import.meta.url);
  if (!existsSync(module)) throw new Error("dist/ is missing: run `npm run build` first");
  return import(module.href);
}
