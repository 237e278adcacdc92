// Lets a script import TypeScript from outside src/ as it is (types removed by SWC), while what that imports from src/ is
// the build of it in dist/. node --import ./scripts/typescript.mjs …
import { transform } from "@swc/core";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { register } from "node:module";
import { fileURLToPath } from "node:url";
import { isMainThread } from "node:worker_threads";

const source = new URL("../src", import.meta.url).href;
const built = new URL("../dist/", import.meta.url).href;

/** @type {import("node:module").ResolveHook} */
export async function resolve(specifier, context, next) {
  if (!specifier.startsWith(".") || !context.parentURL?.endsWith(".ts"))
    return next(specifier, context);
  const { href } = new URL(specifier, context.parentURL);
  if (href.startsWith(source)) return next(built + href.slice(source.length), context);
  const typed = href.replace(/\.js$/, ".ts");
  return next(existsSync(fileURLToPath(typed)) ? typed : href, context);
}

/** @type {import("node:module").LoadHook} */
export async function load(url, context, next) {
  if (!url.endsWith(".ts")) return next(url, context);
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
