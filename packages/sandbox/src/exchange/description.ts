// Finds the subject of a request that carries only the caller's own reference.
import { fieldsOf } from "./checker.js";
import { magicKey, type Magic } from "./magic.js";
import type { Arrival, Description } from "./operation.js";

/** `key`: the magic key of what was created for the intent; undefined where nothing was, or no magic came with it. */
export function describeIntent(intent: string | null, key?: string): Description {
  return { intent, lookupKeys: intent === null ? [] : [intent], magicKey: key };
}

/** Of a payload that names its intent in `member`: the same payload again is the second call of its faults. */
export function describePayload(
  { body }: Arrival,
  {
    provider,
    member,
    magic,
  }: { provider: string; member: string; magic: Magic<string> | undefined },
): Description & { magicKey: string } {
  const named = fieldsOf(body)[member];
  const intent = typeof named === "string" ? named : null;
  const key = magicKey(provider, intent ?? body);
  return { ...describeIntent(intent), magicKey: key, magicFaults: magic?.faults };
}
