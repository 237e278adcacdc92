// A row of the journal, and what its state says about the effect at the provider.

export const states = ["sending", "answered", "refused", "notSent", "withdrawn"] as const;
export type State = (typeof states)[number];

export interface Row {
  token: string;
  occurrence: string;
  state: State;
  digest: string | null;
  attempts: number;
  /** Counts the tokens that went over the wire (column `denied`): each denial and each other input start a new one. */
  tokenGeneration: number;
  /** An earlier attempt may have reached the provider. */
  uncertain: boolean;
  /** How many look-ups in a row found nothing: 0 or 1. */
  absent: number;
  /** A sender is working on it, or was killed; false once its own call has ended. */
  held: boolean;
  /** Milliseconds until the lease is over; 0 or less: it is over. */
  leaseLeft: number;
  /** Milliseconds since the look-up that found nothing. */
  absentFor: number;
  /** The answer or the refusal; while `sending`, a refusal that does not count yet. */
  answer: Buffer | null;
  /** The row that replaces this one, since a person decided to send again. */
  nextOccurrence: string | null;
}

/** Whether an effect exists at the provider; `none` only if that is proven. */
export type KnownEffect = "none" | "unknown" | "exists";

/** Each state says this by itself; an earlier attempt that is uncertain makes `none` unknown. */
export const effectIn = {
  sending: "unknown",
  answered: "exists",
  refused: "none",
  notSent: "none",
  withdrawn: "none",
} as const satisfies Record<State, KnownEffect>;

export type Known = Pick<Row, "state" | "uncertain">;

export function effectOf({ state, uncertain }: Known): KnownEffect {
  return effectIn[state] === "none" && uncertain ? "unknown" : effectIn[state];
}

export function mayExist(row: Known): boolean {
  return effectOf(row) !== "none";
}
