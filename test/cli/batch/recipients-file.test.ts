// The list of `send-notice-batch`, checked before anything is stored or started.
import { beforeAll, expect, test } from "vitest";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { commandLine } from "../in-process.js";
import { temporaryFolder } from "../../harness/temporary.js";

const secret = "a-very-private-name";
const input = {
  subject: "A subject",
  body: "<p>A body</p>",
  recipients: { path: "recipients.csv", mediaType: "text/csv" },
};
const good = `address;legalname\n${secret}@example.com;Ada\ngrace@example.com;Grace\n`;
const bad = `address;legalname\n${secret};Ada\ngrace@example.com;Grace\ngrace@example.com;\n`;

const folder = await temporaryFolder();
beforeAll(async () => {
  await writeFile(join(folder, "recipients.csv"), good);
  await writeFile(join(folder, "bad.csv"), bad);
  await writeFile(join(folder, "batch.json"), JSON.stringify(input));
  await writeFile(
    join(folder, "skipping.json"),
    JSON.stringify({ ...input, onInvalid: "skip-invalid" }),
  );
});

const run = (file: string, ...args: string[]) =>
  commandLine(["send-notice-batch", "--input", join(folder, file), ...args], { cwd: folder });

test("--preflight prints the counts, needs neither configuration nor server, and ends with 0", async () => {
  const { code, stdout, stderr } = await run("batch.json", "--preflight", "--json");
  expect([code, stderr]).toEqual([0, ""]);
  expect(JSON.parse(stdout)).toMatchObject({ isAccepted: true, recipients: 2, problems: [] });
  const text = await run("batch.json", "--preflight");
  expect(text.stdout).toMatch(/list +accepted\nrows +2\nrecipients +2\n/);
});

test("--recipients takes the place of the input's list, relative to where the command runs", async () => {
  const { code, stdout } = await run("batch.json", "--recipients", "bad.csv", "--preflight");
  expect(code).toBe(2);
  expect(stdout).toContain("refused");
  expect(stdout).toMatch(/^2 +address +must be an e-mail address/m);
  expect(stdout).toMatch(/^4 +legalname +is required/m);
  expect(stdout).not.toContain(secret);
});

test("--csv prints every problem, and is a preflight", async () => {
  const { code, stdout } = await run("batch.json", "--recipients", "bad.csv", "--csv");
  expect(code).toBe(2);
  expect(stdout.split("\r\n")).toEqual([
    `"line","column","kind","problem"`,
    expect.stringContaining(`"2","address","address","must be an e-mail`),
    `"4","legalname","missing","is required"`,
    "",
  ]);
});

test("rows that may be left out refuse no list", async () => {
  const { code, stdout } = await run(
    "skipping.json",
    ...["--recipients", "bad.csv", "--preflight", "--json"],
  );
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ isAccepted: true, recipients: 1, invalidRows: 2 });
});

test.each([["--dry-run"], ["--watch"]])(
  "a refused list starts nothing with %s: 2, the lines, and no value",
  async (option) => {
    const { code, stderr, stdout } = await run(
      "batch.json",
      ...["--recipients", "bad.csv", option, "--json"],
    );
    expect([code, stdout]).toEqual([2, ""]);
    const { fields } = JSON.parse(stderr) as { fields: object[] };
    expect(fields).toContainEqual({
      path: "recipients",
      problem: "line 4: legalname: is required",
    });
    expect(stderr).not.toContain(secret);
  },
);

test("many problems are counted, and the first ones named", async () => {
  const rows = Array.from({ length: 50 }, (_, row) => `${secret}-${row};Ada`);
  await writeFile(join(folder, "many.csv"), ["address;legalname", ...rows, ""].join("\n"));
  const refused = await run("batch.json", ...["--recipients", "many.csv", "--dry-run", "--json"]);
  const { fields } = JSON.parse(refused.stderr) as { fields: { problem: string }[] };
  expect(fields).toHaveLength(21);
  expect(fields.at(-1)?.problem).toContain("has 30 more problems");
  const { stdout } = await run("batch.json", "--recipients", "many.csv", "--preflight");
  expect(stdout).toMatch(/address +50 in address/);
  expect(stdout).toContain('… "--csv" prints all');
});

test("a list that is missing is named by its option", async () => {
  const { code, stderr } = await run("batch.json", "--recipients", "no.csv", "--preflight");
  expect(code).toBe(2);
  expect(stderr).toContain("--recipients: cannot read no.csv: no such file");
});
