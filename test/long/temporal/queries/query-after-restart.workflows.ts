// The smallest workflow that shows what the SDK does with a query that waited for a worker while a timer fired.
import { defineQuery, proxyActivities, setHandler, sleep } from "@temporalio/workflow";

export const turns = defineQuery<number>("turns");
const { act } = proxyActivities<{ act(): Promise<void> }>({ startToCloseTimeout: "10 seconds" });

/** Decides by a clock that it reads after a wait: what Trustflow's workflows must not do. */
export async function decidesByTheClock(): Promise<void> {
  let count = 0;
  setHandler(turns, () => count);
  setHandler(defineQuery("status"), () => ({}));
  const end = Date.now() + 2_000;
  while (Date.now() < end) {
    await sleep(end - Date.now());
    count += 1;
  }
  await act();
}
