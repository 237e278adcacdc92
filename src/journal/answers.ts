// Answers and decisions at rest: sealed, and bound to the effect they belong to.
import type { KeyRing } from "../crypto/key-ring.js";
import { open, seal } from "../crypto/sealed.js";

export function sealAnswer(ring: KeyRing, token: string, value: unknown): Buffer {
  return seal(ring, Buffer.from(JSON.stringify({ value })), `journal:${token}`);
}

export function openAnswer(ring: KeyRing, token: string, sealed: Buffer): unknown {
  return (JSON.parse(open(ring, sealed, `journal:${token}`).toString()) as { value?: unknown })
    .value;
}

/** A person's decision, as it was written into the row. */
export interface DecisionRecord {
  attention: string;
  decision: "retry" | "happened" | "abandon";
  /** The occurrence that the process goes on with. */
  occurrence: string;
  by: string;
  note?: string;
  at: string;
}

export function sealDecisions(ring: KeyRing, token: string, decisions: DecisionRecord[]): Buffer {
  return seal(ring, Buffer.from(JSON.stringify(decisions)), `decisions:${token}`);
}

export function openDecisions(
  ring: KeyRing,
  token: string,
  sealed: Buffer | null,
): DecisionRecord[] {
  if (sealed === null) return [];
  return JSON.parse(open(ring, sealed, `decisions:${token}`).toString()) as DecisionRecord[];
}
