// The configuration reads the registry, so every command and every application with our client loads it: it loads no client of
// a provider, and no library that only calls need (docs/decisions/0028).
import { readFileSync } from "node:fs";
import { posix } from "node:path";
import { expect, test } from "@jest/globals";
import { providerNames } from "../../src/providers/registry.js";
import { root } from "../docs/repository.js";

/** The files of ours and the packages that are loaded with a file: what it imports, but for types and for `import()`. */
function loadedWith(path: string, seen = new Set<string>()): Set<string> {
  if (seen.has(path)) return seen;
  seen.add(path);
  const text = readFileSync(`${root}/${path}`, "utf8");
  const statements = text.matchAll(/^(?:import|export)\s(?!type\b)[^;]*?from\s+"([^"]+)";/gm);
  for (const [, from = ""] of statements) {
    if (!from.startsWith(".")) seen.add(from);
    else loadedWith(posix.join(posix.dirname(path), from.replace(/\.js$/, ".ts")), seen);
  }
  return seen;
}

const small = ["@temporalio/common", "canonicalize", "smol-toml", "zod"];

test("reading the configuration loads the entries of providers, and no client", () => {
  const loaded = loadedWith("src/config.ts");
  for (const name of providerNames) {
    const own = [...loaded].filter((path) => path.startsWith(`src/providers/${name}/`));
    const entry = ["account", "effects", "index"].map((file) => `src/providers/${name}/${file}.ts`);
    expect(own.toSorted()).toEqual(entry);
  }
  const packages = [...loaded].filter((path) => !/^(src\/|node:)/.test(path));
  expect(small).toEqual(expect.arrayContaining(packages));
});
