// Which tests a change touches: what imports it, by Vitest's own search, and what reaches it only through a started role.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "./steps.mjs";

/** What no import shows: a started role runs from dist/, pages and recordings are no modules, some files are read as text. */
const rules = [
  { changed: /./, tests: /^test\/(coverage|docs)\// },
  {
    changed: /^src\//,
    tests: /^test\/(e2e\/promises|scripts\/lint-rules|simulation\/simulate)\./,
  },
  {
    changed: /^src\/(contracts|workflows)\//,
    tests: /^test\/(histories\/shape|scripts\/bundle-size|replay\/)/,
  },
  { changed: /^src\/(cli|roles)[./]/, tests: /^test\/cli\// },
  {
    changed: /^test\/processes\//,
    tests: /^test\/(contracts|processes)\//,
  },
  { changed: /^test\/replay\//, tests: /^test\/replay\// },
  {
    changed: /^test\/fixtures\//,
    tests: /^test\/(harness|providers)\/|^packages\/sandbox\/test\//,
  },
  { changed: /^examples\//, tests: /^test\/processes\// },
  { changed: /^deploy\/|^docker-compose\.yml$|^Dockerfile$/, tests: /^test\/deploy\// },
];

/** Neither an import nor a rule tells what these touch: packages, settings of the tools, what is loaded by its path. */
const touchesAll =
  /^(vitest\.config\.js|package(-lock)?\.json|tsconfig\.json|\.oxlintrc\.json|scripts\/.*|test\/harness\/.*\.js)$/;

/**
 * Of all tests those that the rules add when these files change.
 *
 * @param {string[]} files that changed
 * @param {string[]} tests all that there are
 */
export function testsByRules(files, tests) {
  const applied = rules.filter(({ changed }) => files.some((file) => changed.test(file)));
  return tests.filter((test) => !isLong(test) && applied.some((rule) => rule.tests.test(test)));
}

/** @param {string} test */
const isLong = (test) => test.startsWith("test/long/");

/**
 * What Vitest is told to run; undefined where nothing has changed.
 *
 * @param {string} [since] the branch or commit to compare with; default: what is not committed
 * @returns {string[] | undefined}
 */
export function changedArguments(since) {
  const base = since === undefined ? "HEAD" : git("merge-base", "HEAD", since)[0];
  const files = [
    ...git("diff", "--name-only", base ?? "HEAD"),
    ...git("ls-files", "--others", "--exclude-standard"),
  ];
  return files.length > 0 ? argumentsFor(files) : undefined;
}

/** @param {string[]} files that changed */
export function argumentsFor(files) {
  if (files.some((file) => touchesAll.test(file))) return ["run"];
  const tests = ["test", "packages/dev/test", "packages/sandbox/test"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .map((file) => join(folder, file))
      .filter((file) => file.endsWith(".test.ts")),
  );
  const modules = files.filter(
    (file) => /\.[cm]?[jt]s$/.test(file) && existsSync(join(root, file)),
  );
  return ["related", "--run", ...modules, ...testsByRules(files, tests)];
}

/** @param {string[]} args */
function git(...args) {
  const text = execFileSync("git", args, { cwd: root, encoding: "utf8" });
  return text.split("\n").filter(Boolean);
}
