// What the journal's tests share: effects, performances whose calls the test answers by hand.
import { randomUUID } from "node:crypto";
import { KeyRing, generateKeyRing } from "../../src/crypto/key-ring.js";
import { sealersIn } from "../harness/stack/sealers.js";
import { testDatabase } from "../harness/stack/postgres.js";
import { ofFile } from "../harness/of-file.js";
import { effectToken, Journal } from "../../src/journal/journal.js";
import type { Effect, EffectHandlers, Send, SendFailure } from "../../src/journal/journal.js";
import type { Decision } from "../../src/journal/decisions.js";
import type { Row } from "../../src/journal/row.js";

export const ring = KeyRing.parse(generateKeyRing());
export const sealers = sealersIn();

export interface Answer {
  id: string;
}

/** An effect of a process of its own, unless `over` says otherwise. */
export function effectOf(over: Partial<Effect> & { input?: string } = {}): Effect {
  const { input = "input", ...given } = over;
  const at = {
    namespace: "default",
    workflowId: `sendPostal/${randomUUID()}`,
    step: "submit",
    occurrence: "0",
    ...given,
  };
  return {
    ...at,
    token: effectToken(at.namespace, at.workflowId, at.step, at.occurrence),
    provider: "evi-post",
    operation: "submit",
    account: "default",
    effectClass: given.effectClass ?? "keyed",
    digest: `digest of ${input}`,
    sameDigest: (stored) => stored === `digest of ${input}`,
  };
}

/** The same step with another class, input … */
export function sameStep(effect: Effect, over: Partial<Effect> & { input?: string } = {}): Effect {
  const { namespace, workflowId, step, occurrence, effectClass } = effect;
  return effectOf({ namespace, workflowId, step, occurrence, effectClass, ...over });
}

/** A row as it is read, that no input was written into. */
export function rowOf(occurrence: string, state: Row["state"], over: Partial<Row> = {}): Row {
  return {
    token: `token ${occurrence}`,
    occurrence,
    state,
    digest: null,
    attempts: 1,
    tokenGeneration: 0,
    uncertain: false,
    absent: 0,
    held: false,
    leaseLeft: 0,
    absentFor: 0,
    answer: null,
    nextOccurrence: null,
    ...over,
  };
}

/** A failure that says by itself what it means. */
export class Failure extends Error {
  readonly failure: SendFailure;

  constructor(failure: SendFailure) {
    super(failure.kind);
    this.failure = failure;
  }
}

export const notSent = new Failure({ kind: "notSent" });
export const denied = new Failure({ kind: "denied" });
export const noAnswer = new Failure({ kind: "noAnswer" });
export const refused = new Failure({ kind: "refused", refusal: { code: "InvalidAddress" } });

export const LEASE = 60_000;
export const SPACING = 10_000;
export const options = { leaseMs: LEASE, lookUpSpacingMs: SPACING };
/** What a person says to send again what may have been sent. */
export const confirmed = { confirmRetry: true, note: "not in the portal" };

/** A journal of the test file, in a database whose clock the test moves. */
export function clockedJournal() {
  const database = ofFile(() => testDatabase({ hasClock: true }));
  const journal = ofFile(() => new Journal(database.pool, sealers, options));
  return {
    database,
    journal,
    /** The rows of a step with their states. */
    async statesOf(effect: Effect): Promise<string> {
      const rows = await journal.rows(effect);
      return rows.map(({ occurrence, state }) => `${occurrence} ${state}`).join(", ");
    },
    endLease: ({ workflowId }: Effect) =>
      database.pool.query(
        "update trustflow.effects set lease_until = clock_timestamp() where workflow_id = $1",
        [workflowId],
      ),
    decide: (effect: Effect, decision: Decision["decision"], more: Partial<Decision> = {}) =>
      journal.decide(effect, {
        ...{ attention: "a-1", by: "Ada", at: "2026-01-01T00:00:00Z", decision },
        ...more,
      }),
  };
}

export const nothing = () => undefined;
export const found = () => ({ id: "found" });
/** What it failed with, or what it came to. */
export const failed = (promise: Promise<unknown>): Promise<unknown> =>
  promise.catch((error) => error);

/** Counts calls; each result is a value, an error to throw, or a function that decides. */
export class Provider {
  readonly sends: Send[] = [];
  lookUps = 0;
  onSend: (send: Send) => Answer | Promise<Answer>;
  onLookUp: ((token: string) => Answer | undefined | Promise<Answer | undefined>) | undefined;

  constructor(
    onSend: Provider["onSend"] | Error = () => ({ id: "item-1" }),
    onLookUp?: Provider["onLookUp"],
  ) {
    this.onSend =
      onSend instanceof Error
        ? () => {
            throw onSend;
          }
        : onSend;
    this.onLookUp = onLookUp;
  }

  get performance(): EffectHandlers<Answer> {
    const lookUp = async (token: string): Promise<Answer | undefined> => {
      this.lookUps += 1;
      return this.onLookUp?.(token);
    };
    return {
      send: async (send) => {
        this.sends.push(send);
        return this.onSend(send);
      },
      ...(this.onLookUp && { lookUp }),
      sendFailureOf: (error) => (error instanceof Failure ? error.failure : { kind: "noAnswer" }),
    };
  }
}

export interface Gate<T> {
  promise: Promise<T>;
  open(value: T): void;
  fail(error: Error): void;
}

/** A promise that the test settles. */
export function gate<T>(): Gate<T> {
  let open!: (value: T) => void;
  let fail!: (error: Error) => void;
  const promise = new Promise<T>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  return { promise, open, fail };
}
