// Payloads as the codec server's callers write them: protobuf's JSON, bytes as base64.
import type { Payload } from "@temporalio/common";
import proto from "@temporalio/proto";
import type { EncryptionCodec } from "./codec.js";
import { secretIds } from "../../contracts/message-contracts.js";
import { processes, registry, updatesOf } from "../../contracts/registry.js";
import { secretNames } from "../../contracts/definition/secret-fields.js";
import { isSealed } from "../../contracts/shared/sealed-secret.js";

const PayloadMessage = proto.temporal.api.common.v1.Payload;

/** Throws with what is wrong, in words that repeat nothing of the body. */
export function parsePayloads(body: string): Payload[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    throw new TypeError("the body is not JSON");
  }
  const payloads = isRecord(parsed) ? (parsed["payloads"] ?? []) : undefined;
  if (!Array.isArray(payloads)) throw new TypeError("payloads: expected an array");
  return payloads.map((payload, index) => {
    if (!isPayload(payload))
      throw new TypeError(`payloads[${index}]: expected metadata and data in base64`);
    return PayloadMessage.fromObject(payload);
  });
}

export function writePayloads(payloads: Payload[]): string {
  return JSON.stringify({
    payloads: payloads.map((payload) => PayloadMessage.fromObject(payload).toJSON()),
  });
}

/**
 * Decodes each payload by itself: one that cannot be opened becomes a text that says why, so that the rest of a page
 * stays readable.
 */
export async function decodeReadably(
  codec: EncryptionCodec,
  payloads: Payload[],
): Promise<{ decoded: Payload[]; failed: number }> {
  let failed = 0;
  const decoded = payloads.map(async (payload) =>
    codec.decode([payload]).then(
      (payloads) => payloads.map(masked),
      (error: unknown) => {
        failed += 1;
        const reason =
          error instanceof Error ? error.message.replaceAll(`"`, "'") : "unknown error";
        return [note(`[cannot be decrypted: ${reason}]`)];
      },
    ),
  );
  return { decoded: (await Promise.all(decoded)).flat(), failed };
}

function note(text: string): Payload {
  return {
    metadata: { encoding: Buffer.from("json/plain") },
    data: Buffer.from(JSON.stringify(text)),
  };
}

function isPayload(value: unknown): value is Record<string, unknown> {
  if (!isRecord(value)) return false;
  const { metadata, data } = value;
  if (data !== undefined && data !== null && typeof data !== "string") return false;
  if (metadata === undefined || metadata === null) return true;
  return isRecord(metadata) && Object.values(metadata).every((entry) => typeof entry === "string");
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const shown = "[secret]";

/** `otp` is what activities call a code. */
const names = new Set([
  ...Object.values(registry).flatMap(({ input }) => secretNames(input)),
  ...processes.flatMap((processName) =>
    updatesOf(processName).flatMap(({ argument }) => (argument ? secretNames(argument) : [])),
  ),
  ...secretNames(secretIds),
  "otp",
]);

/** A member `code` is a secret if it is the only member, as in `submitOtp`; elsewhere it is a provider's error code. */
function isSecret(name: string, of: object): boolean {
  return names.has(name) && (name !== "code" || Object.keys(of).length === 1);
}

/**
 * Shows a secret as `[secret]`, whether our client has sealed it or a plain client has sent it in clear (docs/design.md §8). A payload
 * that is not JSON, and one without secrets, stay byte for byte.
 */
export function masked(payload: Payload): Payload {
  if (Buffer.from(payload.metadata?.["encoding"] ?? []).toString() !== "json/plain") return payload;
  let hasSecret = false;
  const hide = () => {
    hasSecret = true;
    return shown;
  };
  const walk = (value: unknown): unknown => {
    if (isSealed(value)) return hide();
    if (Array.isArray(value)) return value.map(walk);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, part]: [string, unknown]) => [
        name,
        isSecret(name, value) && isText(part) ? hide() : walk(part),
      ]),
    );
  };
  try {
    const value = walk(JSON.parse(Buffer.from(payload.data ?? []).toString()));
    return hasSecret ? { ...payload, data: Buffer.from(JSON.stringify(value)) } : payload;
  } catch {
    return payload;
  }
}

function isText(value: unknown): boolean {
  return typeof value === "string" || typeof value === "number";
}
