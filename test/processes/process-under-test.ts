// A process as the simulation and the harnesses take it: how it is started with an intent that the
// sandbox's ledger counts by, the calls it makes, and how it ends well. A new process adds a descriptor, never a harness.
import type { ProcessHandle, Trustflow } from "../../src/client.js";
import type { ProcessName } from "../../src/contracts/registry.js";
import { effectClassOf } from "../../src/providers/registry.js";
import type { EffectClass } from "../../src/providers/effect-classes.js";
import type { Operation, Provider } from "../../src/providers/registry.js";

type AnyResult = { outcome: string };

/** What makes a process take another way than the plain one. */
export interface Variant {
  /** Words of docs/sandbox/scenarios.md; default: the descriptor's `words`. */
  words?: string;
  /** Another form of the input, where the process has several. */
  form?: string;
  /** More of the process's own input. */
  input?: object;
}

/** A way on which the process stays open for weeks, with nothing of it made wrong. */
export interface LongWay {
  variant: Variant;
  outcome: string;
  /** As in `CallUnderTest`. */
  effects?: Record<string, number>;
}

/** Where the persons of a process look: the sandbox's control address. */
export interface Scene {
  sandboxUrl: string;
  intent: string;
}

/** One operation of the provider, as the process calls it. */
export interface CallUnderTest<Handle = ProcessHandle<AnyResult>> {
  /** The name in providers/effect-classes.ts. */
  operation: string;
  effectClass: EffectClass;
  /** The name in the sandbox's faults and in its ledger. */
  sandbox: string;
  /** The activity that makes the call. */
  activity: string;
  /** The step of its row in the journal, for a call with an effect; several where they go side by side. Default: `activity`. */
  step?: string | string[];
  /** Brings the call about; without it, the process makes it by itself. */
  ask?(handle: Handle, updateId: string, scene: Scene): Promise<{ answer: string }>;
  /** A way on which the call is made. */
  variant: Variant;
  /** How the process ends once the call was made. */
  outcome: string;
  /** What the ledger has then; default: the descriptor's `effects`. */
  effects?: Record<string, number>;
}

/** Each operation of a provider, as a descriptor tells it, but those that the process does not use. */
export type CallsOf<P extends Provider, Handle, Unused extends Operation<P> = never> = Record<
  Exclude<Operation<P>, Unused>,
  Omit<CallUnderTest<Handle>, "operation" | "effectClass" | "sandbox">
>;

export interface ProcessUnderTest<
  Handle extends ProcessHandle<AnyResult> = ProcessHandle<AnyResult>,
> {
  process: ProcessName;
  provider: Provider;
  /** The sandbox's words for the plain, good way. */
  words: string;
  /** How that ends. */
  outcome: string;
  /** What the ledger has for its intent then, by the sandbox's operation. */
  effects: Record<string, number>;
  /** Every operation of the provider that the process uses. */
  calls: CallUnderTest<Handle>[];
  /** As the simulation takes it, with settings of its own over the defaults of production. */
  longWays?: LongWay[];
  /** The same id and variant twice is the same process. The id is the intent too. */
  start(trustflow: Trustflow, id: string, variant?: Variant): Promise<Handle>;
  /** What persons may ask for again, by the sandbox's operation: more than one of it is no duplicate. */
  repeats?: string[];
  /** What persons may do again after an answer `unknown`, or where none came. */
  triedAgain?: string[];
  /** One turn of the persons whom the process waits for; made again and again until it has ended. Resolves with what they were answered. */
  play?(handle: Handle, scene: Scene): Promise<{ answer: string } | void>;
}

/** Complete by its type: an operation without an entry does not compile. `sandboxNames`: where they differ. */
export function callsOf<P extends Provider, Handle, Unused extends Operation<P> = never>(
  provider: P,
  told: CallsOf<P, Handle, Unused>,
  sandboxNames: Partial<Record<Operation<P>, string>> = {},
): CallUnderTest<Handle>[] {
  return (Object.keys(told) as Exclude<Operation<P>, Unused>[]).map((operation) => ({
    ...told[operation],
    operation,
    effectClass: effectClassOf(provider, operation),
    sandbox: `${provider}.${sandboxNames[operation] ?? operation}`,
  }));
}
