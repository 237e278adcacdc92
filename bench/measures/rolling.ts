// A deploy: two of each role, each restarted after the other, while letters run: how much longer the letters wait for it.
import { setTimeout as delay } from "node:timers/promises";
import { hostOf, startSecondRoles } from "../../test/harness/outages/roles.js";
import { startHop } from "../../test/harness/stack/hop.js";
import { alone, atMost } from "../measure.js";
import type { Measure } from "../measure.js";
import type { Bench, Started } from "../sides.js";
import { quantile } from "../spread.js";

/** A letter begins so often. */
const EACH_MS = 400;
const GAP_MS = 1_000;
/** Between two restarts. */
const PAUSE_MS = 2_000;
const USUAL_MS = 30_000;
const GRACE_MS = 30_000;
/** So that some four hundred letters meet a restart: of fewer the 99th percentile is one or two letters. */
const ROUNDS = 6;

export async function measureRolling(bench: Bench): Promise<Measure[]> {
  const { stand, quick, say } = bench;
  const { stack } = stand;
  const others = await startSecondRoles({ stack }, GRACE_MS);
  const hop = await startHop([stack.role("receiver"), others[0]].map(hostOf));
  try {
    say("rolling: letters, without a restart");
    const usual = await confirmations(bench, hop.address, delay(quick ? 5_000 : USUAL_MS));
    say("rolling: each role is restarted");
    const restarts = async () => {
      for (const role of others) {
        await stack.role(role.name).restart();
        await delay(PAUSE_MS);
        await role.restart();
        await delay(PAUSE_MS);
      }
    };
    const restarted: number[] = [];
    for (let round = 0; round < (quick ? 1 : ROUNDS); round += 1)
      restarted.push(...(await confirmations(bench, hop.address, restarts())));
    const parts = (values: number[]) => ({
      "ms p50": quantile(values, 0.5),
      "ms p99": quantile(values, 0.99),
      "ms at most": Math.max(...values),
      letters: values.length,
    });
    const { double } = await stand.provider.report();
    return [
      alone(
        {
          name: "rolling",
          unit: "ms that a letter waits longer for a rolling restart of all roles, p99",
          goal: atMost(1_000, "value"),
          parts: { floor: parts(usual), trustflow: parts(restarted) },
        },
        [quantile(restarted, 0.99) - quantile(usual, 0.5)],
      ),
      alone({ name: "rolling-effects", unit: "second effects", goal: atMost(0, "value") }, [
        double,
      ]),
    ];
  } finally {
    await Promise.all(others.map((role) => role.stop()));
    hop.close();
  }
}

/** From the last callback of each letter to the question that follows it, in ms; letters begin until `work` is done. */
async function confirmations(
  { stand, sides: [, side] }: Bench,
  host: string,
  work: Promise<unknown>,
): Promise<number[]> {
  await stand.provider.plan({ mode: "spaced", firstMs: 0, gapMs: GAP_MS, times: 1, host });
  await stand.provider.mark();
  const started: Promise<Started>[] = [];
  let isOver = false;
  const end = () => (isOver = true);
  work.then(end, end);
  for (; !isOver; await delay(EACH_MS)) started.push(side.start());
  await work;
  await Promise.all(started.map(async (one) => (await one).result()));
  return (await stand.provider.report()).confirmMs;
}
