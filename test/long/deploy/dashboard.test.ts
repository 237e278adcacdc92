// The dashboard on real data: Prometheus reads the roles with the shipped configuration, and each panel's queries are answered.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { got } from "got";
import { afterAll, beforeAll, test } from "vitest";
import { parse } from "yaml";
import { startChild } from "../../../packages/dev/src/processes/child.js";
import type { Child } from "../../../packages/dev/src/processes/child.js";
import { freePorts } from "../../../packages/dev/src/processes/free-ports.js";
import { newSecret } from "../../../src/webhooks/signature.js";
import { textOf } from "../../deploy/compose-file.js";
import { panels } from "../../deploy/monitoring.js";
import { eventually } from "../../harness/outages/wait.js";
import { describeWith } from "../../harness/programs.js";
import { metricsPorts, metricsRoles } from "../../harness/stack/metrics-ports.js";
import { startTestStack, statusWhere } from "../../harness/stack/stack.js";
import type { TestStack } from "../../harness/stack/stack.js";
import { temporaryFolder } from "../../harness/temporary.js";
import { letterInput, refusedLetter } from "../../processes/send-postal/inputs.js";

/** What has no data while all is well, or is not of the roles. */
const silent = ["Which circuits are open?", "Which alerts fire?", "Backlog of the task queues"];

describeWith("prometheus", "the dashboard", () => {
  let system: TestStack;
  let prometheus: Child;
  let url: string;

  beforeAll(async () => {
    const [port = 0] = await freePorts(1);
    const { ports, env } = await metricsPorts();
    system = await startTestStack({
      env: {
        ...env,
        TRUSTFLOW_STUCK__SCAN_SECONDS: "1",
        TRUSTFLOW_WEBHOOKS__BILLING__URL: "https://127.0.0.1:9/",
        TRUSTFLOW_WEBHOOKS__BILLING__SECRET: newSecret(),
        TRUSTFLOW_WEBHOOKS__BILLING__ALLOW_PRIVATE: "true",
      },
    });
    const folder = await temporaryFolder();
    const shipped = parse(textOf("deploy/prometheus/prometheus.yml"));
    shipped.global = { scrape_interval: "1s", evaluation_interval: "1s" };
    delete shipped.rule_files;
    for (const job of shipped.scrape_configs) {
      const role = metricsRoles.find((name) => job.job_name === `trustflow-${name}`);
      job.static_configs = role ? [{ targets: [`127.0.0.1:${ports[role]}`] }] : [];
    }
    await writeFile(join(folder, "prometheus.yml"), JSON.stringify(shipped));
    url = `http://127.0.0.1:${port}`;
    prometheus = await startChild({
      command: "prometheus",
      args: [
        `--config.file=${join(folder, "prometheus.yml")}`,
        `--storage.tsdb.path=${join(folder, "data")}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      logFile: join(folder, "prometheus.log"),
    });
    const { client } = system;
    const refused = refusedLetter.stopped(letterInput("refused", "delivered"), "refused");
    await statusWhere(await client.sendPostal("refused", refused), ({ attention }) => !!attention);
    await (await client.sendPostal("a-letter", letterInput("a-letter", "delivered"))).result();
  }, 120_000);
  afterAll(async () => {
    await prometheus?.stop();
    await system?.close();
  }, 60_000);

  const asked = panels.flatMap(({ title, targets }) =>
    targets.map(({ expr }) => ({ title, expr })),
  );

  test.each(asked.filter(({ title }) => !silent.includes(title)))(
    "$title: $expr",
    async ({ expr }) => {
      await eventually("a value", async () => {
        const { data } = await got(`${url}/api/v1/query`, { searchParams: { query: expr } }).json<{
          data: { result: { metric: object; value: [number, string] }[] };
        }>();
        return data.result.some(({ value: [, value] }) => value !== "NaN");
      });
    },
    60_000,
  );
});
