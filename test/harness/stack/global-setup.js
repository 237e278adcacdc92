// One PostgreSQL for the whole run, named by TEST_DATABASE_URL; a run that has one already keeps it. Plain JavaScript over
// dist/, because Jest does not transform this file as an ES module.
import { existsSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export default async function setUp() {
  if (process.env["TEST_DATABASE_URL"]) return;
  const module = new URL("../../../packages/dev/dist/servers/postgres.js", import.meta.url);
  if (!existsSync(module)) throw new Error("dist/ is missing: run `npm run build` first");
  const { startPostgres } = await import(module.href);
  const directory = await mkdtemp(join(tmpdir(), "trustflow-jest-"));
  const server = await startPostgres({ directory, throwaway: true });
  process.env["TEST_DATABASE_URL"] = server.url;
  Reflect.set(globalThis, "trustflowTestPostgres", server);
}
