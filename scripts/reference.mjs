#!/usr/bin/env node
// `npm run reference` writes docs/reference, and the import table of docs/ARCHITECTURE.md from the lint rules.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { register } from "node:module";
import { join } from "node:path";
import { ensureInstalled } from "./install.mjs";
import { root, runBuild, say } from "./steps.mjs";

if (!((await ensureInstalled()) && (await runBuild()))) process.exit(1);
register("./typescript.mjs", import.meta.url);
/** @param {string} name */
const load = (name) => import(new URL(`../test/docs/${name}.ts`, import.meta.url).href);
const [{ referencePages }, { architecturePage }] = await Promise.all(
  ["reference", "architecture"].map(load),
);
await mkdir(join(root, "docs/reference"), { recursive: true });
const pages = [...referencePages()];
const architecture = "docs/ARCHITECTURE.md";
pages.push([architecture, architecturePage(await readFile(join(root, architecture), "utf8"))]);
for (const [path, text] of pages) {
  await writeFile(join(root, path), text);
  say(path);
}
