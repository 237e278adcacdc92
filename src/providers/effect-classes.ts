// An effect class says what a repeated call would do. Each provider's effects.ts gives every operation one class; the class alone decides
// what a retry may do after a lost answer.

export type EffectClass =
  /** Changes nothing; repeat. */
  | "read"
  /** The same call twice leaves the same state; repeat. */
  | "repeatable"
  /** Takes an idempotency token (P2 §4.1); look up first, then send again with the same token. */
  | "keyed"
  /** No token, but the provider can be asked whether it happened; ask, then decide. */
  | "lookup"
  /** No token and no look-up: without an answer the outcome is unknown. */
  | "once";

export type EffectClasses = Readonly<Record<string, EffectClass>>;

/** Which operation of which provider is called. */
export interface ProviderOperation {
  provider: string;
  operation: string;
  effectClass: EffectClass;
}

/** Makes what a provider's calls and errors name an operation by. */
export function operationsOf<P extends string, const E extends EffectClasses>(
  provider: P,
  effects: E,
) {
  return <O extends keyof E & string>(operation: O) => ({
    provider,
    operation,
    effectClass: effects[operation] as EffectClass,
  });
}
