// The webhook (P1 §1.4). Its configuration and payload are not shown (P1 §6.2): any JSON is an event, which claims nothing
// but that something happened.
import { createHash } from "node:crypto";
import type { ProviderEvent } from "../../contracts/shared/provider-event.js";
import { utcInstant } from "../http/instant.js";
import { defaultWebhookPointer } from "./account.js";
import { Webhook } from "./wire.js";

/** As the relay takes it: the event, and the id by which the process is found. */
export function parseAccountCallback(
  body: unknown,
  receivedAt: Date,
  own: { webhookPointer: string } | undefined,
): { event: ProviderEvent; reference: string | undefined } {
  const reference = correlationAt(body, own?.webhookPointer ?? defaultWebhookPointer);
  return { ...parseCallback(body, receivedAt), reference };
}

/** An event without an identifier is known by its content, one without a readable date by its receipt. */
export function parseCallback(body: unknown, receivedAt: Date): { event: ProviderEvent } {
  const { Identifier, event, date } = Webhook.parse(body);
  return {
    event: {
      id: Identifier ?? digestOf(body),
      kind: event ?? "webhook",
      at: utcInstant(date) ?? receivedAt.toISOString(),
    },
  };
}

/** The text or number at a JSON pointer (RFC 6901), as text: by it the process is found (docs/reading-the-specification.md §6). */
export function correlationAt(body: unknown, pointer: string): string | undefined {
  const [first, ...tokens] = pointer.split("/");
  if (first !== "") return undefined;
  let value = body;
  for (const token of tokens) {
    const name = token.replaceAll("~1", "/").replaceAll("~0", "~");
    const isThere = Array.isArray(value) ? /^(0|[1-9]\d*)$/.test(name) : isObject(value);
    if (!isThere || !Object.hasOwn(value as object, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function digestOf(body: unknown): string {
  return createHash("sha256").update(JSON.stringify(body)).digest("hex");
}
