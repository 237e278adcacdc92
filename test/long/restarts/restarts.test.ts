// The worker is stopped and killed at random while everybody asks for the status (decision 15): no process gets stuck, no
// workflow task fails, every history replays.
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { DefaultLogger, Runtime } from "@temporalio/worker";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sandboxAccount } from "../../../src/local/stack/sandbox-accounts.js";
import { sandboxPki } from "../../../src/local/stack/stack-env.js";
import { openState } from "../../../src/local/stack/stack-state.js";
import { accountEnvironment } from "../../harness/histories/stack.js";
import { rightPassword } from "../../harness/restarts/persons.js";
import { runStorm } from "../../harness/restarts/storm.js";
import type { StormReport } from "../../harness/restarts/storm.js";
import { deniedAccount, waits } from "../../harness/restarts/waits.js";
import { sized } from "../../harness/stack/size.js";
import { startTestStack } from "../../harness/stack/stack.js";
import type { TestStack } from "../../harness/stack/stack.js";
import { processesUnderTest } from "../../processes/index.js";

const processes = sized(500, waits.length);
const atOnce = sized(80, waits.length);
const LARGE = 600;
const configurations = [
  { stickySeconds: 10, cachedProcesses: LARGE },
  { stickySeconds: 2, cachedProcesses: 0 },
  ...(processes === waits.length
    ? []
    : [
        { stickySeconds: 2, cachedProcesses: LARGE },
        { stickySeconds: 10, cachedProcesses: 0 },
      ]),
].map((one) => ({ name: `sticky-${one.stickySeconds}-cache-${one.cachedProcesses}`, ...one }));

let system: TestStack;
const reports: StormReport[] = [];

beforeAll(async () => {
  // Histories that do not replay would fill the screen.
  Runtime.install({
    logger: new DefaultLogger("ERROR", () => undefined),
    telemetryOptions: { logging: { filter: { core: "ERROR", other: "ERROR" }, forward: {} } },
  });
  const directory = await mkdtemp(join(tmpdir(), "trustflow-restarts-"));
  const { ports } = await openState(directory, () => undefined);
  const served = {
    url: `http://127.0.0.1:${ports.sandbox}`,
    tlsUrl: `https://127.0.0.1:${ports.sandboxTls}`,
    pkiDirectory: sandboxPki(directory),
  };
  system = await startTestStack({
    directory,
    roles: ["sandbox", "receiver", "relay"],
    sandboxPersonTime: "real",
    env: accountEnvironment(
      sandboxAccount(deniedAccount, served),
      deniedAccount,
      rightPassword.password,
    ),
  });
  await system.sandbox.putAccount(deniedAccount, rightPassword);
}, 120_000);
afterAll(() => system?.close(), 60_000);

test.each(configurations)(
  `${processes} processes, $name: none gets stuck, every history replays`,
  async (configuration) => {
    const report = await runStorm(system, {
      ...configuration,
      processes,
      atOnce: configuration.cachedProcesses === 0 ? Math.min(atOnce, 40) : atOnce,
      restartsEach: 3,
    });
    reports.push(report);
    console.info(configuration.name, report);
    expect(report).toMatchObject({
      processes,
      stuck: [],
      failedTasks: [],
      corrupt: [],
      problems: [],
    });
    const { duplicates, violations } = await system.sandbox.ledger();
    const inDoubt = reports.flatMap((one) => one.inDoubt);
    const triedAgain = new Set(processesUnderTest.flatMap((one) => one.triedAgain ?? []));
    const doubled = duplicates.filter(({ intent, operation, count }) => {
      const doubts = triedAgain.has(operation) ? inDoubt.filter((id) => id === intent).length : 0;
      return count > 1 + doubts;
    });
    expect({ doubled, violations }).toEqual({ doubled: [], violations: [] });
  },
  3_600_000,
);

test("the situation did arise", () => {
  const sum = (of: (report: StormReport) => number) =>
    reports.reduce((total, report) => total + of(report), 0);
  expect(sum(({ restarts }) => restarts["SIGTERM"] ?? 0)).toBeGreaterThan(0);
  expect(sum(({ restarts }) => restarts["SIGKILL"] ?? 0)).toBeGreaterThan(0);
  expect(sum(({ tooEarly }) => tooEarly)).toBeGreaterThanOrEqual(sized(1, 0));
});
