// Which tests a change touches: what imports it, by Jest's own search, and what reaches it only through a started role.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "./steps.mjs";

/** A started role runs from dist/, and pages are no modules: no import leads there. */
const beside = [
  { changed: /^src\//, tests: /^test\/(e2e\/promises|histories\/plain-paths)\./ },
  { changed: /^src\/workflows\//, tests: /^test\/replay\// },
  { changed: /^src\/(cli|roles)[./]/, tests: /^test\/cli\// },
  { changed: /\.md$|^(scripts|src\/cli|src\/config)[./]|^package\.json$/, tests: /^test\/docs\// },
  { changed: /^deploy\/|^docker-compose\.yml$|^Dockerfile$/, tests: /^test\/deploy\// },
];

/**
 * Of all tests those that a change of these files needs beside the ones that import them. A process is known by the name of
 * its folders; what belongs to it runs its end-to-end tests of test/long too.
 *
 * @param {string[]} files that changed
 * @param {string[]} tests all that there are
 * @param {string[]} processes the names of their folders
 */
export function testsBeside(files, tests, processes) {
  const rules = [
    ...beside.map((rule) => ({ ...rule, isLong: false })),
    ...processes.map((name) => ({
      changed: new RegExp(`^(src|test)/.*\\b${name}[./]`),
      tests: new RegExp(`/e2e/processes/${name}[.-]`),
      isLong: true,
    })),
  ].filter(({ changed }) => files.some((file) => changed.test(file)));
  return tests.filter((test) =>
    rules.some((rule) => rule.tests.test(test) && (rule.isLong || !isLong(test))),
  );
}

/** @param {string} test */
const isLong = (test) => test.startsWith("test/long/");

/**
 * What Jest is told to run; undefined where nothing has changed.
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
  if (files.length === 0) return undefined;
  const tests = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
    .map((file) => join("test", file))
    .filter((file) => file.endsWith(".test.ts"));
  const processes = readdirSync(join(root, "test", "processes"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  const more = testsBeside(files, tests, processes);
  const modules = files.filter(
    (file) => /\.[cm]?[jt]s$/.test(file) && existsSync(join(root, file)),
  );
  const unasked = tests.filter((test) => isLong(test) && !more.includes(test));
  return [
    "--findRelatedTests",
    ...modules,
    ...more,
    "--passWithNoTests",
    ...unasked.flatMap((test) => ["--testPathIgnorePatterns", `/${test}$`]),
  ];
}

/** @param {string[]} args */
function git(...args) {
  const text = execFileSync("git", args, { cwd: root, encoding: "utf8" });
  return text.split("\n").filter(Boolean);
}
