// The promise of docs/design.md §6 at every point where a worker can die: one intent, one effect, and no process is forgotten.
import { expect, test } from "@jest/globals";
import { enumerateCrashPoints } from "./enumeration.js";
import { keepReport, type CrashRow } from "./matrix.js";
import { blindPhase } from "./points.js";
import type { ProcessUnderTest } from "../../processes/process-under-test.js";
import { sized } from "../stack/size.js";

export function testEveryCrashPoint(underTest: ProcessUnderTest): void {
  test(
    `${underTest.process}: wherever a worker dies, freezes or restarts, an intent has one effect (docs/reading-the-specification.md §0–1, P2 §4.1)`,
    async () => {
      const report = await enumerateCrashPoints(underTest, sized(0, 1) === 1);
      await keepReport(report, underTest.process);
      const { rows } = report;
      expect(rows.filter(({ ending }) => ending === "double" || ending === "lost")).toEqual([]);
      const classes = new Map(
        underTest.calls.map(({ operation, effectClass }) => [operation, effectClass]),
      );
      const parked = rows.filter(({ ending }) => ending === "parked");
      const mayPark = ({ effect, phase }: CrashRow) =>
        classes.get(effect) === "once" || phase.includes(blindPhase);
      expect(parked.filter((row) => !mayPark(row))).toEqual([]);
      const blind = rows.filter(({ phase }) => phase.includes(blindPhase));
      const assumed = underTest.calls.filter(({ isLookUpAssumed }) => isLookUpAssumed);
      expect(blind).toHaveLength(assumed.length * 5);
      // Only what was answered, or never sent, may end without a person.
      const due = (phase: string) => (phase.startsWith("beforeTemporal") ? "once" : "parked");
      expect(blind.filter(({ phase, ending }) => ending !== due(phase))).toEqual([]);
      // Where persons go on, they make up for it; of two owners, the first sends when it is let go.
      const madeUpFor = underTest.calls.flatMap((call) => (call.thenPlay ? [call.operation] : []));
      const unsent = parked.filter(
        ({ effect, phase }) =>
          phase.startsWith("beforeSending") &&
          !phase.endsWith("splitBrain") &&
          !madeUpFor.includes(effect),
      );
      expect(unsent.map(({ effects }) => effects)).toEqual(unsent.map(() => 0));
      for (const [operation, effectClass] of classes) {
        const phases = rows.flatMap(({ effect, phase }) => (effect === operation ? [phase] : []));
        const isWhole = rows.some(({ phase }) => phase.endsWith("splitBrain"));
        const least = (effectClass === "read" ? 1 : 5) * (isWhole ? 4 : 1);
        expect(new Set(phases).size).toBeGreaterThanOrEqual(least);
      }
    },
    sized(3_600_000, 900_000),
  );
}
