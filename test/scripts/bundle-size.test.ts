// The workflow bundle is loaded into every worker and held by every cached process: it stays small and free of Node.
import { readFileSync, statSync } from "node:fs";
import { builtinModules } from "node:module";
import { expect, test } from "vitest";

const path = "dist/workflow-bundle.js";
const code = readFileSync(path, "utf8");

/** As webpack names the modules of a bundle. */
const modules = [...code.matchAll(/^\/\*\*\*\/ "([^"\n]+)"/gm)].map((match) => match[1] ?? "");

test("the bundle is at most 1.3 times a bare one of 1.56 MB", () => {
  expect(statSync(path).size).toBeLessThanOrEqual(1.3 * 1_560_000);
});

test("our workflows are in the bundle", () => {
  expect(modules.some((name) => name.includes("dist/workflows/send-postal"))).toBe(true);
});

test.each(["zod", "got", "fastify", "pg", "pino"])("%s is not in the bundle", (name) => {
  expect(modules.filter((module) => module.includes(`node_modules/${name}/`))).toEqual([]);
});

test("of our own folders only workflows, contracts and the failure converter are in the bundle", () => {
  const own = modules.flatMap((module) => /dist\/([^/]+)\//.exec(module)?.[1] ?? []);
  const temporal = modules.filter((module) => module.includes("dist/temporal/"));
  expect(new Set(own)).toEqual(new Set(["workflows", "contracts", "temporal"]));
  expect(temporal.map((module) => module.split("/").at(-1))).toEqual(["failure-converter.cjs"]);
});

test("the bundle imports no Node built-in and replaces none", () => {
  const ignored = [...code.matchAll(/^ {2}!\*\*\* (?:node:)?(\S+) \(ignored\) \*\*\*!$/gm)];
  const required = [...code.matchAll(/require\(['"](?:node:)?([\w/]+)['"]\)/g)];
  const names = [...ignored, ...required].map((match) => match[1] ?? "");
  expect(names.filter((name) => builtinModules.includes(name))).toEqual([]);
});
