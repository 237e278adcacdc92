// The shortest plan that still fails: parts of it are left out, halves first, then ever smaller ones (delta debugging).
import type { Plan } from "./plan.js";

/** `fails` runs a plan. Ends after `most` runs, with the shortest plan so far. */
export async function shrink(
  plan: Plan,
  fails: (plan: Plan) => Promise<boolean>,
  most = 200,
): Promise<Plan> {
  let shortest = plan;
  let runs = 0;
  for (let size = Math.ceil(plan.steps.length / 2); size >= 1 && runs < most;) {
    let isShorter = false;
    for (let from = 0; from < shortest.steps.length && runs < most;) {
      const steps = shortest.steps.toSpliced(from, size);
      runs += 1;
      if (steps.length > 0 && (await fails({ ...shortest, steps }))) {
        shortest = { ...shortest, steps };
        isShorter = true;
      } else from += size;
    }
    if (!isShorter || size > shortest.steps.length) size = size === 1 ? 0 : Math.ceil(size / 2);
  }
  return shortest;
}
