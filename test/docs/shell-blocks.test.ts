// How the commands of a page, and what they print, are read.
import { expect, test } from "vitest";
import { isThere, pages } from "./repository.js";
import { exceptions, exceptionTo } from "./exceptions.js";
import { difference, nameOf, shellBlocks, shellBlocksOf } from "./shell-blocks.js";
import type { ShownCommand } from "./shell-blocks.js";
import { guides } from "../long/docs/guides.js";

const page = `# Title

\`\`\`sh
first --one # a comment
# only a comment

second \\
  --two    # ends with 5
cat > file <<'END'
# not a comment
END
\`\`\`

prints:

\`\`\`
done
\`\`\`

\`\`\`toml
key = 1
\`\`\`

\`\`\`sh elsewhere
docker run
\`\`\`

## Another heading

\`\`\`
a picture
\`\`\`
`;

test("commands, exit codes, marks and output are found", () => {
  expect(shellBlocksOf(page)).toEqual([
    {
      isElsewhere: false,
      output: "done",
      commands: [
        { line: 4, text: "first --one # a comment", exitCode: 0 },
        { line: 7, text: "second \\\n  --two    # ends with 5", exitCode: 5 },
        { line: 9, text: "cat > file <<'END'\n# not a comment\nEND", exitCode: 0 },
      ],
    },
    { isElsewhere: true, commands: [{ line: 25, text: "docker run", exitCode: 0 }] },
  ]);
});

test("a command that is not whole is refused", () => {
  expect(() => shellBlocksOf("```sh\ncat <<'END'\n```\n")).toThrow("line 2");
});

test.each([
  ["one line", "a b", "a    b  \n", true],
  ["another line", "a b", "a c\n", false],
  ["a line more", "a", "a\nb\n", false],
  ["a line less", "a\nb", "a\n", false],
  ["any text", "at … done", "at 2026-01-01 done\n", true],
  ["any text within the line only", "at … done", "at\ndone\n", false],
  ["any lines", "a\n…\nz", "a\nb\nc\nz\n", true],
  ["no lines", "a\n…\nz", "a\nz\n", true],
  ["colours", "ok", "\u001b[32mok\u001b[0m\n", true],
  ["signs of patterns", "(a) [b] $1.5", "(a) [b] $1.5\n", true],
  ["signs of patterns, not the text", "1.5", "1x5\n", false],
])("what is shown and what is printed: %s", (_, shown, printed, fits) => {
  expect(difference(shown, printed) === undefined).toBe(fits);
});

test("each page of which a command is run has one guide", () => {
  const isRun = (page: string, command: ShownCommand) => {
    const exception = exceptionTo(page, command);
    return exception === undefined || exception.instead !== undefined;
  };
  const read = pages.filter((page) =>
    shellBlocks(page).some(({ commands }) => commands.some((command) => isRun(page, command))),
  );
  expect(guides.map(({ page }) => page).toSorted()).toEqual(read.toSorted());
});

test("exceptions.ts names commands of the pages, all that are marked as elsewhere, and tests that are there", () => {
  const shown = pages.flatMap((page) =>
    shellBlocks(page).flatMap(({ commands, isElsewhere }) =>
      commands.map((command) => ({ name: `${page}: ${nameOf(command)}`, isElsewhere })),
    ),
  );
  const named = exceptions.map(({ page, command }) => `${page}: ${command}`);
  expect(named.filter((name) => !shown.some((command) => command.name === name))).toEqual([]);
  const elsewhere = shown.filter(({ isElsewhere }) => isElsewhere).map(({ name }) => name);
  expect(elsewhere.filter((name) => !named.includes(name))).toEqual([]);
  const tests = exceptions.flatMap(({ coveredBy = [] }) => coveredBy);
  expect(tests.filter((path) => !isThere(path))).toEqual([]);
});
