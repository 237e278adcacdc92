#!/usr/bin/env node
// `npm run coverage:spec`: writes artifacts/coverage.md. `npm run coverage:spec -- --results FILE --results FILE`, with each file that
// a run of Vitest wrote: fails where a test that covers an item of the specification did not pass.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { register } from "node:module";
import { parseArgs } from "node:util";
import { ensureInstalled } from "./install.mjs";
import { root, say } from "./steps.mjs";

const { values } = parseArgs({ options: { results: { type: "string", multiple: true } } });
if (!(await ensureInstalled())) process.exit(1);
register("./typescript.mjs", import.meta.url);
/** @param {string} name */
const load = (name) => import(new URL(`../test/coverage/${name}.ts`, import.meta.url).href);
const { readItems } = await load("items");
const items = readItems(root);
/** @param {string} path */
const textOf = (path) => readFileSync(`${root}/${path}`, "utf8");

if (values.results) {
  const [{ Repository }, { notPassed, passedIn }] = await Promise.all(
    ["cover", "results"].map(load),
  );
  const repository = new Repository(root);
  const missing = notPassed(
    items,
    passedIn(values.results, root),
    (/** @type {string} */ fixture) => repository.fixture(fixture)?.side,
  );
  for (const test of missing) say(`did not run, or did not pass: ${test}`);
  say(
    `${items.length} items of the specification, ${missing.length} of their tests without a pass`,
  );
  process.exitCode = missing.length > 0 ? 1 : 0;
  // As Vitest writes its own, for the closing line of `npm run verify`.
  const own = process.env["TEST_RESULTS_FILE"];
  const sums = {
    numPendingTests: 0,
    numFailedTests: missing.length,
  };
  if (own)
    writeFileSync(own, JSON.stringify({ ...sums, numPassedTests: missing.length > 0 ? 0 : 1 }));
} else {
  const { coveragePage } = await load("page");
  const page = coveragePage(items, {
    assumptions: textOf("docs/assumptions.md"),
    specification: textOf("docs/specification.md"),
  });
  mkdirSync(`${root}/artifacts`, { recursive: true });
  writeFileSync(`${root}/artifacts/coverage.md`, page);
  console.log(`artifacts/coverage.md: ${items.length} items of the specification`);
}
