// What npm installs has the shape that Temporal's SDK needs, and installs the same anywhere.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";

interface Entry {
  version: string;
  resolved?: string;
  optionalDependencies?: Record<string, string>;
}

interface Manifest {
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
}

const readJson = <T>(path: string): T => JSON.parse(readFileSync(path, "utf8")) as T;
const lock = readJson<{ packages: Record<string, Entry> }>("package-lock.json");
const manifest = readJson<Manifest>("package.json");

/** The places where a package lies below node_modules. */
function copies(name: string): { path: string; version: string }[] {
  return Object.entries(lock.packages)
    .filter(([path]) => path.endsWith(`node_modules/${name}`))
    .map(([path, { version }]) => ({ path, version }));
}

test("there is one protobufjs 8, at the top, where all of Temporal's packages meet it", () => {
  const eights = copies("protobufjs").filter(({ version }) => version.startsWith("8."));
  expect(eights.map(({ path }) => path)).toEqual(["node_modules/protobufjs"]);
  const { version } = readJson<Entry>("node_modules/protobufjs/package.json");
  expect(version).toBe(manifest.dependencies["protobufjs"]);
});

test("all @temporalio packages have one version and lie there once", () => {
  const names = readdirSync("node_modules/@temporalio").map((name) => `@temporalio/${name}`);
  expect(names).toContain("@temporalio/workflow");
  const versions = names.flatMap((name) => copies(name).map(({ version }) => version));
  expect(new Set(versions).size).toBe(1);
  expect(versions).toHaveLength(names.length);
  for (const name of names) {
    const installed = readJson<Entry>(join("node_modules", name, "package.json")).version;
    expect(`${name} ${installed}`).toBe(`${name} ${versions[0]}`);
  }
});

test("package.json asks for exact versions, and the lock file has them", () => {
  for (const [name, wanted] of Object.entries({
    ...manifest.dependencies,
    ...manifest.devDependencies,
  })) {
    expect(`${name} ${wanted}`).toMatch(/^\S+ \d+\.\d+\.\d+(-[\w.]+)?$/);
    expect(`${name} ${lock.packages[`node_modules/${name}`]?.version}`).toBe(`${name} ${wanted}`);
  }
});

test("the lock file names no registry, so that whoever installs uses their own", () => {
  const named = Object.entries(lock.packages).filter(([, { resolved }]) => resolved !== undefined);
  expect(named).toEqual([]);
});

// `npm ci` refuses a lock file without them; npm leaves them out where a registry lacks other platforms' packages.
test("the lock file has every optional package, also those of other platforms", () => {
  const wanted = Object.values(lock.packages).flatMap(({ optionalDependencies }) =>
    Object.entries(optionalDependencies ?? {}),
  );
  const missing = wanted.filter(([name, version]) =>
    copies(name).every((copy) => /^\d/.test(version) && copy.version !== version),
  );
  expect(missing).toEqual([]);
});
