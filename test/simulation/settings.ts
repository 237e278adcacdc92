// What a deployment may set otherwise than by default, chosen by the seed.
import { documentKinds } from "../../src/journal/ownership.js";
import type { Random } from "./random.js";

/** As short as the order of the periods allows, so that clean-ups delete while processes are open; undefined: the defaults. */
function shortRetention(historyDays: number): Record<string, string> {
  const days = {
    INBOX_DAYS: 1,
    PARKED_DAYS: 1,
    JOURNAL_DAYS: historyDays,
    DOCUMENT_ORPHAN_DAYS: 1,
    QUARANTINE_DAYS: 1,
    ...Object.fromEntries(
      documentKinds.map((kind) => [`DOCUMENTS__${kind.toUpperCase()}_DAYS`, 1]),
    ),
  };
  return Object.fromEntries(
    Object.entries(days).map(([name, value]) => [`TRUSTFLOW_RETENTION__${name}`, String(value)]),
  );
}

/** Where persons take days, an attempt each three minutes until then would take all the time of a simulation. */
const seldom = { TRUSTFLOW_ATTENTION__RETRY_SECONDS: "10800" };

/** Variables of the environment. `isSlow`: for slow lives. */
export function settingsOf(
  random: Random,
  { historyDays, isSlow }: { historyDays: number; isSlow: boolean },
): Record<string, string> {
  return {
    ...(isSlow && seldom),
    ...(random.chance(0.5) && shortRetention(historyDays)),
    // Each task of another process then takes a place in the worker's cache from one.
    ...(random.chance(0.3) && { TRUSTFLOW_WORKER__CACHED_PROCESSES: String(random.int(1, 4)) }),
  };
}
