// Callbacks of the postal service (P2 §2.11, §2.12, §6.3).
import { parseEnvelope } from "../evi/callback.js";
import type { ProviderCallback } from "../evi/callback.js";

/** Throws ProviderError `protocol` for what is no envelope, or another service's. */
export function parseCallback(body: unknown): ProviderCallback {
  return parseEnvelope("evi-post", ["eviPost"], body);
}
