// docs/operations/watch.md has each metric, and each metric says in `/metrics` what it is.
import { expect, test } from "@jest/globals";
import { providerCallSeconds } from "../../src/contracts/shared/names.js";
import { files, namedRows, textOf } from "./repository.js";

/** Where a metric is made: its name, and the rest of what makes it. */
const made =
  /(?:createCounter|createHistogram|createGauge|gauge|new (?:Counter|Histogram|Gauge))\(\s*(?:\{\s*name: )?("trustflow_\w+"|providerCallSeconds)([^;]*?)(?:\)|\n {2,4}\})/g;

const metrics = files
  .filter((path) => path.startsWith("src/") && path.endsWith(".ts"))
  .flatMap((path) => [...textOf(path).matchAll(made)])
  .map(([, name = "", rest = ""]) => ({
    name: name === "providerCallSeconds" ? providerCallSeconds : name.slice(1, -1),
    isExplained: /"[A-Z1][^"]{8,}"/.test(rest),
  }));

test("the page has each metric", () => {
  const rows = namedRows(textOf("docs/operations/watch.md")).map(([name = ""]) => name);
  const plain = (name: string) => name.replace(/_total$/, "");
  const shown = rows.filter((name) => name.startsWith("trustflow_")).map(plain);
  expect(metrics.map(({ name }) => plain(name)).toSorted()).toEqual(shown.toSorted());
});

test("each metric is explained", () => {
  expect(metrics.filter(({ isExplained }) => !isExplained).map(({ name }) => name)).toEqual([]);
});
