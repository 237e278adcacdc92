// Callbacks to an account's address whose payload the specification does not show (P1 §6.1, §6.2): any JSON is an event, which
// says nothing but that something happened.
import { createHash } from "node:crypto";
import { z } from "zod";
import type { ProviderEvent } from "../contracts/shared/provider-event.js";
import { Word } from "./errors/outside.js";
import { utcInstant } from "./http/instant.js";
import { valueAt } from "./http/json-pointer.js";
import type { AccountCallbackParser } from "./provider-entry.js";

interface AccountCallback<K> {
  /** Where the reference stands by which the process is found; `account` is undefined in a relay that has none of the name. */
  pointerOf(account: K | undefined): string;
  /** The kind of an event that does not say it. */
  kind: string;
  /** A secret that the event carries, such as the token of a call. It is no part of the event. */
  secretOf?(body: unknown): string | undefined;
}

/** Makes the parser that the relay takes. */
export function accountCallback<K>({
  pointerOf,
  kind,
  secretOf,
}: AccountCallback<K>): AccountCallbackParser<K> {
  return (body, receivedAt, account) => {
    const secret = secretOf?.(body);
    return {
      event: eventOf(body, receivedAt, { kind, secret }),
      reference: valueAt(body, pointerOf(account)),
      ...(secret !== undefined && { secret }),
    };
  };
}

/** Known by its content: a member that named it might name other events too. One without a readable date is dated by its receipt. */
function eventOf(
  body: unknown,
  receivedAt: Date,
  { kind, secret }: { kind: string; secret: string | undefined },
): ProviderEvent {
  const { event, date } = Payload.parse(body);
  const isSafe = secret === undefined || !String(valueAt(body, "/event")).includes(secret);
  return {
    id: digestOf(body),
    kind: (isSafe ? event : undefined) ?? kind,
    at: utcInstant(date) ?? receivedAt.toISOString(),
  };
}

const Payload = z
  .object({
    event: Word.optional().catch(undefined),
    date: z.unknown().optional(),
  })
  .catch({});

function digestOf(body: unknown): string {
  return createHash("sha256").update(JSON.stringify(body)).digest("hex");
}
