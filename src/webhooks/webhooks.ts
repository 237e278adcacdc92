// The relay's work for webhooks: one loop looks for events and stores them, and one loop for each endpoint sends what is due. So an endpoint
// that is slow or away delays no other one.
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { ProcessEvent } from "../contracts/process-event.js";
import { untilAborted } from "../contracts/shared/until-aborted.js";
import type { Pool } from "../postgres/pool.js";
import { Deliveries } from "./deliveries.js";
import type { Due } from "./deliveries.js";
import { Outbox } from "./outbox.js";
import type { Endpoint } from "./outbox.js";
import { post } from "./post.js";
import { signedHeaders } from "./signature.js";

/** Finds events that are not known yet. */
export interface Looks {
  readonly position: Date;
  look(knownAmong: (ids: string[]) => Promise<ReadonlySet<string>>): AsyncIterable<ProcessEvent[]>;
}

export interface WebhooksOptions {
  pool: Pool;
  namespace: string;
  endpoints: readonly Endpoint[];
  looksFrom(where: { position: Date; floor: Date }): Looks;
  /** Of several relays one looks. */
  mayLook(): Promise<boolean>;
  lookMs: number;
  /** An endpoint's due deliveries are asked for so often. */
  sendMs?: number;
  logger: Logger;
}

interface Logger {
  info(message: string, details?: object): void;
  warn(message: string, details?: object): void;
}

export interface Webhooks {
  /** Finishes the attempts in progress. The look in progress is given up: its events are found again. */
  close(): Promise<void>;
}

/** Attempts at one endpoint at once. */
const PARALLEL = 4;
/** Longer than an attempt. */
const LEASE_MS = 60_000;
const SEND_MS = 2_000;
const FAULT_PAUSE_MS = 5_000;

export function startWebhooks(options: WebhooksOptions): Webhooks {
  const stop = new AbortController();
  const deliveries = new Deliveries(options.pool, options.namespace);
  const running = [
    repeat("events cannot be looked for", lookLoop(options, stop.signal), options.lookMs),
    ...options.endpoints.map((endpoint) =>
      repeat(
        "webhooks cannot be sent",
        sendLoop(deliveries, endpoint, options.logger, stop.signal),
        options.sendMs ?? SEND_MS,
      ),
    ),
  ];

  /** Does the work again and again. A problem is said once, until the work has gone well. */
  async function repeat(
    problem: string,
    work: () => Promise<void>,
    pauseMs: number,
  ): Promise<void> {
    let isFailing = false;
    while (!stop.signal.aborted) {
      const failure = await work().then(
        () => undefined,
        (error: unknown) => error ?? problem,
      );
      if (failure !== undefined && !isFailing)
        options.logger.warn(problem, {
          error: failure,
          code: (failure as { code?: unknown }).code,
        });
      isFailing = failure !== undefined;
      const pause = isFailing ? Math.max(pauseMs, FAULT_PAUSE_MS) : pauseMs;
      await delay(pause, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  }

  return {
    async close() {
      stop.abort();
      await Promise.all(running);
    },
  };
}

function lookLoop(
  { pool, namespace, endpoints, ...options }: WebhooksOptions,
  signal: AbortSignal,
) {
  const outbox = new Outbox(pool, namespace);
  let looks: Looks | undefined;
  return async () => {
    // Another relay may have looked meanwhile.
    if (!(await options.mayLook())) return void (looks = undefined);
    looks ??= options.looksFrom(await outbox.position());
    const found = looks.look((ids) => outbox.knownAmong(ids));
    for await (const events of untilAborted(signal, found))
      if (events.length > 0) await outbox.store(events, endpoints);
    await outbox.move(looks.position);
  };
}

/** Sends until nothing is due. */
function sendLoop(deliveries: Deliveries, endpoint: Endpoint, logger: Logger, stop: AbortSignal) {
  const claim = randomUUID();
  return async () => {
    const running = new Set<Promise<void>>();
    let failure: unknown;
    const begin = (due: Due) => {
      const task = attempt(deliveries, claim, endpoint, due, logger)
        .catch((error: unknown) => void (failure ??= error))
        .finally(() => running.delete(task));
      running.add(task);
    };
    try {
      while (!stop.aborted && failure === undefined) {
        const free = PARALLEL - running.size;
        for (const due of await deliveries.take(claim, endpoint.name, free, LEASE_MS)) begin(due);
        if (running.size === 0) return;
        await Promise.race(running);
      }
    } finally {
      await Promise.all(running);
    }
    if (failure !== undefined) throw failure;
  };
}

async function attempt(
  deliveries: Deliveries,
  claim: string,
  endpoint: Endpoint,
  due: Due,
  logger: Logger,
): Promise<void> {
  const { id, ...told } = due.event;
  const body = JSON.stringify(told);
  const at = new Date();
  const { url, keys, allowPrivate } = endpoint;
  const { retryAfterMs: askedMs = 0, ...posted } = await post({
    url,
    body,
    allowPrivate,
    headers: signedHeaders(keys, id, body, at),
  });
  const made = { at: at.toISOString(), ms: Date.now() - at.getTime(), ...posted };
  const { status = 0, problem } = posted;
  const tries = due.tries + 1;
  if (status >= 200 && status < 300)
    return deliveries.settle(claim, { id: due.id, tries: 0 }, made, "delivered");
  const pauseMs = pauseAfter(tries, { askedMs });
  await deliveries.settle(claim, { id: due.id, tries }, made, { pauseMs });
  const details = { step: endpoint.name, delivery: Number(due.id), tries, status, problem };
  if (pauseMs === undefined)
    logger.warn("a webhook has failed and is not sent again; see trustflow webhooks list", details);
  else if (tries === 1) logger.info("a webhook was not taken and is sent again", details);
}

// When a webhook is sent again that was not taken: soon at first, then over three days (the schedule that Standard Webhooks proposes).

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const pausesMs = [
  5_000,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];

/** The longest pause that an endpoint may ask for, so that the ten attempts end before retention removes the event. */
const LONGEST_ASKED_MS = 12 * HOUR;

/**
 * After so many failed attempts; undefined after the last one. `askedMs` is what the endpoint has asked for: it may make a pause longer, and
 * never shorter. Up to a tenth longer, so that not all come back at once.
 */
export function pauseAfter(
  tries: number,
  { askedMs = 0, random = Math.random() } = {},
): number | undefined {
  const planned = pausesMs[tries - 1];
  if (planned === undefined) return undefined;
  const pause = Math.max(planned, Math.min(askedMs, LONGEST_ASKED_MS));
  return Math.round(pause * (1 + random / 10));
}
