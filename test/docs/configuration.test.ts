// docs/reference/configuration.md comes from the schema of the configuration, and says what a start says.
import { expect, test } from "vitest";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { required } from "../../src/config/config.js";
import { configurationRows as rows } from "./configuration-page.js";
import { configurationOf } from "../harness/configuration.js";
import { temporaryFolder } from "../harness/temporary.js";

/** What a start with these variables says. */
function problemOf(variables: Record<string, string>): string {
  try {
    configurationOf(variables);
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}

test("every key is explained", () => {
  expect(rows.filter(({ what }) => !what).map(({ key }) => key)).toEqual([]);
});

test("every row has the environment name that a missing key is reported by", () => {
  for (const { key, environment } of rows) {
    expect(() => required(undefined, key)).toThrow(`(environment: ${environment})`);
  }
});

test("every environment name is understood", () => {
  const names = rows.map(({ environment }) => environment.replace("<NAME>", "MAIN_OFFICE"));
  const values = Object.fromEntries(names.map((name) => [name, "0"]));
  const problem = problemOf(values);
  expect(problem).toContain("accounts.main-office.evi-post.baseUrl");
  expect(problem).not.toContain("unknown key");
  const more = { ...values, TRUSTFLOW_WORKER__WAGES: "0" };
  expect(problemOf(more)).toContain("worker: unknown key: wages");
});

test("a value that does not fit is refused by its key, in a plain sentence, without the value", () => {
  for (const { key, environment } of rows) {
    const name = environment.replace("<NAME>", "MAIN_OFFICE");
    const problem = problemOf({ [name]: "?! unfit" });
    expect(problem).not.toMatch(/expected|received|Invalid|undefined|unfit/);
    const own = key.replace("<name>", "main-office");
    const problems = problem.replace("Configuration: ", "").split("; ");
    // Texts and secrets take anything; what an account, an operator or an endpoint lacks beside them is named too.
    const [top = "", ...rest] = own.split(".");
    const depth = { accounts: 2, operators: 1, webhooks: 1 }[top] ?? rest.length;
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
  ["[accounts.Default.evi-post]", "name that is not allowed: must be 1 to 31 of a-z"],
  ["[accounts.default]\nevi-post = 3", "accounts.default.evi-post: must be an object"],
  ["[worker]\nstickySeconds = 0", "worker.stickySeconds: must be at least 1"],
  ["[worker]\nstickySeconds = 1.5", "worker.stickySeconds: must be a whole number"],
  ["[codecServer]\ncorsOrigins = 'https://a'", "codecServer.corsOrigins: must be a list"],
  ['environment = "test"', "environment: must be one of production, preproduction, sandbox"],
])("the file %j is refused: %s", async (toml, problem) => {
  const path = join(await temporaryFolder(), "trustflow.toml");
  await writeFile(path, toml);
  expect(problemOf({ TRUSTFLOW_CONFIG: path })).toContain(problem);
});
