// The idempotency token of an effect: the same after a retry, a crash, a reset, continue-as-new or a start again (docs/design.md §6).
import { createHash } from "node:crypto";

// UUID of this project, for RFC 9562 §5.5; another value would give every open effect another token.
const NAMESPACE = "6f0a5b0e-3c1d-4e8a-9b57-2d8f4c1e7a90";

export function effectToken(
  namespace: string,
  workflowId: string,
  step: string,
  occurrence: string,
): string {
  return uuidV5(NAMESPACE, JSON.stringify([namespace, workflowId, step, occurrence]));
}

/**
 * The token that goes over the wire: another one after each denial (docs/reading-the-specification.md §1), so that none
 * stays stuck to it, and for another input.
 */
export function wireToken(token: string, generation: number): string {
  return generation === 0 ? token : uuidV5(token, String(generation));
}

function uuidV5(namespace: string, name: string): string {
  const bytes = createHash("sha1")
    .update(Buffer.from(namespace.replaceAll("-", ""), "hex"))
    .update(name)
    .digest()
    .subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString("hex");
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20),
  ].join("-");
}
