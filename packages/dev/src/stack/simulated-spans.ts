// A process's own timers run in real time: the week for late affidavits would keep each simulated letter open.
import { environmentName } from "trustflow/internal/config/errors.js";
import { contractOf, processes } from "trustflow/internal/contracts/registry.js";
import type { OwnConfiguration } from "./own-configuration.js";

const SPAN = "affidavitWindowSeconds";

/** A killed worker is noticed, and a failed call made again, within seconds. */
export const hurried = {
  TRUSTFLOW_ATTENTION__RETRY_SECONDS: "2",
  TRUSTFLOW_ATTENTION__PROBE_SECONDS: "1",
  TRUSTFLOW_JOURNAL__LEASE_SECONDS: "8",
  TRUSTFLOW_JOURNAL__LOOK_UP_SPACING_SECONDS: "1",
};

/** None with accounts of your own, and none that trustflow.toml sets. */
export function simulatedSpans(seconds: number, own?: OwnConfiguration): Record<string, string> {
  if (Object.keys(own?.accounts ?? {}).length > 0) return {};
  const keys = processes
    .filter((name) => SPAN in (contractOf(name).defaults ?? {}))
    .map((name) => `${name}.${SPAN}`)
    .filter((key) => !own?.keys.includes(key));
  return Object.fromEntries(keys.map((key) => [environmentName(key), String(seconds)]));
}
