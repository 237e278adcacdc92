// SIGKILL of the worker while hundreds wait, callbacks arriving meanwhile: how soon the replacement gets on with them, and
// that nothing is sent twice.
import { alone, atMost } from "../measure.js";
import type { Measure } from "../measure.js";
import type { Bench } from "../sides.js";
import { hold } from "./waiting.js";

export async function measureResume(bench: Bench): Promise<Measure[]> {
  const { stand, sides, quick, say } = bench;
  const number = quick ? 100 : 500;
  const first: number[] = [];
  const all: number[] = [];
  const worker = stand.stack.role("worker");
  for (let round = 0; round < (quick ? 1 : 3); round += 1) {
    say(`resume: round ${round + 1}`);
    const waiting = await hold(bench, sides[1], number);
    await worker.kill("SIGKILL");
    await stand.provider.release({ mode: "burst" });
    await worker.restart();
    await stand.provider.mark();
    const startedAt = performance.now();
    await waiting.results();
    all.push((performance.now() - startedAt) / 1_000);
    const { firstQueryMs } = await stand.provider.report();
    first.push(firstQueryMs ?? Number.NaN);
  }
  const { double } = await stand.provider.report();
  return [
    alone(
      {
        name: "resume",
        unit: `ms to the first progress of ${number} after SIGKILL`,
        goal: atMost(2_000, "value"),
      },
      first,
    ),
    alone({ name: "resume-all", unit: `s until all ${number} have ended` }, all),
    alone({ name: "resume-effects", unit: "second effects", goal: atMost(0, "value") }, [double]),
  ];
}
