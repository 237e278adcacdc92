#!/usr/bin/env node
// `npm run reference` writes docs/reference, the tables of docs/operations/watch.md from metrics and alerts, and the import table of
// docs/ARCHITECTURE.md from the lint rules.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { register } from "node:module";
import { join } from "node:path";
import { ensureInstalled } from "./install.mjs";
import { root, runBuild, say } from "./steps.mjs";

if (!((await ensureInstalled()) && (await runBuild()))) process.exit(1);
register("./typescript.mjs", import.meta.url);
/** @param {string} name */
const load = (name) => import(new URL(`../test/docs/${name}.ts`, import.meta.url).href);
const [{ referencePages }, { metricsPage }, { architecturePage }] = await Promise.all(
  ["reference", "metrics-table", "architecture"].map(load),
);
await mkdir(join(root, "docs/reference"), { recursive: true });
for (const [path, text] of referencePages()) {
  await writeFile(join(root, path), text);
  say(path);
}
for (const [path, pageOf] of [
  ["docs/operations/watch.md", metricsPage],
  ["docs/ARCHITECTURE.md", architecturePage],
]) {
  await writeFile(join(root, path), pageOf(await readFile(join(root, path), "utf8")));
  say(path);
}
