// Lets a script import TypeScript that is not built as it is (types removed by SWC), while what that imports from src/ or a
// package is the build of it in dist/. node --import ./scripts/typescript.mjs …
import { transform } from "@swc/core";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { register } from "node:module";
import { fileURLToPath } from "node:url";
import { isMainThread } from "node:worker_threads";

const root = new URL("..", import.meta.url).href;

/** @type {import("node:module").ResolveHook} */
export async function resolve(specifier, context, next) {
  if (!specifier.startsWith(".") || !context.parentURL?.endsWith(".ts"))
    return next(specifier, context);
  const { href } = new URL(specifier, context.parentURL);
  const [, folder, path] =
    /^((?:packages\/[^/]+\/)?)src\/(.*)$/.exec(href.slice(root.length)) ?? [];
  if (path !== undefined) return next(`${root}${folder}dist/${path}`, context);
  const typed = href.replace(/\.js$/, ".ts");
  return next(existsSync(fileURLToPath(typed)) ? typed : href, context);
}

/** @type {import("node:module").LoadHook} */
export async function load(url, context, next) {
  if (!url.endsWith(".ts")) return next(url, context);
  const source = await withoutTypes(fileURLToPath(url));
  return { format: "module", source, shortCircuit: true };
}

/** @param {string} filename */
export async function withoutTypes(filename) {
  const { code } = await transform(await readFile(filename, "utf8"), {
    filename,
    jsc: { parser: { syntax: "typescript" }, target: "es2023" },
    module: { type: "es6" },
    sourceMaps: "inline",
  });
  return code;
}

// The hooks run in a thread of their own, which loads this file too.
if (isMainThread) register(import.meta.url);
