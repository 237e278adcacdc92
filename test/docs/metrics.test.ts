// Each metric is explained, and none is made that is not defined.
import { expect, test } from "vitest";
import { metrics } from "../../src/contracts/shared/metrics.js";
import type { Metric } from "../../src/contracts/shared/metrics.js";
import { files, textOf } from "./repository.js";

test.each(Object.values<Metric>(metrics))(
  "$name has a meaning, a unit and its labels explained",
  (metric) => {
    expect(metric.help).toMatch(/^[A-Z1][^\n]{8,}[^.]$/);
    expect(metric.unit).not.toBe("");
    for (const values of Object.values(metric.labels ?? {})) expect(values).not.toBe("");
    expect(metric.name.endsWith("_total")).toBe(metric.type === "counter");
    if (metric.name.endsWith("_seconds")) expect(metric.unit).toBe("seconds");
  },
);

/** Where a metric is made, with what follows. */
const made =
  /\b(?:createCounter|createHistogram|createGauge|new (?:Counter|Histogram|Gauge))\((.*)/g;

test("each metric is made from its definition", () => {
  const sources = files.filter((path) => path.startsWith("src/") && path.endsWith(".ts"));
  const others = sources
    .filter((path) => path !== "src/contracts/shared/metrics.ts")
    .filter((path) => /"trustflow_\w+_(total|seconds)"/.test(textOf(path)));
  expect(others).toEqual([]);
  const texts = sources.map(textOf);
  const makers = texts.flatMap((text) => [...text.matchAll(made)].map(([, rest = ""]) => rest));
  expect(makers.length).toBeGreaterThan(5);
  for (const rest of makers) expect(rest).not.toContain('"trustflow_');
  const used = texts.join("");
  for (const key of Object.keys(metrics)) expect(used).toContain(`metrics.${key}`);
});
