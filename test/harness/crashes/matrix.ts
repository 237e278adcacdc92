// What an interruption may lead to: one row for each point, judged by the sandbox's ledger, the process's end, and the
// effect class of the call (docs/reading-the-specification.md §0).
import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { writeTable } from "../../../src/cli/output/output.js";
import type { LedgerReport } from "../../../packages/sandbox/src/engine/ledger.js";
import { effectsOf } from "../../processes/process-under-test.js";
import type { CallUnderTest, ProcessUnderTest } from "../../processes/process-under-test.js";

/** `parked`: the outcome is unknown, and the process says so; only if the class allows nothing better. */
export type Ending = "once" | "parked" | "double" | "lost";

export interface CrashRow {
  process: string;
  effect: string;
  phase: string;
  ending: Ending;
  /** What the ledger has of this effect; of a read, what it has of the process's own effects. */
  effects: number;
  /** What a caller was answered, then how the process ended. */
  outcome: string;
  /** From the interruption to the end. */
  durationMs: number;
}

export type CrashReport = ReturnType<typeof reportOf>;

/** What became of one process. */
export interface Ended {
  ledger: LedgerReport;
  intent: string;
  /** Every answer that callers got, in order. */
  answers: string[];
  /** Its outcome, the kind of its attention, or what went wrong. */
  end: string;
  /** What was asked had been held for so long before the interruption that no answer could reach its caller any more. */
  isHeldTooLong: boolean;
  /** How often a person, not the point, had an answer `unknown` or none: so often may they try again. */
  doubts: number;
}

/** The answer of a process that has ended. */
export const finished = "FinishedError";

export function reportOf(rows: CrashRow[]) {
  const count = (ending: Ending) => rows.filter((row) => row.ending === ending).length;
  return {
    points: rows.length,
    once: count("once"),
    parked: count("parked"),
    double: count("double"),
    lost: count("lost"),
    rows,
  };
}

export function judge(
  underTest: ProcessUnderTest,
  call: CallUnderTest,
  phase: string,
  { ledger, intent, answers, end, isHeldTooLong, doubts }: Ended,
): Pick<CrashRow, "ending" | "effects" | "outcome"> {
  const found = ledger.byIntent[intent] ?? {};
  const good = call.effects ?? underTest.effects;
  const wanted = effectsOf(underTest, call);
  const own = call.effectClass === "read" ? good : { [call.sandbox]: good[call.sandbox] ?? 1 };
  const effects = Object.keys(own).reduce((sum, name) => sum + (found[name] ?? 0), 0);
  const violations = ledger.violations.map(({ kind }) => kind);
  const mayRepeat = new Set(underTest.repeats);
  for (const { sandbox, effectClass } of underTest.calls)
    if (effectClass === "repeatable") mayRepeat.add(sandbox);
  // Another one of a repeatable call is a harmless orphan; persons may ask for another code, and try again after a doubt.
  const most = (name: string) =>
    (wanted[name] ?? 0) + (underTest.triedAgain?.includes(name) ? doubts : 0);
  const isTooMuch = (name: string, n = 0) => !mayRepeat.has(name) && n > most(name);
  const isEnough = (name: string, n = 0) => n >= (wanted[name] ?? 0) && !isTooMuch(name, n);
  const tooMuch = Object.entries(found).flatMap(([name, n]) =>
    isTooMuch(name, n) ? [`${n} × ${name}`] : [],
  );
  // A caller who tries again and learns that the process has ended reads the outcome.
  const last = answers.at(-1);
  const isGood =
    end === call.outcome &&
    (last === call.answer ||
      (last !== undefined && call.pastAnswers?.includes(last)) ||
      (last === finished && call.effectClass !== "once")) &&
    Object.keys(wanted).every((name) => isEnough(name, found[name]));
  // A frozen worker still holds its polls: a task that it receives is too late for a caller, but not for the process.
  const isUnheard = phase.endsWith("splitBrain") && end === call.outcome;
  // The answer is in the journal, and the replacement has to return it.
  const isAnswered = phase.startsWith("beforeTemporal") && !isHeldTooLong && !isUnheard;
  const isParked = end === "unknownOutcome" || last === "unknown";
  const ending: Ending =
    violations.length > 0 || tooMuch.length > 0
      ? "double"
      : isGood
        ? "once"
        : isParked && call.effectClass === "once" && !isAnswered
          ? "parked"
          : "lost";
  return { ending, effects, outcome: [...answers, end, ...violations, ...tooMuch].join(", ") };
}

export function printTable({ rows, ...counts }: CrashReport): void {
  const columns = ["process", "effect", "phase", "ending", "effects", "outcome"] as const;
  const cells = rows.map((row) => [
    ...columns.map((column) => String(row[column])),
    `${(row.durationMs / 1_000).toFixed(1)} s`,
  ]);
  writeTable([...columns, "took"], cells);
  writeTable(Object.keys(counts), [Object.values(counts).map(String)]);
}

/** The file of the run: of all processes, or of one. */
export async function keepReport(report: CrashReport, processName?: string): Promise<void> {
  const file = `.trustflow/crash-points${processName === undefined ? "" : `-${processName}`}.json`;
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(report, null, 2)}\n`);
}
