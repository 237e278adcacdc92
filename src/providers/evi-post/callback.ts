// Callbacks of the postal service (P2 §2.11, §2.12, §6.3).
import { parseEnvelope } from "../evi/callback.js";
import type { ProcessCallbackParser } from "../provider-entry.js";

/** Throws ProviderError `protocol` for what is no envelope, or another service's. */
export const parseCallback: ProcessCallbackParser = (body) =>
  parseEnvelope("evi-post", ["eviPost"], body);
