// What belongs to a provider is there: each of src/providers/registry.ts has its files, its sandbox, its fixtures and its rows
// in the documents. What is missing is named.
import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { providerNames, providers } from "../../src/providers/registry.js";
import type { Provider } from "../../src/providers/registry.js";
import { simulated } from "../../packages/sandbox/src/providers/index.js";
import { sandboxControl } from "../../packages/sandbox/src/control/client.js";
import { startSandbox } from "../../packages/sandbox/src/sandbox.js";
import { files, isThere, root, textOf } from "../docs/repository.js";
import { ofFile } from "../harness/of-file.js";

/** Folders of src/providers that no provider owns. */
const shared = new Set(["errors", "evi", "http"]);

const entryOf = (name: string) =>
  Object.hasOwn(providers, name) ? providers[name as Provider] : undefined;

/** The first cells of the table below a header row. */
function namesBelow(page: string, header: string): string[] {
  const [, after = ""] = textOf(page).split(`${header}\n`);
  const [table = ""] = after.split("\n\n");
  return [...table.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name = ""]) => name);
}

const upper = (name: string) => name.replaceAll("-", "_").toUpperCase();
const hasFixture = (name: string) =>
  files.some((path) => path.startsWith(`test/fixtures/${name}/`) && !path.endsWith("README.md"));

/** What a provider needs, and whether it has it. */
const needs: Record<string, (name: string) => boolean> = {
  "a line in src/providers/registry.ts": (name) => entryOf(name) !== undefined,
  "account.ts": (name) => isThere(`src/providers/${name}/account.ts`),
  "client.ts": (name) => isThere(`src/providers/${name}/client.ts`),
  "translate.ts": (name) => isThere(`src/providers/${name}/translate.ts`),
  "wire.ts": (name) => isThere(`src/providers/${name}/wire.ts`),
  "effect classes": (name) => Object.keys(entryOf(name)?.effects ?? {}).length > 0,
  "its activities": (name) => isThere(`src/activities/${name}/index.ts`),
  "a line in packages/sandbox/src/providers/index.ts": (name) => Object.hasOwn(simulated, name),
  "fixtures of the specification": hasFixture,
  "client.test.ts": (name) => isThere(`test/providers/${name}/client.test.ts`),
  "a section of docs/errors.md": (name) => textOf("docs/errors.md").includes(`\n## ${name} (`),
  "a row of docs/sandbox/README.md": (name) =>
    namesBelow("docs/sandbox/README.md", "| provider | simulates | reached by |").includes(name),
  "a row of docs/operations/doctor.md": (name) =>
    namesBelow("docs/operations/doctor.md", "| provider | call | what it shows |").includes(name),
  "an account in accounts.env.example": (name) =>
    textOf("accounts.env.example").includes(`__${upper(name)}__`),
  "an account in deploy/sandbox/accounts.env": (name) =>
    textOf("deploy/sandbox/accounts.env").includes(`__${upper(name)}__`),
};

const missingOf = (name: string): string[] =>
  Object.entries(needs).flatMap(([what, isMet]) => (isMet(name) ? [] : [what]));

const folders = readdirSync(`${root}/src/providers`, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !shared.has(entry.name))
  .map(({ name }) => name);
const known = [...new Set([...providerNames, ...folders, ...Object.keys(simulated)])];

test.each(known)("%s has all that a provider needs", (name) => {
  expect(missingOf(name)).toEqual([]);
});

test.each(providerNames)("%s has a parser where its entry names one", async (name) => {
  const { callback } = providers[name];
  expect(isThere(`src/providers/${name}/callback.ts`)).toBe(callback !== undefined);
  if (callback) expect(await callback.parser()).toBeInstanceOf(Function);
});

const sandbox = ofFile(startSandbox);

test("the sandbox simulates each provider under its own name, with callbacks where it has some", async () => {
  const { items } = await sandboxControl(sandbox.url).state();
  expect(Object.keys(items)).toEqual(providerNames);
  const callsBack = providerNames.filter((name) => isFaultOf(`${name}.callback`));
  expect(callsBack).toEqual(providerNames.filter((name) => providers[name].callback !== undefined));
});

/** The sandbox knows the operation. */
function isFaultOf(operation: string): boolean {
  try {
    sandbox.faults.add({ operation, kind: "lost" });
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
