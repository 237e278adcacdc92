// The promise of DESIGN §6 at every point where a worker can die: one intent, one effect, and nobody is forgotten.
import { afterAll, expect, test } from "@jest/globals";
import { enumerateCrashPoints } from "../../support/crash-enumeration.js";
import { keepReport, reportOf } from "../../support/crash-matrix.js";
import type { CrashRow } from "../../support/crash-matrix.js";
import { processesUnderTest } from "../../support/processes-under-test.js";

const all: CrashRow[] = [];

afterAll(() => keepReport(reportOf(all)));

test.each(processesUnderTest.map((process) => [process.process, process] as const))(
  "%s: wherever a worker dies, stands still or starts over, an intent has one effect (READING §0–1, P2 §4.1)",
  async (_, process) => {
    const { rows } = await enumerateCrashPoints(process);
    all.push(...rows);
    expect(rows.filter(({ ending }) => ending === "double" || ending === "lost")).toEqual([]);
    const classes = new Map(
      process.calls.map(({ operation, effectClass }) => [operation, effectClass]),
    );
    const parked = rows.filter(({ ending }) => ending === "parked");
    expect(parked.filter(({ effect }) => classes.get(effect) !== "once")).toEqual([]);
    const unsent = parked.filter(({ phase }) => phase.startsWith("beforeSending"));
    expect(unsent.map(({ effects }) => effects)).toEqual(unsent.map(() => 0));
    for (const [operation, effectClass] of classes) {
      const phases = rows.flatMap(({ effect, phase }) => (effect === operation ? [phase] : []));
      expect(phases.length).toBeGreaterThanOrEqual(effectClass === "read" ? 4 : 20);
      expect(new Set(phases).size).toBeGreaterThanOrEqual(effectClass === "read" ? 4 : 20);
    }
  },
  400_000,
);
