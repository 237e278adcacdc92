import { expect, test } from "vitest";
import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import type { Command } from "commander";
import { createProgram } from "../../src/cli/program.js";
import { commandLine } from "./in-process.js";
import { cli, trustflow } from "./run.js";

function everyCommand(command: Command): Command[] {
  return [command, ...command.commands.flatMap(everyCommand)];
}

function helpOf(command: Command): string {
  let help = "";
  command.configureOutput({ writeOut: (text) => (help += text), getOutHelpWidth: () => 80 });
  command.outputHelp();
  return help;
}

const commands = everyCommand(await createProgram());

test.each(commands.map((command) => [command.name(), command] as const))(
  "the help of %s has an example and the exit codes, and fits a terminal of 80 columns",
  (name, command) => {
    const help = helpOf(command);
    expect(help).toMatch(/Example:\n {2}\$ trustflow /);
    expect(help).toContain("Exit codes:\n  0  success");
    expect(help).toContain(name);
    expect(help.split("\n").filter((line) => line.length > 80)).toEqual([]);
  },
);

test("every option is explained", () => {
  const bare = commands.flatMap((command) =>
    command.options
      .filter(({ description }) => description === "")
      .map(({ long }) => `${command.name()} ${long}`),
  );
  expect(bare).toEqual([]);
});

test("every argument is explained, and its help shows it", () => {
  const used = commands.flatMap((command) =>
    command.registeredArguments.map((argument) => ({ command, argument })),
  );
  expect(used.length).toBeGreaterThan(40);
  for (const { command, argument } of used) {
    const where = `${command.parent?.name()} ${command.name()} ${argument.name()}`;
    expect([where, argument.description]).toEqual([where, expect.stringMatching(/^[^.]{5,}/)]);
    const shown = helpOf(command).split("\nArguments:\n")[1]?.split("\n\n")[0] ?? "";
    expect(shown.replaceAll(/\s+/g, " ")).toContain(`${argument.name()} ${argument.description}`);
  }
});

test("every command that does something takes --json", () => {
  const without = commands
    .filter((command) => command.commands.length === 0 || command.name() === "sandbox")
    .filter((command) => !command.options.some(({ long }) => long === "--json"));
  expect(without.map((command) => command.name())).toEqual([]);
});

test("--help ends with 0 and prints on stdout, without colours off a terminal", async () => {
  const { code, stdout, stderr } = await commandLine(["send-postal", "--help"]);
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toContain("--dry-run");
  expect(stdout).not.toContain("\u001b[");
});

test("no command at all is a usage error", async () => {
  const { code, stdout, stderr } = await commandLine([]);
  expect(code).toBe(2);
  expect(stdout).toBe("");
  expect(stderr).toContain("Usage: trustflow");
});

const happened = "resolve a --by me --decision happened";
const retry = "resolve a --by me --decision retry";

test("a usage error is the same in a process of its own", async () => {
  const { code, stdout, stderr } = await trustflow(["unknown"]);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toContain("unknown command 'unknown'");
});

test.skipIf(process.platform !== "linux")(
  "a disk without room for the output is named, in one line",
  () => {
    const command = `"$0" "$1" schema sendPostal > /dev/full`;
    const { status, stderr } = spawnSync("sh", ["-c", command, process.execPath, cli], {
      encoding: "utf8",
    });
    expect(status).toBe(2);
    expect(stderr).toBe("Cannot write to stdout: ENOSPC: no space left on device, write\n");
  },
);

test.each([
  ["statu", "unknown command 'statu'\n(Did you mean status?)"],
  ["sandbox message", "unknown command 'message'\n(Did you mean messages?)"],
  ["status", "missing required argument 'id'"],
  ["status a b", "too many arguments"],
  ["send-postal", "--input"],
  ["send-postal --input x --bogus", "unknown option '--bogus'"],
  ["send-message --input x --expect delivered", "Allowed choices are accepted."],
  ["issue-certificate --input x --expect delivered", "issued, expired, locked"],
  ["rehearse nothing --input a", "unknown process"],
  ["schema sendPostl", "did you mean sendPostal (known: sendPostal, sendNotice"],
  ["list --process sendPostl", "did you mean sendPostal"],
  ["list --limit none", "--limit"],
  ["logs --since 999999d", "must be a span that does not begin before 1970"],
  ["sandbox --port 70000", "--port <port>' argument '70000' is invalid. must be a whole"],
  ["sandbox --otp-lifetime x", "must look like 500ms"],
  ["sandbox --speed -1", "--speed"],
  ["sandbox advance x", "span: must look like 500ms"],
  ["sandbox advance 99999d", "span: must be at most 36525d"],
  ["recipients a --full", "--full: can only be used with --history"],
  ["assertion order-7 --file -", "--file: stdin is empty"],
  ["assertion order-7 --file missing.json", "--file: cannot read missing.json: no such file"],
  ["start sendPostal --csv /no.csv", "cannot read /no.csv: no such file"],
  ["reject-call order-7 --fields no.json", "no.json: no such file"],
  ["init", "--provider: is required; known: evi-post, evi-notice"],
  ["otp a --update-id été", "--update-id"],
  ["resolve a --by NAME --decision retry", "must be the name of the person"],
  ["resolve a --by me --decision guess", "retry, happened, abandon"],
  [`${happened} --result-file -`, "--result-file: stdin is empty"],
  [`${happened} --result -`, "--result: stdin is empty"],
  [`${happened} --result [1]`, "--result"],
  [`${happened} --result {} --result-file x.json`, "--result"],
  [`${happened} --result-file no.json`, "--result-file: cannot read no.json: no such file"],
  [`${retry} --result -`, "--result: can only be used with"],
  [`${retry} --result-file x.json`, "--result"],
  [`${retry} --update-id u-1`, "--update-id: needs --attention"],
  ["resolve a b --by me --decision retry --attention submit-1", "--attention"],
  ["resolve a b --by me --decision retry --update-id u-1", "--update-id: needs a single ID"],
  ["migrate --database-only --temporal-only", "--database-only"],
  ["migrate --database-only --create-namespace 90", "--create-namespace"],
  ["callbacks list --limit 99999999999999999999", "must be a whole number from 1 to"],
  ["documents get letter", "uri"],
  [`documents get document:${"0".repeat(32)} --json`, "--out"],
  ["callbacks address evi-post", "one-shot-signature"],
  ["keys generate --id no/id", "--id"],
])(
  "trustflow %s is a usage error that names what is wrong, with --json in one line",
  async (line, named) => {
    const args = line.split(" ");
    const { code, stdout, stderr } = await commandLine(args);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(named);
    const inJson = await commandLine([...args, "--json"]);
    expect([inJson.code, inJson.stdout]).toEqual([2, ""]);
    expect(JSON.parse(inJson.stderr)).toMatchObject({
      ...{ exitCode: 2, error: "Invalid" },
      message: expect.stringContaining(named),
    });
  },
);

test("keys generate and the operations guide rotate alike: a new key is last before it is first", async () => {
  const { stdout } = await commandLine(["keys", "generate", "--help"]);
  const guide = await readFile(new URL("../../docs/operations/keys.md", import.meta.url), "utf8");
  expect(stdout.replaceAll(/\s+/g, " ")).toMatch(
    /last[^.]*restart[^.]*then put it first[^.]*restart/,
  );
  expect(guide).toMatch(/add it \*\*last\*\*[^.]*restart[^.]*\n2\. put it first and restart/);
});

test("a result on the command line that cannot be used is not quoted", async () => {
  const line = `${happened} --result {"deviceCode":"Q7XJ2VK9"`;
  const { stderr } = await commandLine(line.split(" "));
  expect(stderr).toContain("--result: the text is not JSON");
  expect(stderr).not.toContain("Q7XJ2VK9");
});

test.each([
  ["otp a Q7XJ2VK9", /^The code was on the command line: .* leave it out/],
  [
    `${happened} --result {"certIdOtp":17,"deviceCode":"Q7XJ2VK9"}`,
    /^deviceCode was on the command line: .* use --result - or --result-file/,
  ],
  [`${happened} --result {"uniqueId":"4f1c"}`, /^(?!.*on the command line)/s],
])("a secret in `%s` works, and is said to be visible there", async (line, said) => {
  // Nothing can be reached, which is said after it.
  const env = { TEMPORAL_ADDRESS: "127.0.0.1:1" };
  const { code, stderr } = await commandLine(line.split(" "), { env });
  expect(code).toBe(4);
  expect(stderr).toMatch(said);
  expect(stderr).not.toContain("Q7XJ2VK9");
  const inJson = await commandLine([...line.split(" "), "--json"], { env });
  expect(JSON.parse(inJson.stderr)).toMatchObject({ exitCode: 4 });
});
