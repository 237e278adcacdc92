// Callbacks of the notice service (P2 §2.11, §2.12, §6.3). The items of a batch may be notices, mails or text messages (P2 §6.1),
// and call back to the batch's address.
import { parseEnvelope } from "../evi/callback.js";
import type { ProcessCallbackParser } from "../provider-entry.js";

/** Throws ProviderError `protocol` for what is no envelope, or another service's. */
export const parseCallback: ProcessCallbackParser = (body) =>
  parseEnvelope("evi-notice", ["eviNotice", "eviMail", "eviSMS"], body);
