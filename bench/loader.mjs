// Runs bench/*.ts as they are (types removed by SWC), while what they import from src/ is the build of it in dist/: what is
// measured is what is shipped. node --import ./bench/loader.mjs bench/run.ts
import { transform } from "@swc/core";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { register } from "node:module";
import { fileURLToPath } from "node:url";
import { isMainThread } from "node:worker_threads";

const bench = new URL("./", import.meta.url).href;
const source = new URL("../src/", import.meta.url).href;
const built = new URL("../dist/", import.meta.url).href;

/** @type {import("node:module").ResolveHook} */
export async function resolve(specifier, context, next) {
  if (!specifier.startsWith(".") || !context.parentURL?.startsWith(bench))
    return next(specifier, context);
  const { href } = new URL(specifier, context.parentURL);
  if (href.startsWith(source)) return next(built + href.slice(source.length), context);
  const typed = href.replace(/\.js$/, ".ts");
  return next(existsSync(fileURLToPath(typed)) ? typed : href, context);
}

/** @type {import("node:module").LoadHook} */
export async function load(url, context, next) {
  if (!url.startsWith(bench) || !url.endsWith(".ts")) return next(url, context);
  const { code } = await transform(await readFile(fileURLToPath(url), "utf8"), {
    filename: fileURLToPath(url),
    jsc: { parser: { syntax: "typescript" }, target: "es2023" },
    module: { type: "es6" },
    sourceMaps: "inline",
  });
  return { format: "module", source: code, shortCircuit: true };
}

// The hooks run in a thread of their own, which loads this file too.
if (isMainThread) register(import.meta.url);
