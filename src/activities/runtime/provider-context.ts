// What the activities of every provider share: its accounts, the way to it through the account's circuit, and the way of an
// effect through the journal.
import type { z } from "zod";
import { longestCode } from "../../contracts/shared/one-time-password.js";
import { withSecrets } from "../../contracts/shared/secret-fields.js";
import type { DocumentStore } from "../../documents/store.js";
import { isLocked } from "../../journal/errors.js";
import type { LookUpProofs } from "../../journal/look-up-proofs.js";
import type { Journal, Past } from "../../journal/journal.js";
import type { Operation, Provider } from "../../providers/effect-classes.js";
import { countCall } from "./call-metrics.js";
import { CircuitOpenError } from "./circuit-breaker.js";
import type { Circuits, CircuitKey } from "./circuit-breaker.js";
import { execution, performEffect } from "./effect.js";
import type { Calls, Digests, EffectOf, EffectReference } from "./effect.js";
import { asActivity, InvalidInput } from "./failure.js";
import type { AttemptMode } from "./failure.js";
import { parseInput } from "./input.js";
import { LookUpProof } from "./look-up-proof.js";
import type { AssumedLookUp } from "./look-up-proof.js";

/** Secrets that a client has sealed for the workers, in one process (decision 23); what came in clear opens as it is. */
export interface Secrets {
  open(text: string, process: { namespace: string; workflowId: string }): string;
  /** For what an activity hands to later ones. */
  seal(text: string, process: { namespace: string; workflowId: string }): string;
}

/** What the composition root gives to the activities of every provider. */
export interface ActivityDependencies {
  environment: string;
  journal: Journal;
  lookUpProofs: LookUpProofs;
  digests: Digests;
  secrets: Secrets;
  documents: DocumentStore;
  circuits: Circuits;
  /** The process's own callback address and the value that its callbacks echo (docs/design.md §7). */
  callback(process: { provider: string; namespace: string; workflowId: string }): {
    url: string;
    correlation: string;
  };
  patienceMs: number;
  /** How long an id that was just given may stay invisible before that is a `protocol` problem. */
  invisibleForMs: number;
  /** How long a provider may be away before a step or a question raises attention. */
  unavailableForMs: number;
}

export interface OfficeDependencies<A> extends ActivityDependencies {
  accounts: Record<string, A>;
}

/**
 * An account as one attempt uses it: a person's retry does not wait for the circuit. `about`: what of the operation a denial
 * would be about, where it is not all of it.
 */
export type Attempting<A> = A & { urgent: boolean; about?: string };

/** The look-up of the calls rests on an assumption. */
interface Assumed<S> {
  assumed?: AssumedLookUp<S>;
}

/** How a call that has an effect comes to an activity. */
export interface Attempt {
  effect: EffectReference;
  mode: AttemptMode;
}

export class Office<
  P extends Provider,
  A extends { name: string; lookUpConfiguration?: string },
  D extends OfficeDependencies<A> = OfficeDependencies<A>,
> {
  readonly provider: P;
  readonly has: D;

  constructor(provider: P, dependencies: D) {
    this.provider = provider;
    this.has = dependencies;
  }

  /** Runs an activity's body; what it throws becomes the failure that the workflow reads. */
  run<T>(
    operation: string,
    account: string,
    mode: AttemptMode,
    body: (account: Attempting<A>) => Promise<T>,
  ): Promise<T> {
    const { provider } = this;
    const { environment, patienceMs, unavailableForMs } = this.has;
    const context = {
      provider,
      operation,
      environment,
      account,
      mode,
      patienceMs,
      unavailableForMs,
    };
    const urgent = mode === "probe";
    return asActivity(context, async () => {
      try {
        return await body({ ...this.#accountNamed(account), urgent });
      } catch (error) {
        if (error instanceof CircuitOpenError) countCall(provider, operation, "notAsked");
        throw error;
      }
    });
  }

  /** An input as its contract takes it, with its secrets opened; throws `InvalidInput`. */
  parse<S extends z.ZodType>(contract: S, input: unknown): z.infer<S> {
    return parseInput(
      contract,
      withSecrets(contract, input, (secret) => this.openSecret(secret)),
    );
  }

  openSecret(text: string): string {
    try {
      return this.has.secrets.open(text, execution());
    } catch (error) {
      if (!isLocked(error) || error.name !== "DecryptionError") throw error;
      const problem = "has a secret that was sealed for another process, or with another key";
      throw new InvalidInput([{ path: "(input)", problem }]);
    }
  }

  /** The code of an update; the rule that the workflow cannot check of a sealed one. */
  openCode(text: string): string {
    const code = this.openSecret(text);
    if (code.length <= longestCode) return code;
    throw new InvalidInput([
      { path: "code", problem: "must be the code that the holder received" },
    ]);
  }

  sealSecret(text: string): string {
    return this.has.secrets.seal(text, execution());
  }

  /** Through the account's circuit; the calls of updates do not go through it, so no denial of theirs opens it. */
  reach<T>(account: Attempting<A>, operation: Operation<P>, call: () => Promise<T>): Promise<T> {
    return this.has.circuits.run(this.#wayOf(account, operation), call);
  }

  /** Why `reach` would fail fast now, if so. */
  closed(account: Attempting<A>, operation: Operation<P>): Error | undefined {
    return this.has.circuits.openError(this.#wayOf(account, operation));
  }

  /** An effect through the journal; its calls find their own way to the provider. */
  async effect<R, S = never>(
    account: A,
    of: Omit<EffectOf<P>, "provider" | "account">,
    { assumed, ...calls }: Calls<R> & Assumed<S>,
  ): Promise<R> {
    const { journal, digests, lookUpProofs } = this.has;
    const effect = { ...of, provider: this.provider, account: account.name };
    const { lookUpConfiguration: configuration } = account;
    if (!assumed || configuration === undefined)
      return performEffect(journal, digests, effect, calls);
    const key = { ...effect, configuration };
    const proof = new LookUpProof(lookUpProofs, key, assumed);
    const answer = await performEffect(journal, digests, effect, proof.around(calls));
    await proof.afterAnswer();
    return answer;
  }

  /** The same through the account's circuit: for a step, whose denial is everybody's. */
  perform<R, S = never>(
    account: Attempting<A>,
    of: Omit<EffectOf<P>, "provider" | "account">,
    calls: Omit<Calls<R>, "closed"> & Assumed<S>,
  ): Promise<R> {
    return this.effect<R, S>(account, of, {
      ...calls,
      closed: () => this.closed(account, of.operation),
      send: (send) => this.reach(account, of.operation, () => calls.send(send)),
    });
  }

  /** What earlier runs of the process have made of a step (a reset, a start again under the same id). */
  past(step: string): Promise<Past> {
    return this.has.journal.past({ ...execution(), step });
  }

  #accountNamed(name: string): A {
    const account = Object.hasOwn(this.has.accounts, name) ? this.has.accounts[name] : undefined;
    if (account) return account;
    const problem = `no account "${name}" is configured for ${this.provider}`;
    throw new InvalidInput([{ path: "account", problem }]);
  }

  /** What a denial or an outage is about: the whole account, unless a provider has several hosts. */
  protected circuitOf({ name }: A, _operation?: Operation<P>): string {
    return `${this.provider}/${name}`;
  }

  #wayOf(account: Attempting<A>, operation: Operation<P>): CircuitKey {
    const { urgent, about } = account;
    const denied = about === undefined ? operation : `${operation}/${about}`;
    const { workflowId: intent } = execution();
    return { account: this.circuitOf(account, operation), operation: denied, intent, urgent };
  }
}

/** The account that an input names, before it is known to be valid. */
export function accountIn(input: unknown): string {
  const named = (input as { account?: unknown } | null | undefined)?.account;
  return typeof named === "string" ? named : "default";
}

/** The caller's settings over the configured ones. */
export function resolved<S extends object>(
  configured: S,
  given: { [key in keyof S]?: S[key] | undefined } = {},
): S {
  const entries = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...configured, ...Object.fromEntries(entries) };
}
