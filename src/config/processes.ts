// Configured defaults of a process fill what a caller's `settings` leave open. The registry has the defaults of each process.
import { z } from "zod";
import type { Default, WholeDefault } from "../contracts/definition/process-contract.js";
import { contractOf, processes } from "../contracts/registry.js";
import type { ProcessName, Registry } from "../contracts/registry.js";
import { flag, whole } from "./fields.js";

const configuredWhole = ({ value, least, most }: WholeDefault) => whole(least, most).default(value);
const configuredFlag = (value: boolean) => flag().default(value);
const configured = (value: Default) =>
  typeof value === "boolean" ? configuredFlag(value) : configuredWhole(value);

type Configured<D> = D extends boolean
  ? ReturnType<typeof configuredFlag>
  : ReturnType<typeof configuredWhole>;
type WithDefaults = {
  [P in ProcessName]: Registry[P] extends { defaults: object } ? P : never;
}[ProcessName];
type ConfiguredDefaults<D> = z.ZodPrefault<
  z.ZodObject<{ -readonly [name in keyof D]: Configured<D[name]> }, z.core.$strict>
>;

/** One table of the configuration for each process that has defaults. */
export const processDefaults = Object.fromEntries(
  processes.flatMap((processName) => {
    const { defaults } = contractOf(processName);
    if (!defaults) return [];
    const fields = Object.entries(defaults).map(([name, value]) => [name, configured(value)]);
    return [[processName, z.strictObject(Object.fromEntries(fields)).prefault({})]];
  }),
) as { [P in WithDefaults]: ConfiguredDefaults<Registry[P]["defaults"]> };
