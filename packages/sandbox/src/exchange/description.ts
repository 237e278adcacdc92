// Finds the subject of a request that carries only the caller's own reference.
import { fieldsOf } from "./checker.js";
import { magicKey, readMagicMember, type Vocabulary } from "./magic.js";
import type { Arrival, Description } from "./operation.js";

/** `key`: the magic key of what was created for the intent; undefined where nothing was, or no magic came with it. */
export function describeIntent(intent: string | null, key?: string): Description {
  return { intent, lookupKeys: intent === null ? [] : [intent], magicKey: key };
}

/**
 * A payload names its intent in `member` and has its magic words in the member `sandbox`: the same payload again is the second call of
 * its faults.
 */
export function describePayload(
  { body }: Arrival,
  member: string,
  vocabulary: Vocabulary<string>,
): Description & { magicKey: string } {
  const fields = fieldsOf(body);
  const named = fields[member];
  const intent = typeof named === "string" ? named : null;
  const key = magicKey(vocabulary.provider, intent ?? body);
  const magicFaults = readMagicMember(fields, vocabulary)?.faults;
  return { ...describeIntent(intent), magicKey: key, magicFaults };
}
