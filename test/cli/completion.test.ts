// The shells themselves complete with the scripts that `trustflow completion` prints.
import { beforeAll, describe, expect, test } from "vitest";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describeWith } from "../harness/programs.js";
import { commandLine } from "./in-process.js";
import { temporaryFolder } from "../harness/temporary.js";

const folder = await temporaryFolder();
const scripts: Record<string, string> = {};

beforeAll(async () => {
  for (const shell of ["bash", "zsh", "fish"]) {
    const { code, stdout } = await commandLine(["completion", shell]);
    expect(code).toBe(0);
    scripts[shell] = join(folder, shell);
    await writeFile(scripts[shell], stdout);
  }
});

/** What each shell offers for the last of the words, by what it has at hand for a function of ours. */
const asked: Record<string, (words: string[]) => string> = {
  bash: (words) =>
    `COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}
     . ${scripts["bash"]}; _trustflow; printf '%s\n' "\${COMPREPLY[@]}"`,
  zsh: (words) =>
    `compdef() { }; _describe() { print -l -- \${\${(P)2}%%:*} }; _files() { print files }
     . ${scripts["zsh"]}; words=(${words.map((word) => `'${word}'`).join(" ")}); CURRENT=${words.length}; _trustflow`,
  fish: (words) => `source ${scripts["fish"]}; complete -C '${words.join(" ")}'`,
};

async function offered(shell: string, words: string[]): Promise<string[]> {
  const { stdout } = await promisify(execFile)(shell, ["-c", asked[shell]?.(words) ?? ""], {
    cwd: folder,
  });
  return stdout
    .split("\n")
    .map((line) => line.split("\t")[0] ?? "")
    .filter((line) => line !== "");
}

const cases: [words: string[], some: string[], none: string[]][] = [
  [["trustflow", ""], ["send-postal", "list", "callbacks", "completion"], ["parked"]],
  [["trustflow", "callbacks", ""], ["parked", "replay"], ["send-postal"]],
  [["trustflow", "callbacks", "list", "--"], ["--state", "--before", "--json"], ["--phase"]],
  [["trustflow", "list", "--"], ["--phase", "--sort", "--cursor"], ["--confirm-retry"]],
  [
    ["trustflow", "list", "--json", "--phase", ""],
    ["tracking", "ended"],
    ["--phase", "retry"],
  ],
  [["trustflow", "resolve", "a", "--decision", ""], ["retry", "happened", "abandon"], ["--by"]],
  [["trustflow", "schema", ""], ["sendPostal", "verifyIdentity"], ["list"]],
  [["trustflow", "sandbox", "fault", "--kind", ""], ["reject"], ["list"]],
];

for (const shell of ["bash", "zsh", "fish"])
  describeWith(shell, "completes", () => {
    test.each(cases)("%j", async (words, some, none) => {
      const found = await offered(shell, words);
      expect(found).toEqual(expect.arrayContaining(some));
      for (const word of none) expect(found).not.toContain(word);
    });

    test("offers no word of ours where the value is the user's own", async () => {
      const found = await offered(shell, ["trustflow", "send-postal", "--input", ""]);
      expect(found).not.toContain("--id");
    });
  });

describe("the command completion", () => {
  test("--json has the same script", async () => {
    const plain = await commandLine(["completion", "bash"]);
    const { stdout } = await commandLine(["completion", "bash", "--json"]);
    expect(JSON.parse(stdout)).toEqual({ shell: "bash", script: plain.stdout });
  });

  test("of another shell is a usage error", async () => {
    const { code, stderr } = await commandLine(["completion", "csh", "--json"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("bash, zsh, fish")]);
  });
});
