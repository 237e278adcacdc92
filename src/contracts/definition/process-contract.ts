// The registry has such an entry for each process.
import type { z } from "zod";
import type { UpdateContract } from "./message-contract.js";
import type { Phase, ProcessResult, ProcessStatus } from "../shared/status.js";

/** A whole number of the configuration, with the least and the greatest one that may be configured. */
export interface WholeDefault {
  value: number;
  least?: number;
  most?: number;
}
export type Default = WholeDefault | boolean;

/** The command that starts a process; its name is that of the process in kebab case. */
export interface StartCommand {
  summary: string;
  /** One or two sentences about the input, beside its contract. */
  details: string;
  example: string;
  /** Says what a dry run cannot check, because only the provider knows it. */
  notChecked: string;
}

export interface ProcessContract {
  /** Temporal's Web UI shows it before the id. */
  title: string;
  /** The provider whose account the process uses; the key of the account in the configuration. */
  provider: string;
  input: z.ZodType<{ account?: string | undefined }>;
  result: z.ZodType<ProcessResult>;
  status: z.ZodType<ProcessStatus>;
  /** The ways through the phases of the status. A process may skip phases, and may end early. */
  phases: readonly (readonly Phase[])[];
  /** The provider's states of what the process follows, if the specification names them. */
  states?: readonly string[];
  /** They fill the `settings` of an input; each one is a configuration key. */
  defaults?: Readonly<Record<string, Default>>;
  /** The updates that the process accepts besides `resolve`; each one is a method of its handle. */
  updates: Readonly<Record<string, UpdateContract>>;
  /** The processes that it starts itself, each with the end of its id. */
  children?: readonly { process: string; suffix: string }[];
  /** Present for a process of many items, whose callbacks are kept in a table and never sent to it: the words of an item's callbacks. */
  items?: {
    states: readonly string[];
    endStates: ReadonlySet<string>;
    outcomes: readonly string[];
  };
  /** These IDs of the decision `happened` are secret. */
  secretIds?: readonly string[];
  command: StartCommand;
}

/** Keeps the exact types of the entry: the methods of the client are checked against them. */
export function defineProcess<const Contract extends ProcessContract>(
  contract: Contract,
): Contract {
  return contract;
}

/** The caller's settings go over the configured ones. */
export type Resolved<S extends z.ZodType> = {
  [name in keyof z.infer<S>]-?: NonNullable<z.infer<S>[name]>;
};

export type DefaultsFor<Settings> = { readonly [setting in keyof Settings]-?: Default };

export const DAY_SECONDS = 86_400;
