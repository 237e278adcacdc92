import { expect, test } from "@jest/globals";
import type { Command } from "commander";
import { createProgram } from "../../src/cli/program.js";
import { trustflow } from "./run.js";

function everyCommand(command: Command): Command[] {
  return [command, ...command.commands.flatMap(everyCommand)];
}

function helpOf(command: Command): string {
  let help = "";
  command.configureOutput({ writeOut: (text) => (help += text) });
  command.outputHelp();
  return help;
}

const commands = everyCommand(createProgram());
const names = commands.map((command) => command.name());

test.each(commands.map((command, index) => [names[index], command] as const))(
  "the help of %s has an example and the exit codes",
  (name, command) => {
    const help = helpOf(command);
    expect(help).toMatch(/Example:\n {2}\$ trustflow /);
    expect(help).toContain(`5  waits for a person`);
    expect(help).toContain(name);
  },
);

test("every command that does something takes --json", () => {
  const without = commands
    .filter((command) => command.commands.length === 0 || command.name() === "sandbox")
    .filter((command) => !command.options.some(({ long }) => long === "--json"));
  expect(without.map((command) => command.name())).toEqual([]);
});

test("the commands of the issue are there", () => {
  for (const name of `dev demo worker receiver relay sandbox codec-server migrate cleanup doctor keys send-postal status watch
    result cancel request-affidavit affidavits documents list resolve callbacks schema`.split(
    /\s+/,
  )) {
    expect(names).toContain(name);
  }
});

test("--help ends with 0 and prints on stdout", async () => {
  const { code, stdout, stderr } = await trustflow(["send-postal", "--help"]);
  expect(code).toBe(0);
  expect(stderr).toBe("");
  expect(stdout).toContain("--dry-run");
});

test("nothing but ASCII and no colour codes come off a terminal", async () => {
  const { stdout } = await trustflow(["--help"]);
  expect(stdout).not.toContain("\u001b[");
});

test("no command at all is a usage error", async () => {
  const { code, stdout, stderr } = await trustflow([]);
  expect(code).toBe(2);
  expect(stdout).toBe("");
  expect(stderr).toContain("Usage: trustflow");
});

test.each([
  [["unknown"], "unknown command 'unknown'"],
  [["status"], "missing required argument 'id'"],
  [["status", "a", "b"], "too many arguments"],
  [["send-postal"], "--input"],
  [["send-postal", "--input", "x", "--bogus"], "--bogus"],
  [["resolve", "a", "--by", "me"], "--decision"],
  [["resolve", "a", "--by", "me", "--decision", "guess"], "retry, happened, abandon"],
  [["resolve", "a", "--by", "me", "--decision", "happened"], "--result"],
  [["resolve", "a", "--by", "me", "--decision", "happened", "--result", "[1]"], "--result"],
  [
    ["resolve", "a", "b", "--by", "me", "--decision", "retry", "--attention", "submit-1"],
    "--attention",
  ],
  [["migrate", "--database-only", "--temporal-only"], "--database-only"],
  [["schema", "sendPigeon"], "sendPostal"],
  [["documents", "get", "letter"], "uri"],
  [["documents", "get", `document:${"0".repeat(32)}`, "--json"], "--out"],
  [["list", "--limit", "none"], "--limit"],
  [["sandbox", "advance", "soon"], "span"],
  [["sandbox", "--speed", "-1"], "--speed"],
  [["keys", "generate", "--id", "not an id"], "--id"],
])("trustflow %j is a usage error that names what is wrong", async (args, named) => {
  const { code, stdout, stderr } = await trustflow(args);
  expect(stderr).toContain(named);
  expect(code).toBe(2);
  expect(stdout).toBe("");
});
