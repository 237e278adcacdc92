// The shape of a history: events, bytes, billable actions, and what a duplicate callback adds.
import { alone, atMost, compared } from "../measure.js";
import type { Measure } from "../measure.js";
import { shapeOf } from "../shape.js";
import type { Shape } from "../shape.js";
import { runAll } from "../sides.js";
import type { Bench, Side } from "../sides.js";

const plans = {
  burst: { mode: "burst", firstMs: 300, gapMs: 0, times: 1 },
  spaced: { mode: "spaced", firstMs: 300, gapMs: 700, times: 1 },
  doubled: { mode: "spaced", firstMs: 300, gapMs: 700, times: 2 },
} as const;

export async function measureHistory(bench: Bench): Promise<Measure[]> {
  const { stand, sides, quick, say } = bench;
  const number = quick ? 3 : 10;
  const measures: Measure[] = [];
  const shapesOf = async (side: Side, mode: keyof typeof plans): Promise<Shape[]> => {
    await stand.provider.plan(plans[mode]);
    const started = await runAll(side, number);
    return Promise.all(started.map(({ workflowId }) => shapeOf(stand.plain, workflowId)));
  };
  for (const mode of ["burst", "spaced"] as const) {
    say(`history, ${mode}`);
    const floor = await shapesOf(sides[0], mode);
    const own = await shapesOf(sides[1], mode);
    const of = (value: (shape: Shape) => number) =>
      own.map((shape, index) => ({
        floor: value(floor[index] as Shape),
        trustflow: value(shape),
      }));
    // Each delivered group is one signal.
    const groups = Math.max(...own.map(({ signals }) => signals));
    const events = { name: `events-${mode}`, unit: "history events" };
    const actions = { name: `actions-${mode}`, unit: "billable actions" };
    measures.push(
      compared(
        { ...events, goal: atMost(17 + 5 * groups + 3, "value") },
        of((shape) => shape.events),
      ),
      compared(
        { ...actions, goal: atMost(8 + groups, "value") },
        of((shape) => shape.actions),
      ),
      compared(
        { name: `bytes-${mode}`, unit: "history bytes" },
        of(({ bytes }) => bytes),
      ),
    );
    if (mode === "burst") continue;
    say("history, each callback twice");
    const doubled = await shapesOf(sides[1], "doubled");
    const steps = ({ signals, activities }: Shape) => signals + activities;
    const usual = Math.max(...own.map(steps));
    measures.push(
      alone(
        {
          name: "duplicates",
          unit: "more signals and activities for doubled callbacks",
          goal: atMost(0, "value"),
        },
        [Math.max(...doubled.map(steps)) - usual],
      ),
    );
  }
  return measures;
}
