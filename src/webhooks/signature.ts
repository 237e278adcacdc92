// Signs a webhook as Standard Webhooks says (https://www.standardwebhooks.com), by `v1`: HMAC-SHA-256.
import { createHmac, randomBytes } from "node:crypto";

const PREFIX = "whsec_";
const KEY_BYTES = 32;

export function newSecret(): string {
  return PREFIX + randomBytes(KEY_BYTES).toString("base64");
}

/** Undefined if it is no secret of Standard Webhooks: `whsec_` and 24 to 64 bytes in base64. */
export function keyOf(secret: string): Buffer | undefined {
  const given = secret.slice(PREFIX.length);
  const key = Buffer.from(given, "base64");
  const isKey = secret.startsWith(PREFIX) && key.toString("base64") === given;
  return isKey && key.length >= 24 && key.length <= 64 ? key : undefined;
}

/** With one signature for each key, so that a receiver takes the old secret or the new one while they change. */
export function signedHeaders(
  keys: readonly Buffer[],
  id: string,
  body: string,
  at = new Date(),
): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  const signatures = keys.map((key) => {
    const mac = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`);
    return `v1,${mac.digest("base64")}`;
  });
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signatures.join(" "),
  };
}
