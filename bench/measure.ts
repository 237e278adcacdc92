// One line of the report: what was measured on both sides, its goal (docs/design.md §12), and whether it is met.
import { ratioSpread, spreadOf } from "./spread.js";
import type { Spread } from "./spread.js";

export interface Goal {
  of: "ratio" | "value";
  is: "atMost" | "atLeast";
  limit: number;
}

export interface Measure {
  name: string;
  unit: string;
  /** Medians over the rounds. */
  floor?: number;
  trustflow: number;
  ratio?: number;
  /** Of the ratio where there is one, else of Trustflow's value. */
  spread: Spread;
  goal?: Goal;
  met?: boolean;
  /** Where the value comes from, on each side. */
  parts?: { floor?: Record<string, number>; trustflow: Record<string, number> };
}

export type Round = { floor: number; trustflow: number };

export interface About {
  name: string;
  unit: string;
  goal?: Goal | undefined;
  parts?: Measure["parts"] | undefined;
}

export function compared({ goal, parts, ...about }: About, rounds: readonly Round[]): Measure {
  const spread = ratioSpread(rounds);
  const measure: Measure = {
    ...about,
    floor: spreadOf(rounds.map(({ floor }) => floor)).median,
    trustflow: spreadOf(rounds.map(({ trustflow }) => trustflow)).median,
    ratio: spread.median,
    spread,
  };
  return judged({ ...measure, ...(parts && { parts }) }, goal);
}

export function alone({ goal, parts, ...about }: About, values: readonly number[]): Measure {
  const spread = spreadOf(values);
  return judged({ ...about, trustflow: spread.median, spread, ...(parts && { parts }) }, goal);
}

function judged(measure: Measure, goal: Goal | undefined): Measure {
  if (goal === undefined) return measure;
  const value = goal.of === "ratio" ? (measure.ratio ?? Number.NaN) : measure.trustflow;
  const met = goal.is === "atMost" ? value <= goal.limit : value >= goal.limit;
  return { ...measure, goal, met };
}

export const atMost = (limit: number, of: Goal["of"]): Goal => ({ of, is: "atMost", limit });
export const atLeast = (limit: number, of: Goal["of"]): Goal => ({ of, is: "atLeast", limit });

/** One Markdown table of all. */
export function table(measures: readonly Measure[]): string {
  const rows = measures.map((measure) => {
    const { name, unit, floor, trustflow, ratio, spread, goal, met } = measure;
    const range = spread.rounds === 1 ? "" : ` (${short(spread.min)}–${short(spread.max)})`;
    return [
      name,
      unit,
      floor === undefined ? "" : short(floor),
      ratio === undefined ? short(trustflow) + range : short(trustflow),
      ratio === undefined ? "" : short(ratio) + range,
      goal === undefined ? "" : goalText(goal),
      met === undefined ? "" : met ? "yes" : "**no**",
    ];
  });
  const head = ["measure", "unit", "floor", "Trustflow", "ratio", "goal", "met"];
  return [head, head.map(() => "---"), ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}

/** Where the compared values come from. */
export function partsText(measures: readonly Measure[]): string {
  const line = (side: string, parts: Record<string, number> | undefined) =>
    parts &&
    `${side}: ${Object.entries(parts)
      .map(([part, value]) => `${part} ${short(value)}`)
      .join(", ")}`;
  return measures
    .filter(({ parts }) => parts)
    .map(({ name, parts }) => {
      const sides = [line("floor", parts?.floor), line("Trustflow", parts?.trustflow)];
      return `- ${name}: ${sides.filter(Boolean).join("; ")}`;
    })
    .join("\n");
}

function goalText({ of, is, limit }: Goal): string {
  return `${of === "ratio" ? "ratio " : ""}${is === "atMost" ? "≤" : "≥"} ${short(limit)}`;
}

function short(value: number): string {
  if (Number.isInteger(value)) return String(value);
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toFixed(digits);
}
