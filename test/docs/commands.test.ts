// Every command that a page shows is real: npm's scripts are there, and ours parse. test/long/docs runs them.
import { describe, expect, test } from "vitest";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Command, CommanderError } from "commander";
import { rings } from "../../src/cli/keys/secret-files.js";
import { createProgram } from "../../src/cli/program.js";
import { commandOf, processes } from "../../src/contracts/registry.js";
import { brought } from "../processes/index.js";
import { shellBlocks } from "./shell-blocks.js";
import { codeBlocks, isThere, namedRows, pages, quoted, root, textOf } from "./repository.js";
import { temporaryFolder } from "../harness/temporary.js";

const scriptsOf = (path: string) =>
  Object.keys((JSON.parse(textOf(path)) as { scripts: object }).scripts);
const scripts = [
  "package.json",
  "examples/onboarding/package.json",
  "examples/testing/package.json",
].flatMap(scriptsOf);
const exampleIsThere = (path: string) => isThere(path) || !path.startsWith("examples/");

/** A line as a shell splits it; quotes hold words together. */
function words(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|"([^"]*)"|([^\s'"]+)/g)].map(
    ([, single, double, plain]) => single ?? double ?? plain ?? "",
  );
}

/** The commands of a page's code blocks, one by one, without comments, here-documents and redirections. */
function shellCommands(page: string): string[] {
  return shellBlocks(page)
    .flatMap(({ commands }) => commands)
    .map(({ text }) =>
      text
        .replaceAll(/\\\n\s*/g, " ")
        .replace(/\n[^]*/, "")
        .replace(/\s*<<.*/, ""),
    )
    .flatMap((line) => line.replace(/\s+#.*$/, "").split(/ && | \| /))
    .map((line) =>
      line
        .replace(/^\(|\)$/g, "")
        .replace(/\s*(>>?|<) *\S+$/, "")
        .trim(),
    )
    .filter((line) => line !== "" && !line.startsWith("#"));
}

/** Parses without running: what is wrong, or undefined. */
async function parseProblem(args: string[]): Promise<string | undefined> {
  const program = await createProgram();
  const quiet = (command: Command): void => {
    command
      .exitOverride()
      .configureOutput({ writeErr: () => undefined, writeOut: () => undefined });
    command.action(() => undefined);
    command.commands.forEach(quiet);
  };
  program.commands.forEach(quiet);
  program.configureOutput({ writeErr: () => undefined, writeOut: () => undefined });
  try {
    program.parse(args, { from: "user" });
    return undefined;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return undefined;
    return (error as Error).message;
  }
}

async function problemOf(line: string): Promise<string | undefined> {
  const [first, ...rest] = words(line).filter((word, index) => index > 0 || !/^\w+=/.test(word));
  if (first?.startsWith("$(")) return problemOf(first.slice(2, -1));
  if (first === "npx" && rest[0] === "trustflow") return parseProblem(rest.slice(1));
  if (first === "trustflow") return parseProblem(rest);
  if (first === "trustflow-run") return parseProblem(rest[0] === "cli" ? rest.slice(1) : rest);
  if (first === "npm") return npmProblem(rest);
  if (first === "node") return isThere(rest[0] ?? "") ? undefined : `${rest[0]} is not there`;
  if (first === "docker" && rest[0] === "compose") return composeProblem(rest.slice(1));
  // What a pod runs is a command of its own.
  if (first === "kubectl")
    return rest.includes("--") ? problemOf(line.split(" -- ")[1] ?? "") : undefined;
  if (first === "docker")
    return ["run", "build", "tag"].includes(rest[0] ?? "")
      ? undefined
      : `docker ${rest[0]} is not known here`;
  if (first === "sh" || first === "cd")
    return isThere(rest[0] ?? "") ? undefined : `${rest[0]} is not there`;
  return [
    "cat",
    "cp",
    "curl",
    "echo",
    "go",
    "install",
    "mkdir",
    "mv",
    "mvn",
    "pip",
    "printf",
    "python",
    "python3",
    "stty",
    "sed",
    "systemctl",
    "temporal",
    "umask",
    "useradd",
    "ln",
    ".",
  ].includes(first ?? "")
    ? undefined
    : `${first} is not known here`;
}

function npmProblem(args: string[]): string | undefined {
  const [verb = "", name] = args.filter((arg) => !arg.startsWith("--"));
  const script = verb === "run" ? name : verb;
  if (["ci", "install", "pack"].includes(verb)) return undefined;
  return script !== undefined && scripts.includes(script) ? undefined : `no npm script ${script}`;
}

/** `docker compose run --rm cli <command>` runs ours. */
async function composeProblem(args: string[]): Promise<string | undefined> {
  const [verb, ...rest] = args.filter((arg) => arg !== "--rm");
  return verb === "run" && rest[0] === "cli" ? parseProblem(rest.slice(1)) : undefined;
}

describe.each(pages)("%s", (page) => {
  test("shows commands that are real", async () => {
    for (const line of shellCommands(page))
      expect([line, await problemOf(line)]).toEqual([line, undefined]);
  });

  test("names npm scripts and commands that are real", async () => {
    for (const code of quoted(textOf(page))) {
      if (/^npm (run|test)\b/.test(code))
        expect([code, await problemOf(code)]).toEqual([code, undefined]);
      const ours = /^(?:npx )?trustflow ([a-z][a-z-]*)/.exec(code)?.[1];
      if (ours !== undefined) expect(commandNames).toContain(ours);
    }
  });

  test("shows example files that are there", () => {
    const named = shellCommands(page).flatMap(words);
    expect(named.filter((path) => !exampleIsThere(path))).toEqual([]);
  });
});

const commandNames = (await createProgram()).commands.map((command) => command.name());

/** What the compiler says of files whose lines name a caller's data without declaring them. */
async function typeProblems(files: Record<string, string[]>): Promise<string[]> {
  const folder = await temporaryFolder();
  const compilerOptions = {
    module: "nodenext",
    target: "es2023",
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    typeRoots: [join(root, "node_modules/@types")],
    types: ["node"],
    paths: { "trustflow-client": [join(root, "packages/client/dist/client.d.ts")] },
  };
  const given = `declare const pdf: Uint8Array;
declare const holder: import("trustflow-client").IssueCertificateInput;
declare const code: string;
declare const loadCursor: () => Promise<string>;
declare const saveCursor: (cursor: string) => Promise<void>;
declare const bookOnce: (id: string, status: import("trustflow-client").ProcessStatus) => Promise<void>;
declare const recipientAddress: Record<"streetAddress" | "postalCode" | "locality" | "region" | "country", string>;`;
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions }));
  for (const [name, lines] of Object.entries(files))
    await writeFile(join(folder, `${name}.mts`), [...lines, given].join("\n"));
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const { stdout } = await promisify(execFile)(process.execPath, [tsc], { cwd: folder }).catch(
    (error: { stdout: string }) => error,
  );
  return stdout.split("\n").filter((line) => /^\S/.test(line));
}

describe("the first pages", () => {
  test("README.md has a row for every process, with its command", () => {
    const rows = namedRows(textOf("README.md")).map(([name, command]) => [name, command]);
    const wanted = processes.map((name) => [name, name.replaceAll(/[A-Z]/g, "-$&").toLowerCase()]);
    expect(rows).toEqual(wanted);
    for (const [, command] of wanted) expect(commandNames).toContain(command);
  });

  const text = textOf("docs/applications.md");

  // test/long/docs runs each of them.
  test("docs/first-hour.md starts every process with its example", () => {
    const shown = shellCommands("docs/first-hour.md").join("\n");
    for (const name of processes)
      expect(shown).toContain(`${commandOf(name)} --input examples/${brought[name].example} `);
  });

  test("the TypeScript compiles against what the package exports", async () => {
    const [source] = codeBlocks(text).filter(({ language }) => language === "ts");
    const right = source?.lines ?? [];
    const feed = codeBlocks(textOf("docs/webhooks.md")).findLast(
      ({ language }) => language === "ts",
    );
    const wrong = right.map((line) => line.replace("letter.result()", "letter.outcome()"));
    const mixed = right.map((line) => line.replace("certificate.s", "letter.s"));
    const problems = await typeProblems({ feed: feed?.lines ?? [], mixed, right, wrong });
    expect(problems.filter((line) => /^(right|feed)/.test(line))).toEqual([]);
    expect(problems.join("\n")).toMatch(/^mixed.*'submitOtp' does not exist/m);
    expect(problems.join("\n")).toMatch(/^wrong.*'outcome' does not exist/m);
  });
});

test("each key that is generated stands in the configuration's page, and in no .env", () => {
  for (const ring of rings) {
    const name = `TRUSTFLOW_KEYS__${ring.toUpperCase()}`;
    expect(textOf("docs/reference/configuration.md")).toContain(`\`${name}\``);
    // Its secrets are files.
    expect(textOf(".env.example")).not.toContain(`${name}=`);
  }
});
