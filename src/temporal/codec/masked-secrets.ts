// The codec server shows a secret as `[secret]`, whether our client has sealed it or a plain client has sent it in clear (decision 23).
import type { Payload } from "@temporalio/common";
import { secretIds } from "../../contracts/message-contracts.js";
import { processes, registry, updatesOf } from "../../contracts/registry.js";
import { secretNames } from "../../contracts/definition/secret-fields.js";
import { isSealed } from "../../contracts/shared/sealed-secret.js";

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

/** A payload that is not JSON, and one without secrets, stay byte for byte. */
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
