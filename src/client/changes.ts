// Follows all processes at once: one question to Temporal's visibility for each interval, however many there are (docs/webhooks.md).
import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "@temporalio/client";
import type { ProcessEvent } from "../contracts/process-event.js";
import { EventLooks, OVERLAP_MS } from "../temporal/visibility/process-events.js";
import { grpcOf, status } from "../temporal/grpc-status.js";
import { wrongArgument } from "../errors/arguments.js";
import { isPassing } from "./handle.js";
import { beginWait, stepsWithin } from "./waiting.js";

/** Where `changes` begins, and how often it asks. */
export interface ChangesOptions {
  /** The `cursor` of a change, or a time in RFC 3339: follows from there on. Default: now, with the ends of the last two minutes. */
  since?: string | undefined;
  /** Its abort ends the iteration with its reason. Default: none. */
  signal?: AbortSignal | undefined;
  /** Between two questions, in milliseconds, from 1000 to 86400000. Default: 5000. */
  intervalMs?: number | undefined;
}

/** An event of a process, with where to go on after it. */
export type Change = ProcessEvent & { cursor: string };

/** What visibility shows later than that is not seen by one who resumes. */
const RESUME_MS = 600_000;
const DAY_MS = 86_400_000;
/** Longer than a look goes back. */
const REMEMBERED_MS = 7_200_000;

export async function* changesOf(
  client: Client,
  { since, signal, intervalMs = 5_000 }: ChangesOptions,
): AsyncGenerator<Change> {
  if (!(typeof intervalMs === "number" && intervalMs >= 1_000 && intervalMs <= DAY_MS))
    throw wrongArgument("intervalMs", "must be a number of milliseconds from 1000 to 86400000");
  const position = since === undefined ? new Date() : instantOf(since);
  const back = since === undefined ? OVERLAP_MS : RESUME_MS;
  const floor = new Date(position.getTime() - back);
  const looks = new EventLooks(client, { position, floor });
  /** When each was last seen: an open attention is found in every look. */
  const seen = new Map<string, number>();
  for (;;) {
    const cursor = looks.position.toISOString();
    try {
      const found = looks.look(async (ids) => knownIn(seen, ids));
      // A wait for each step: the SDK lets go of no call of a wait before its end.
      for await (const events of stepsWithin(beginWait({ signal }, client.connection), found))
        for (const event of events) {
          yield { ...event, cursor };
          seen.set(event.id, Date.now());
        }
    } catch (error) {
      signal?.throwIfAborted();
      // The store of visibility may be away, where Temporal is not.
      if (!isPassing(error) && grpcOf(error).code !== status.internal) throw error;
    }
    for (const [id, at] of seen) if (at < Date.now() - REMEMBERED_MS) seen.delete(id);
    await delay(intervalMs, undefined, signal && { signal }).catch(() => undefined);
  }
}

function knownIn(seen: Map<string, number>, ids: string[]): Set<string> {
  const known = new Set(ids.filter((id) => seen.has(id)));
  for (const id of known) seen.set(id, Date.now());
  return known;
}

function instantOf(since: string): Date {
  const at = new Date(typeof since === "string" ? since : Number.NaN);
  if (!Number.isNaN(at.getTime())) return at;
  throw wrongArgument("since", "must be a cursor, or a time in RFC 3339");
}
