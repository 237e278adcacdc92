// Proves that a payload was written with `keys.codecWrite` for its process (decision 22). A holder of only `keys.codec` can
// read, and could encrypt too, so encryption alone is not a proof. HMAC-SHA-256 over namespace, workflow id and the encrypted
// data.
import { createHmac, timingSafeEqual } from "node:crypto";
import type { Payload, SerializationContext } from "@temporalio/common";
import type { Key, KeyRing } from "../../crypto/key-ring.js";

const KEY_ID = "trustflow-write-key-id";
const TAG = "trustflow-write-tag";

export class WriteTags {
  readonly #ring: KeyRing;

  constructor(ring: KeyRing) {
    this.#ring = ring;
  }

  /** The metadata that goes beside encrypted data. */
  of(data: Uint8Array, context: SerializationContext | undefined): Record<string, Uint8Array> {
    const { active } = this.#ring;
    return { [KEY_ID]: Buffer.from(active.id), [TAG]: tag(active, data, context) };
  }

  isValid({ metadata, data }: Payload, context: SerializationContext | undefined): boolean {
    const key = this.#ring.get(Buffer.from(metadata?.[KEY_ID] ?? []).toString());
    const given = metadata?.[TAG];
    if (!key || !given) return false;
    const expected = tag(key, data ?? new Uint8Array(), context);
    return given.length === expected.length && timingSafeEqual(given, expected);
  }
}

/** For a payload without a process, such as the Web UI's, the process is empty; no worker accepts it. */
function tag(
  { bytes }: Key,
  data: Uint8Array,
  { namespace = "", workflowId = "" }: Partial<SerializationContext> = {},
): Buffer {
  return createHmac("sha256", bytes)
    .update(`trustflow\n${namespace}\n${workflowId}\n`)
    .update(data)
    .digest();
}
