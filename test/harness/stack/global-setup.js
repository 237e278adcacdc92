// One PostgreSQL for the whole run, named by TEST_DATABASE_URL; a run that has one already keeps it. It is that of dist/, as in the programs
// that tests start.
import { existsSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export default async function setUp() {
  if (process.env["TEST_DATABASE_URL"]) return;
  const module = new URL("../../../packages/dev/dist/servers/postgres.js", import.meta.url);
  if (!existsSync(module)) throw new Error("dist/ is missing: run `npm run build` first");
  const { startPostgres } = await import(module.href);
  const directory = await mkdtemp(join(tmpdir(), "trustflow-tests-"));
  const server = await startPostgres({ directory, throwaway: true });
  process.env["TEST_DATABASE_URL"] = server.url;
  return () => server.close();
}
