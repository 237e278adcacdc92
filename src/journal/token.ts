// The idempotency token of an effect: the same after a retry, a crash, a reset, continue-as-new or a start again (docs/design.md §6).
import { v5 } from "uuid";

// UUID of this project, for RFC 9562 §5.5; another value would give every open effect another token.
const NAMESPACE = "6f0a5b0e-3c1d-4e8a-9b57-2d8f4c1e7a90";

export function effectToken(
  namespace: string,
  workflowId: string,
  step: string,
  occurrence: string,
): string {
  return v5(JSON.stringify([namespace, workflowId, step, occurrence]), NAMESPACE);
}

/**
 * The token that goes over the wire: another one after each denial (docs/reading-the-specification.md §1), so that none
 * stays stuck to it, and for another input.
 */
export function wireToken(token: string, generation: number): string {
  return generation === 0 ? token : v5(String(generation), token);
}
