// How many processes are stuck, looked up now and again: a look may have to ask for every open process.
import { setTimeout as delay } from "node:timers/promises";
import { candidatesQuery, listExecutions, filterStuck } from "./stuck.js";
import type { Namespace } from "./task-queue.js";
import { untilAborted } from "../../contracts/shared/until-aborted.js";
import type { Client } from "@temporalio/client";

/** So many processes are described at most, however many are open: Temporal has other work to do. */
const LOOKS_PER_SECOND = 20;

export interface StuckWatch {
  /** By whether the clean-up has repaired them. Undefined before the first look, after a failed one, and while another relay looks. */
  counts(): { no: number; once: number } | undefined;
  close(): Promise<void>;
}

/** `mayLook`: of several relays one is enough. */
export function watchStuck(
  where: Namespace,
  everyMs: number,
  mayLook: () => Promise<boolean>,
): StuckWatch {
  const stop = new AbortController();
  let counts: { no: number; once: number } | undefined;

  async function look(): Promise<void> {
    if (!(await mayLook())) return void (counts = undefined);
    const found = { no: 0, once: 0 };
    for await (const { stuck } of untilAborted(stop.signal, filterStuck(where, open())))
      found[stuck.repairedAt === undefined ? "no" : "once"] += 1;
    counts = found;
  }

  async function* open() {
    for await (const execution of listExecutions(where, await candidatesQuery(where))) {
      yield execution;
      await delay(1_000 / LOOKS_PER_SECOND, undefined, { signal: stop.signal });
    }
  }

  async function watch(): Promise<void> {
    while (!stop.signal.aborted) {
      await look().catch(() => {
        counts = undefined;
      });
      await delay(everyMs, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  }

  const watching = watch();
  return {
    counts: () => counts,
    close: () => {
      stop.abort();
      return watching;
    },
  };
}

const LIMIT_MS = 2_000;

/** Counts in the client's namespace, by an attribute; rejects where Temporal does not answer soon. */
export async function countOpen(
  client: Client,
  attribute: string,
  values: readonly string[],
): Promise<Record<string, number>> {
  const counted = await client.withDeadline(Date.now() + LIMIT_MS, () =>
    Promise.all(
      values.map(async (value) => {
        const query = `${attribute} = "${value}" and ExecutionStatus = "Running"`;
        return [value, (await client.workflow.count(query)).count] as const;
      }),
    ),
  );
  return Object.fromEntries(counted);
}
