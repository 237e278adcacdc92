// `npm run demo`: runs real processes through the whole system, with and without faults, and proves that each had its effect
// once.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Trustflow } from "trustflow-client";
import type { AnyHandle } from "trustflow-client";
import { BatchProgressLine } from "trustflow/internal/contracts/send-notice-batch/progress-line.js";
import { sandboxControl } from "trustflow-sandbox";
import type { LedgerReport } from "trustflow-sandbox";
import { batchScenarios, noticeScenarios, servingScenarios } from "./notices.js";
import { callScenarios } from "./calls.js";
import { letterScenarios } from "./letters.js";
import { peopleScenarios } from "./people.js";
import type { Scenario, ScenarioContext } from "./scenario.js";
import { walletScenarios } from "./wallet.js";
import { hurried } from "../stack/simulated-spans.js";
import { startStack } from "../stack/stack.js";
import type { Progress } from "../processes/tools.js";

export interface DemoRow {
  process: string;
  id: string;
  scenario: string;
  expected: string;
  outcome: string;
  /** What the sandbox's ledger has of the scenario's effect for this intent. */
  effects: number;
  durationMs: number;
  url: string;
}

export interface DemoReport {
  ok: boolean;
  durationMs: number;
  temporalUi: string;
  scenarios: DemoRow[];
  ledger: { effects: number; duplicates: number; violations: number };
}

export interface DemoOptions {
  progress: Progress;
  /** Called with the report while everything is still up; what it returns is waited for before the end. */
  onReport(report: DemoReport): Promise<void>;
}

const demoEnvironment = {
  ...hurried,
  TRUSTFLOW_ACCOUNTS__DEFAULT__EVI_POST__TIMEOUT_SECONDS: "6",
};

/** Virtual days in real seconds. */
const SPEED = 40_000;

const acts = [
  letterScenarios,
  [
    ...noticeScenarios,
    ...servingScenarios,
    ...peopleScenarios,
    ...walletScenarios,
    ...callScenarios,
  ],
  batchScenarios,
];
/** What is played; each process has at least one. */
export const scenarios = acts.flat();

export async function runDemo({ progress, onReport }: DemoOptions): Promise<DemoReport> {
  const began = Date.now();
  const stack = await startStack({
    directory: await mkdtemp(join(tmpdir(), "trustflow-demo-")),
    persistent: false,
    sandboxSpeed: SPEED,
    sandboxPersonTime: "real",
    env: demoEnvironment,
    progress,
    onDeath: () => undefined,
  });
  try {
    const client = await Trustflow.connect({ env: stack.clientEnv });
    try {
      progress(`Web UI: ${stack.temporalUi}`);
      const sandbox = sandboxControl(stack.sandboxUrl);
      const stage = { client, stack, sandbox, progress };
      const rows: DemoRow[] = [];
      // One after another: the first scenario kills a worker, and other processes could then need an operator decision.
      for (const act of acts) {
        rows.push(...(await Promise.all(act.map((scenario) => play(scenario, stage, progress)))));
      }
      const ledger = await sandbox.ledger();
      const report = reportOf(rows, ledger, stack.temporalUi, Date.now() - began);
      await onReport(report);
      return report;
    } finally {
      await client.close();
    }
  } finally {
    await stack.close();
  }
}

async function play(
  scenario: Scenario,
  stage: ScenarioContext,
  progress: Progress,
): Promise<DemoRow> {
  const began = Date.now();
  const { process: processName, name, title, expected } = scenario;
  const { handle, meanwhile } = await scenario.play(stage, intentOf(name));
  const outcome = await Promise.all([
    handle.result().then((result) => result.outcome),
    meanwhile,
    tell(handle, progress),
  ]).then(
    ([ended]) => ended as string,
    (error: unknown) => `failed: ${error instanceof Error ? error.message : "unknown"}`,
  );
  progress(`${name.padEnd(22)} ended as ${outcome}`);
  return {
    process: processName,
    id: name,
    scenario: title,
    expected,
    outcome,
    effects: 0,
    durationMs: Date.now() - began,
    url: stage.stack.linkOf(handle.workflowId),
  };
}

/** A line for each move; a worker that is away for a moment only delays it. */
async function tell(handle: AnyHandle, progress: Progress): Promise<void> {
  let said = "";
  const batch = new BatchProgressLine();
  for (let open = true; open; open = await handle.isOpen().catch(() => true)) {
    const status = await handle.status().catch(() => undefined);
    const far = status && batch.lineOf(status);
    const line = [status?.phase, status?.state, status?.attention?.kind, far]
      .filter(Boolean)
      .join(" · ");
    if (line !== "" && line !== said) progress(`${handle.id.padEnd(22)} ${line}`);
    said = line;
    await delay(500);
  }
}

function reportOf(
  played: DemoRow[],
  ledger: LedgerReport,
  temporalUi: string,
  durationMs: number,
): DemoReport {
  const rows = played.map((row) => {
    const { effect } = scenarios.find(({ name }) => name === row.id) ?? {};
    const effects = ledger.effects.filter(
      ({ operation, intent }) => operation === effect && isIntentOf(row.id, intent),
    );
    return { ...row, effects: effects.length };
  });
  const asExpected = rows.every(
    ({ outcome, expected, effects }) => outcome === expected && effects === 1,
  );
  const clean = ledger.duplicates.length === 0 && ledger.violations.length === 0;
  return {
    ok: asExpected && clean,
    durationMs,
    temporalUi,
    scenarios: rows,
    ledger: {
      effects: ledger.effects.length,
      duplicates: ledger.duplicates.length,
      violations: ledger.violations.length,
    },
  };
}

const intentOf = (name: string) => `demo-${name}`;

/** A batch is found again by its description, which ends with an id of the process's own in brackets. */
function isIntentOf(name: string, intent: string | null): boolean {
  return intent === intentOf(name) || (intent?.startsWith(`${intentOf(name)} [`) ?? false);
}
