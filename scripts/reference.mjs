#!/usr/bin/env node
// `npm run reference` writes docs/reference: the pages that are made from the sources.
import { mkdir, writeFile } from "node:fs/promises";
import { register } from "node:module";
import { join } from "node:path";
import { ensureInstalled } from "./install.mjs";
import { root, runBuild, say } from "./steps.mjs";

if (!((await ensureInstalled()) && (await runBuild()))) process.exit(1);
register("./typescript.mjs", import.meta.url);
const { referencePages } = await import(new URL("../test/docs/reference.ts", import.meta.url).href);
await mkdir(join(root, "docs/reference"), { recursive: true });
for (const [path, text] of referencePages()) {
  await writeFile(join(root, path), text);
  say(path);
}
