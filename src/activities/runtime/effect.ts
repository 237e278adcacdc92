// Every call with an effect goes this way. An activity says what it sends; `runEffect` owns journal, circuit, digest and metrics, and knows
// what an error proves (docs/design.md §6, docs/reading-the-specification.md §0).
import { cancellationSignal } from "@temporalio/activity";
import type { CancelledFailure } from "@temporalio/common";
import { isUndecryptable } from "../../journal/errors.js";
import type { OwnedDocument } from "../../journal/ownership.js";
import { effectToken } from "../../journal/effect.js";
import type { Effect, Send, SendFailure, LookUpFinding } from "../../journal/journal.js";
import { effectClassOf } from "../../providers/registry.js";
import type { Operation, Provider } from "../../providers/registry.js";
import { ProviderError } from "../../providers/errors/provider-error.js";
import { measured } from "./call-metrics.js";
import { CircuitOpenError } from "./circuit-breaker.js";
import { InvalidInput, refusalOf } from "./failure.js";
import { unlessMissing } from "./documents.js";
import type { ProviderContext } from "./provider-context.js";
import { timeLimit } from "./time-limit.js";
import type { LookUpKey, LookUpProofs } from "../../journal/look-up-proofs.js";

export interface EffectKey {
  step: string;
  /** `0`, or a name that a decision created; for an update's own effect it is made of the update's id. */
  occurrence: string;
}

/** An effect as its activity describes it. `R` is its answer, `T` what is prepared, `S` the sample of its look-up. */
export interface ProviderEffect<P extends Provider, R, T, S> {
  operation: Operation<P>;
  /**
   * A step's call goes through the account's circuit. An update's call does not: a person waits for its answer, and a denial of one
   * update must not stop other processes.
   */
  of?: "step" | "update";
  /** The part of the input that another run must repeat. It is part of the digest, with the account. */
  input: unknown;
  /** The documents that the call sends. The process owns them from the commit of the journal's row on. */
  documents?: OwnedDocument[];
  /** They could be read before the first effect: one that is missing by now waits for an operator, as at `unlessMissing`. */
  areChecked?: true;
  /** The part of the operation that a denial would be about, where that is not all of it. */
  about?: string | undefined;
  /** How long the call may take, where that may be longer than a lease. */
  longestMs?: number;
  /** Before the call: reads documents, opens secrets, and asks what must be known before it. */
  prepare?(): T | Promise<T>;
  /** The one HTTP call. Its answer must be plain JSON; without one the journal keeps `{}`. */
  send(call: EffectCall<T>): Promise<R | void>;
  /**
   * An unreadable answer may show an id: the answer, where the item with that id is ours. It may be another one, which the answer only
   * names, so that it exists is not enough where the item shows our `token`.
   */
  findShown?(id: string, token: string): Promise<R | undefined>;
  /** Did it happen? `token` is the one that the effect was sent with. */
  lookUp?(token: string): Promise<R | undefined>;
  /** The assumption that the look-up rests on, if it rests on one. */
  assumed?: AssumedLookUp<S>;
  /** The id by which callbacks name this process from the answer on. */
  referenceOf?(answer: R): string;
}

export interface EffectCall<T> {
  prepared: T;
  /** The journal's row has it: the provider can be asked for it later. */
  token: string;
  /** The token that is sent, if the provider accepts one. */
  idempotencyToken: string;
  signal: AbortSignal;
}

/** Runs an effect once and returns its answer, the stored one where the effect was answered before. */
export async function runEffect<P extends Provider, R, T = undefined, S = never>(
  context: ProviderContext<P>,
  key: EffectKey,
  effect: ProviderEffect<P, R, T, S>,
): Promise<R> {
  const { provider, mode } = context;
  const { circuits, journal } = context.deps;
  const { operation, of = "step", about, lookUp } = effect;
  const circuit = of === "step" ? context.circuitKey(operation, about) : undefined;
  const proof = LookUpProof.of(context, operation, effect.assumed);
  const call = measured(provider, operation, effect.send);
  let isPrepared = false;
  let answered: string | undefined;

  async function send({ token, idempotencyToken, leftMs }: Send): Promise<R> {
    isPrepared = false;
    const prepared = (await effect.prepare?.()) as T;
    // Another attempt may have taken the row by now. A signal alone would let a fast call through.
    if (leftMs() <= 0)
      throw context.problem(operation, "not sent: its lease ended before the call", "unavailable");
    isPrepared = true;
    const { signal, stopped, clear } = limitOf(leftMs());
    const sent = { prepared, token, idempotencyToken, signal };
    const throughCircuit = circuit && { ...circuit, signal: stopped };
    const running = throughCircuit ? circuits.run(throughCircuit, call, sent) : call(sent);
    const calling = running.finally(clear);
    // The circuit's call is over by then: the question for the shown item may go through the same circuit.
    const answer = await calling.catch((error: unknown) => adoptShown(error, token, effect));
    answered = token;
    return (answer ?? {}) as R;
  }

  const performing = journal.perform<R>(
    journalEffectOf(context, key, effect),
    {
      send,
      sendFailureOf: (error) => sendFailureOf(error, isPrepared),
      openError: () => circuit && circuits.openError(circuit),
      ...(lookUp && {
        lookUp: async (token) => {
          const found = await lookUp(token);
          if (found !== undefined) await proof?.noteFound();
          return found;
        },
      }),
      ...(proof && { lookUpFinding: () => proof.finding() }),
    },
    { watchOnly: mode === "watch" },
  );
  const answer = await (effect.areChecked
    ? unlessMissing(context, operation, performing)
    : performing);
  if (answered !== undefined) await proof?.afterAnswer(answered);
  if (effect.referenceOf) {
    const reference = effect.referenceOf(answer);
    const account = context.account.name;
    await journal.noteReference({ provider, account, reference, ...context.process });
  }
  return answer;
}

/** The rest of a lease is for what comes before the call, and for storing its answer. */
const LONGEST_SHARE = 0.8;

function journalEffectOf<P extends Provider, R, T, S>(
  { provider, account, process: processKey, deps }: ProviderContext<P>,
  { step, occurrence }: EffectKey,
  { operation, input, documents, lookUp, longestMs }: ProviderEffect<P, R, T, S>,
): Effect {
  const digested = { account: account.name, input };
  const declared = effectClassOf(provider, operation) as Effect["effectClass"];
  return {
    step,
    occurrence,
    token: effectToken(processKey.namespace, processKey.workflowId, step, occurrence),
    ...processKey,
    provider,
    operation,
    account: account.name,
    // Without a look-up, the account's `lookup` operations are `once`.
    effectClass: declared === "lookup" && !lookUp ? "once" : declared,
    digest: deps.digests.of(digested),
    sameDigest: (stored) => deps.digests.same(digested, stored),
    ...(documents && { documents }),
    ...(longestMs !== undefined && { leaseMs: longestMs / LONGEST_SHARE }),
  };
}

/**
 * A call goes on although its activity is cancelled, paused or out of time, so that the journal has the answer for whoever asks next. Its
 * worker's stop breaks it off, unless one of these came before: the activity's signal is aborted once.
 */
function limitOf(leftMs: number) {
  const cancelled = cancellationSignal();
  if (cancelled.aborted) return { ...timeLimit(leftMs, cancelled), stopped: cancelled };
  const stopping = new AbortController();
  cancelled.addEventListener("abort", () => {
    const { reason } = cancelled as { reason: CancelledFailure };
    if (reason.message === "WORKER_SHUTDOWN") stopping.abort(reason);
  });
  return { ...timeLimit(leftMs, stopping.signal), stopped: stopping.signal };
}

/** A 2xx that cannot be read but shows the id of an item that is ours (docs/design.md §5). */
async function adoptShown<R>(
  error: unknown,
  token: string,
  { findShown }: Pick<ProviderEffect<Provider, R, never, never>, "findShown">,
): Promise<R> {
  const id = error instanceof ProviderError ? error.reference : undefined;
  if (id === undefined) throw error;
  const found = await findShown?.(id, token).catch(() => undefined);
  if (found === undefined) throw error;
  return found;
}

/** `isPrepared`: the call may have begun. Before that, nothing has left: a full disk is as harmless as an unreadable document. */
function sendFailureOf(error: unknown, isPrepared: boolean): SendFailure {
  if (error instanceof InvalidInput || isUndecryptable(error)) return { kind: "notSent" };
  if (!(error instanceof ProviderError) || error.effect === "unknown")
    return { kind: isPrepared ? "noAnswer" : "notSent" };
  if (error.kind === "invalidRequest") return { kind: "refused", refusal: refusalOf(error) };
  const isDenial = error.status === 403 && !(error instanceof CircuitOpenError);
  return { kind: isDenial ? "denied" : "notSent" };
}

export interface AssumedLookUp<S> {
  /** A look-up may find one form of an item and miss another. */
  form: string;
  /** Returns what the item can be found by, also later; `token` is that of the effect's row. */
  sampleOf(token: string): S;
  /** The form of the item that was found. */
  find(sample: S): Promise<string | undefined>;
  /** A sample is the token alone, so effects from before the look-up was configured are samples too. */
  isByToken?: true;
  /** The item is changed afterwards, so that no later look-up finds it: it is no sample. */
  isNoSample?: boolean;
}

interface Account {
  name: string;
  lookUpConfiguration?: string;
}

/**
 * A look-up that rests on an assumption, because the specification does not show it. An empty result proves nothing until the look-up has
 * found one of our own items (docs/reading-the-specification.md §1, docs/decisions/0017). journal/look-up-proofs.ts keeps the results.
 */
export class LookUpProof<S> {
  readonly #proofs: LookUpProofs;
  readonly #key: LookUpKey;
  readonly #assumed: AssumedLookUp<S>;

  private constructor(proofs: LookUpProofs, key: LookUpKey, assumed: AssumedLookUp<S>) {
    this.#proofs = proofs;
    this.#key = key;
    this.#assumed = assumed;
  }

  /** Undefined where the look-up rests on no assumption. */
  static of<P extends Provider, S>(
    { provider, account, deps }: ProviderContext<P>,
    operation: Operation<P>,
    assumed: AssumedLookUp<S> | undefined,
  ): LookUpProof<S> | undefined {
    // A digest of the configuration that decides which items a look-up finds; not all accounts have one.
    const { name, lookUpConfiguration: configuration }: Account = account;
    if (!assumed || configuration === undefined) return undefined;
    const { form } = assumed;
    const key = { provider, account: name, operation, form, configuration };
    return new LookUpProof(deps.lookUpProofs, key, assumed);
  }

  /** The effect's own look-up has found its item. */
  async noteFound(): Promise<void> {
    await quietly(() => this.#proofs.found(this.#key));
  }

  /** Looks for the item that was just answered, if the account is not proven yet or not lately; never fails the effect. */
  async afterAnswer(token: string): Promise<void> {
    if (this.#assumed.isNoSample) return;
    await quietly(async () => {
      const mayLook = await this.#proofs.offer(this.#key, this.#assumed.sampleOf(token));
      if (mayLook) await this.#look();
    });
  }

  /** Says what an empty look-up proves. It is needed only before a call is repeated, and while a lost answer waits. */
  async finding(): Promise<LookUpFinding> {
    await quietly(() => this.#look());
    const known = await this.#proofs.finding(this.#key);
    if (known !== "unproven" || !this.#assumed.isByToken) return known;
    await quietly(() => this.#lookForEarlier());
    return this.#proofs.finding(this.#key);
  }

  async #look(): Promise<void> {
    await this.#proofs.look(this.#key, async (sample) => {
      const form = await this.#find(sample as S);
      return form !== undefined;
    });
  }

  /** An item from before the look-up was configured proves it too; a miss proves nothing. */
  async #lookForEarlier(): Promise<void> {
    for (const token of await this.#proofs.newestAnswered(this.#key)) {
      const form = await this.#find(this.#assumed.sampleOf(token));
      if (form === undefined) continue;
      await this.#proofs.found({ ...this.#key, form });
      if (form === this.#key.form) return;
    }
  }

  /** An unusable answer or a missing path counts as a miss; no answer proves nothing. */
  async #find(sample: S): Promise<string | undefined> {
    try {
      return await this.#assumed.find(sample);
    } catch (error) {
      const isMiss =
        error instanceof ProviderError &&
        (error.kind === "protocol" || error.kind === "notVisibleYet");
      if (isMiss) return undefined;
      throw error;
    }
  }
}

/** The effect does not depend on the proof: an error here is ignored, and the next effect tries again. */
async function quietly(work: () => Promise<unknown>): Promise<void> {
  await work().catch(() => undefined);
}
