// Stores answers and decisions sealed with the data key of their process and bound to their effect.
import type { Sealer } from "../crypto/data-key.js";
import { JournalUnavailable } from "./errors.js";
import type { Row } from "./row.js";

export function sealAnswer(sealer: Sealer, token: string, value: unknown): Buffer {
  return sealer.seal(Buffer.from(JSON.stringify({ value })), `journal:${token}`);
}

export function openAnswer(sealer: Sealer, token: string, sealed: Buffer): unknown {
  return (JSON.parse(sealer.open(sealed, `journal:${token}`).toString()) as { value?: unknown })
    .value;
}

/** The answer or the refusal that the row holds. */
export function openRowAnswer<A>(sealer: Sealer, { token, answer }: Row): A {
  if (answer === null) throw new JournalUnavailable(undefined);
  return openAnswer(sealer, token, answer) as A;
}

/** A person's decision as stored in the row. */
export interface DecisionRecord {
  attention: string;
  /** Why the attention asked. */
  reason?: string;
  decision: "retry" | "happened" | "abandon";
  /** The occurrence that the process goes on with. */
  occurrence: string;
  by: string;
  /** The operator whose key signed the decision. */
  principal?: string | undefined;
  /** The operator who made the same decision first, if two are needed. */
  proposedBy?: string | undefined;
  note?: string;
  at: string;
}

export function sealDecisions(sealer: Sealer, token: string, decisions: DecisionRecord[]): Buffer {
  return sealer.seal(Buffer.from(JSON.stringify(decisions)), `decisions:${token}`);
}

export function openDecisions(
  sealer: Sealer,
  token: string,
  sealed: Buffer | null,
): DecisionRecord[] {
  if (sealed === null) return [];
  return JSON.parse(sealer.open(sealed, `decisions:${token}`).toString()) as DecisionRecord[];
}
