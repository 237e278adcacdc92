// Each attempt of an activity has a context: the account, the worker's dependencies, secrets, and calls without an effect. A call with an
// effect uses effect.ts.
import { cancellationSignal } from "@temporalio/activity";
import type { z } from "zod";
import { MAX_CODE_LENGTH } from "../../contracts/shared/one-time-password.js";
import { checkInput } from "../../contracts/shared/problems.js";
import type { ProcessName } from "../../contracts/registry.js";
import { withSecrets } from "../../contracts/definition/secret-fields.js";
import type { DocumentStore } from "../../documents/store.js";
import { isUndecryptable } from "../../journal/errors.js";
import type { ProblemKind } from "../../contracts/shared/problem-kind.js";
import type { EffectSummary } from "../../journal/retention.js";
import { ProviderError } from "../../providers/errors/provider-error.js";
import type { LookUpProofs } from "../../journal/look-up-proofs.js";
import type { Journal, StepHistory } from "../../journal/journal.js";
import type { ConfigWithAccounts } from "../../providers/accounts.js";
import type { AccountOf, Operation, Provider } from "../../providers/registry.js";
import { measured } from "./call-metrics.js";
import type { CircuitKey, Circuits } from "./circuit-breaker.js";
import { timeLimit } from "./time-limit.js";
import { execution, InvalidInput } from "./failure.js";
import type { AttemptMode } from "./failure.js";

/** Opens secrets that a client sealed for the workers, in one process (docs/design.md §8). A secret in clear text opens as it is. */
export interface Secrets {
  open(text: string, processKey: { namespace: string; workflowId: string }): string;
  /** For a secret that a later activity needs. */
  seal(text: string, processKey: { namespace: string; workflowId: string }): string;
}

/** Keyed digests of what a caller sent (docs/design.md §2). */
export interface Digests {
  of(value: unknown): string;
  same(value: unknown, stored: string): boolean;
}

/** The composition root gives it to the activities of every provider. */
export interface ActivityDependencies {
  /** Of an account, by its name. */
  environmentOf(account: string): string;
  journal: Journal;
  lookUpProofs: LookUpProofs;
  digests: Digests;
  secrets: Secrets;
  documents: DocumentStore;
  circuits: Circuits;
  /**
   * The process's own callback address and the value that its callbacks echo (docs/design.md §7). `rows`: how many callbacks it may
   * bring, where these are more than a process's usual ones.
   */
  callback(subject: { provider: string; namespace: string; workflowId: string; rows?: number }): {
    url: string;
    correlation: string;
  };
  patienceMs: number;
  /** How long a new id may stay invisible before that is a `protocol` problem. */
  invisibleForMs: number;
  /** How long a provider may be unavailable before a step or a poll raises attention. */
  unavailableForMs: number;
}

export interface ProviderDependencies<P extends Provider> extends ActivityDependencies {
  accounts: Record<string, AccountOf<P>>;
  /** For settings that a caller leaves open. */
  defaults: Pick<ConfigWithAccounts, ProcessName & keyof ConfigWithAccounts>;
}

/** The environment and the account, as the plan of each process names them. */
export interface Place {
  environment: string;
  account: string;
}

/** Which account an attempt uses, and in which phase of its step it is. */
export interface AttemptOf {
  account: string;
  mode: AttemptMode;
}

/** The account's configuration does not allow the input. Before any effect the input is wrong; later it is the worker (activity.ts). */
export class NotAllowed extends InvalidInput {}

/** The worker's configuration lacks the account. */
export class AccountMissing extends NotAllowed {
  constructor(provider: Provider, account: string) {
    const problem = `no account "${account}" is configured for ${provider}`;
    super([{ path: "account", problem }]);
  }
}

/** `More`: dependencies of this provider's activities alone. */
export class ProviderContext<P extends Provider, More = unknown> {
  readonly provider: P;
  readonly deps: ProviderDependencies<P> & More;
  readonly account: AccountOf<P>;
  readonly mode: AttemptMode;
  /** The process that the attempt belongs to. */
  readonly process = execution();
  /** Ends the calls of the attempt. */
  #signal = cancellationSignal();

  /** Throws `AccountMissing`. */
  constructor(provider: P, deps: ProviderDependencies<P> & More, { account, mode }: AttemptOf) {
    this.provider = provider;
    this.deps = deps;
    this.mode = mode;
    const found = Object.hasOwn(deps.accounts, account) ? deps.accounts[account] : undefined;
    if (!found) throw new AccountMissing(provider, account);
    this.account = found;
  }

  /** Parses an input with its contract and opens its secrets. Throws `InvalidInput` with each field that breaks the contract. */
  parse<S extends z.ZodType>(contract: S, input: unknown): z.infer<S> {
    const opened = withSecrets(contract, input, (secret) => this.openSecret(secret));
    const { data, fields } = checkInput(contract, opened);
    if (fields.length > 0) throw new InvalidInput(fields);
    return data as z.infer<S>;
  }

  /**
   * The rules of the account, before any effect of these processes alone: one that may exist is followed, whatever the configuration says by
   * now.
   */
  async checkRules(check: () => void, processes = [this.process]): Promise<void> {
    try {
      check();
    } catch (error) {
      if (!(error instanceof InvalidInput)) throw error;
      for (const one of processes)
        if (await this.deps.journal.mayHaveEffect(one, this.account.name)) return;
      throw error;
    }
  }

  openSecret(text: string): string {
    try {
      return this.deps.secrets.open(text, this.process);
    } catch (error) {
      if (!isUndecryptable(error) || error.name !== "DecryptionError") throw error;
      const problem = "contains a secret that was sealed for another process or with another key";
      throw new InvalidInput([{ path: "(input)", problem }]);
    }
  }

  /** Opens the code that an update brought. Its length is checked here, because the workflow sees a sealed code only. */
  openCode(text: string): string {
    const code = this.openSecret(text);
    if (code.length <= MAX_CODE_LENGTH) return code;
    throw new InvalidInput([
      { path: "code", problem: "must be the code that the holder received" },
    ]);
  }

  sealSecret(text: string): string {
    return this.deps.secrets.seal(text, this.process);
  }

  /** A call without an effect. `about`: the part of the operation that a denial would be about, where that is not all of it. */
  throughCircuit<T>(
    operation: Operation<P>,
    call: (signal: AbortSignal) => Promise<T>,
    about?: string,
  ): Promise<T> {
    const circuit = this.circuitKey(operation, about);
    const measuredCall = measured(this.provider, operation, call);
    return this.deps.circuits.run(circuit, measuredCall, this.#signal);
  }

  /** Breaks off the calls of `work` after so long. */
  async within<T>(limitMs: number, work: () => Promise<T>): Promise<T> {
    const before = this.#signal;
    const { signal, clear } = timeLimit(limitMs, before);
    this.#signal = signal;
    try {
      return await work();
    } finally {
      clear();
      this.#signal = before;
    }
  }

  /** The same for a function of the provider's client, which takes the account first and the signal last. */
  ask<Given extends unknown[], R>(
    operation: Operation<P>,
    call: (account: AccountOf<P>, ...given: [...Given, AbortSignal]) => Promise<R>,
    ...given: Given
  ): Promise<R> {
    return this.throughCircuit(operation, (signal) => call(this.account, ...given, signal));
  }

  circuitKey(operation: Operation<P>, about?: string): CircuitKey {
    return {
      account: this.circuitOf(operation),
      operation: about === undefined ? operation : `${operation}/${about}`,
      intent: this.process.workflowId,
      // An operator's retry does not wait for the circuit.
      urgent: this.mode === "probe",
      signal: this.#signal,
    };
  }

  /** A denial or an outage is about the whole account, unless a provider has several hosts. */
  protected circuitOf(_operation: Operation<P>): string {
    return `${this.provider}/${this.account.name}`;
  }

  get place(): Place {
    return { environment: this.deps.environmentOf(this.account.name), account: this.account.name };
  }

  /** The database's clock. */
  async stamp(): Promise<string> {
    return (await this.deps.journal.now()).toISOString();
  }

  /** An answer that the call must not have. `protocol`: waiting changes nothing, so a person decides. */
  problem(operation: Operation<P>, problem: string, kind: ProblemKind = "protocol"): ProviderError {
    return new ProviderError({ kind, provider: this.provider, operation, effect: "none", problem });
  }

  /** The journal's rows of these steps, also those of earlier runs. */
  async rowsOf(...steps: string[]): Promise<EffectSummary[]> {
    const rows = await this.deps.journal.rows(this.process);
    return rows.filter(({ step }) => steps.includes(step));
  }

  /** Shows what earlier runs of the process have done in a step (after a reset, or a new start under the same id). */
  readStepHistory(step: string): Promise<StepHistory> {
    return this.deps.journal.past({ ...this.process, step });
  }
}

/** The caller's settings over the configured ones. */
export function resolved<S extends object>(
  configured: S,
  given: { [key in keyof S]?: S[key] | undefined } = {},
): S {
  const entries = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...configured, ...Object.fromEntries(entries) };
}
