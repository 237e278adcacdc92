// The worker is stopped and killed at random while everybody asks for the status (decision 15): no process gets stuck, no
// workflow task fails, every history replays.
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { startStackWithAccounts } from "../../harness/histories/stack.js";
import { rightPassword } from "../../harness/restarts/persons.js";
import { runStorm, waits } from "../../harness/restarts/storm.js";
import type { StormReport } from "../../harness/restarts/storm.js";
import { deniedAccount } from "../../processes/waits.js";
import { sized } from "../../harness/stack/size.js";
import type { TestStack } from "../../harness/stack/stack.js";
import { processesUnderTest } from "../../processes/index.js";

const processes = sized(500, waits.length);
const atOnce = sized(80, waits.length);
/** Fewer than are open, so that tasks and questions make the worker load processes all the time. */
const FEW = 10;
const configurations = [
  { stickySeconds: 10, cachedProcesses: FEW },
  { stickySeconds: 2, cachedProcesses: 0 },
  ...(processes === waits.length
    ? []
    : [
        { stickySeconds: 2, cachedProcesses: FEW },
        { stickySeconds: 10, cachedProcesses: 0 },
      ]),
].map((one) => ({ name: `sticky-${one.stickySeconds}-cache-${one.cachedProcesses}`, ...one }));

let system: TestStack;
const reports: StormReport[] = [];

beforeAll(async () => {
  system = await startStackWithAccounts([deniedAccount], rightPassword, {
    roles: ["sandbox", "receiver", "relay"],
    sandboxPersonTime: "real",
  });
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
    // One line, so that the part of a log that shows a failure shows its cause too.
    console.info(configuration.name, JSON.stringify(report));
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
  // A wait whose first call comes after the first end of another one is not denied.
  expect(reports.flatMap(({ denied }) => denied)).not.toEqual([]);
  const sum = (of: (report: StormReport) => number) =>
    reports.reduce((total, report) => total + of(report), 0);
  expect(sum(({ restarts }) => restarts["SIGTERM"] ?? 0)).toBeGreaterThan(0);
  expect(sum(({ restarts }) => restarts["SIGKILL"] ?? 0)).toBeGreaterThan(0);
  expect(sum(({ tooEarly }) => tooEarly)).toBeGreaterThanOrEqual(sized(1, 0));
});
