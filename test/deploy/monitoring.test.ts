// The alerts and the dashboard ask for metrics that exist, and each alert leads to a page.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { metrics } from "../../src/contracts/shared/metrics.js";
import { fileOf } from "../compose/stand-ins/programs.js";
import { anchors } from "../docs/repository.js";
import { describeWith } from "../harness/programs.js";
import { temporaryFolder } from "../harness/temporary.js";
import { root, textOf } from "./compose-file.js";
import { alerts, metricsIn, queries } from "./monitoring.js";

const ours = new Set<string>(
  Object.values(metrics).flatMap(({ name, type }) =>
    type === "histogram" ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
  ),
);
/** Of Temporal's server, not of the SDK. */
const ofServer = new Set(["approximate_backlog_count"]);

/** Its metrics stand in the SDK's core as texts, without prefix and suffix. */
const core = readFileSync(
  join(
    dirname(createRequire(import.meta.url).resolve("@temporalio/core-bridge/package.json")),
    "releases/x86_64-unknown-linux-gnu/index.node",
  ),
);

function isKnown(name: string): boolean {
  if (name.startsWith("trustflow_")) return ours.has(name);
  const inCore = name.replace(/^temporal_/, "").replace(/_(total|bucket)$/, "");
  return ofServer.has(name) || core.includes(inCore);
}

test.each([...alerts.map(({ expr }) => expr), ...queries])(
  "%s asks for metrics that exist",
  (expr) => {
    const named = metricsIn(expr);
    if (!/^up\b|\bALERTS\b/.test(expr)) expect(named).not.toEqual([]);
    expect(named.filter((name) => !isKnown(name))).toEqual([]);
  },
);

test.each(alerts)("$alert says what to do, and where it stands", ({ annotations }) => {
  const { summary, then, runbook } = annotations;
  expect(summary).toMatch(/^[A-Z].*[^.]$/);
  expect(then).toMatch(/[^.]$/);
  const [page = "", anchor] = runbook.split("#");
  const known = anchors(page);
  if (anchor !== undefined) expect(known).toContain(anchor);
});

interface RuleTests {
  tests: { name: string; promql_expr_test: { expr: string; exp_samples?: object[] }[] }[];
}

const provoking = ["rules.test.yml", "rules.week.test.yml"].map(
  (file) => `deploy/prometheus/${file}`,
);

test("each alert is provoked once, and is silent once", () => {
  const tests = provoking.flatMap((file) => (parse(textOf(file)) as RuleTests).tests);
  expect(tests.map(({ name }) => name).toSorted()).toEqual(
    alerts.map(({ alert }) => alert).toSorted(),
  );
  for (const { name, promql_expr_test: looks } of tests) {
    for (const { expr } of looks) expect(expr).toContain(`alertname="${name}",alertstate="firing"`);
    expect(looks.map(({ exp_samples: samples = [] }) => samples.length)).toEqual([0, 1]);
  }
});

/** By `npm run test:compose`. */
const built = fileOf("promtool", "promtool");
const program = existsSync(built) ? built : "promtool";

describeWith("promtool", "Prometheus understands alerts, scrapes and queries", judged, {
  isInstalled: spawnSync(program, ["--version"]).error === undefined,
});

function judged(): void {
  const promtool = (...args: string[]) => execFileSync(program, args, { cwd: root, stdio: "pipe" });

  test("its configuration, with the alerts", () => {
    promtool("check", "config", "deploy/prometheus/prometheus.yml");
  });

  test("what provokes each alert", () => {
    promtool("test", "rules", ...provoking);
  }, 60_000);

  test("the queries of the dashboard", async () => {
    const rules = queries.map((expr, index) => ({ record: `panel:${index}`, expr }));
    const file = join(await temporaryFolder(), "queries.yml");
    await writeFile(file, JSON.stringify({ groups: [{ name: "dashboard", rules }] }));
    promtool("check", "rules", file);
  });
}
