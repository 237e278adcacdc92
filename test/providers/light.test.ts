// The accounts read the registry, so every command loads it: it loads no client of a provider, and no library that only calls
// need (docs/design.md §3).
import { expect, test } from "vitest";
import { providerNames } from "../../src/providers/registry.js";
import { loadedWith, packagesIn } from "../harness/loaded-with.js";

const small = ["@temporalio/common", "canonicalize", "smol-toml", "zod"];

test("reading the accounts loads the entries of providers, and no client", () => {
  const loaded = loadedWith("src/providers/accounts.ts");
  for (const name of providerNames) {
    const own = [...loaded].filter((path) => path.startsWith(`src/providers/${name}/`));
    const entry = ["account", "effects", "index"].map((file) => `src/providers/${name}/${file}.ts`);
    expect(own.toSorted()).toEqual(entry);
  }
  expect(small).toEqual(expect.arrayContaining(packagesIn(loaded)));
});
