// The tables of docs/operations/configuration.md against the schema of the configuration, both ways.
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { required } from "../../src/config/config.js";
import { ConfigWithAccounts, loadWithAccounts } from "../../src/providers/accounts.js";
import { requiredWhereUsed } from "../../src/config/fields.js";
import { configurationRows, documentedAs } from "./configuration-rows.js";

interface Node {
  properties?: Record<string, Node>;
  additionalProperties?: Node | boolean;
  required?: string[];
  description?: string;
  default?: string | number | boolean | string[];
}

interface Key {
  key: string;
  value?: string;
  isRequired: boolean;
}

/** Every key of the schema; a key of a record is `<name>`. */
function keysOf(node: Node, path: string[] = [], isRequired = false): Key[] {
  if (node.properties) {
    return Object.entries(node.properties).flatMap(([name, child]) =>
      keysOf(
        child,
        [...path, name],
        node.required?.includes(name) || child.description === requiredWhereUsed,
      ),
    );
  }
  if (typeof node.additionalProperties === "object") {
    return keysOf(node.additionalProperties, [...path, "<name>"]);
  }
  const value = Array.isArray(node.default) ? node.default.join(",") || "none" : node.default;
  return [
    { key: path.join("."), ...(value !== undefined && { value: String(value) }), isRequired },
  ];
}

// What must be given is a matter of the input; defaults show in the output.
const shape = (io: "input" | "output") =>
  z.toJSONSchema(ConfigWithAccounts, { io, unrepresentable: "any" }) as Node;
const needed = new Set(
  keysOf(shape("input"))
    .filter(({ isRequired }) => isRequired)
    .map(({ key }) => key),
);
const configured = keysOf(shape("output")).map(({ key, value }) => ({
  key,
  default: value ?? (needed.has(key) ? "required" : "–"),
}));
const rows = configured.flatMap(({ key }) => documentedAs(key) ?? []);

const before = process.env;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "trustflow-docs-"));
  writeFileSync(join(folder, "trustflow.toml"), "");
});

afterEach(() => {
  process.env = before;
  rmSync(folder, { recursive: true });
});

test("every key of the configuration has one row, with its default", () => {
  const documented = rows.map(({ key, default: value }) => ({ key, default: value }));
  expect(documented).toEqual(configured);
});

test("every row stands for a key, and no two have the same name", () => {
  const used = [...new Set(rows.map(({ row }) => row))];
  expect(used.toSorted()).toEqual(configurationRows.map(({ key }) => key).toSorted());
});

test("every row has the environment name that a missing key is reported by", () => {
  for (const { key, environment } of rows) {
    expect(() => required(undefined, key)).toThrow(`(environment: ${environment})`);
  }
});

test("every environment name is understood", () => {
  const names = rows.map(({ environment }) => environment.replace("<NAME>", "MAIN_OFFICE"));
  const values = Object.fromEntries(names.map((name) => [name, "0"]));
  process.env = { ...values, TRUSTFLOW_CONFIG: join(folder, "trustflow.toml") };
  const problem = problemOf(loadWithAccounts);
  expect(problem).toContain("accounts.main-office.evi-post.baseUrl");
  expect(problem).not.toContain("unknown key");
  process.env = { ...process.env, TRUSTFLOW_WORKER__WAGES: "0" };
  expect(problemOf(loadWithAccounts)).toContain("worker: unknown key: wages");
});

function problemOf(work: () => unknown): string {
  try {
    work();
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}

test("a value that does not fit is refused by its key, in a plain sentence, without the value", () => {
  for (const { key, environment } of rows) {
    const name = environment.replace("<NAME>", "MAIN_OFFICE");
    process.env = { [name]: "?! unfit", TRUSTFLOW_CONFIG: join(folder, "trustflow.toml") };
    const problem = problemOf(loadWithAccounts);
    expect(problem).not.toMatch(/expected|received|Invalid|undefined|unfit/);
    const own = key.replace("<name>", "main-office");
    const problems = problem.replace("Configuration: ", "").split("; ");
    // Texts and secrets take anything; what an account or an operator lacks beside them is named too.
    const [top = "", ...rest] = own.split(".");
    const depth = { accounts: 2, operators: 1 }[top] ?? rest.length;
    const section = [top, ...rest.slice(0, depth)].join(".");
    for (const each of problems.filter(Boolean)) {
      expect(each).toMatch(/(: (must|give) |is required \(environment: TRUSTFLOW_)/);
      expect(each.startsWith(section)).toBe(true);
    }
  }
});

test.each([
  ["worker = 3", "worker: must be an object"],
  ["accounts = 3", "accounts: must be an object"],
  ["[accounts.Default.evi-post]", "accounts.Default: has a name that is not allowed"],
  ["[accounts.default]\nevi-post = 3", "accounts.default.evi-post: must be an object"],
  ["[worker]\nstickySeconds = 0", "worker.stickySeconds: must be at least 1"],
  ["[worker]\nstickySeconds = 1.5", "worker.stickySeconds: must be a whole number"],
  ["[codecServer]\ncorsOrigins = 'https://a'", "codecServer.corsOrigins: must be a list"],
  ['environment = "test"', "environment: must be one of production, preproduction, sandbox"],
])("the file %j is refused: %s", (toml, problem) => {
  const path = join(folder, "trustflow.toml");
  writeFileSync(path, toml);
  process.env = { TRUSTFLOW_CONFIG: path };
  expect(problemOf(loadWithAccounts)).toContain(problem);
});
