// The receiver: stores callbacks with a genuine address and a JSON body, and answers 2xx only after the commit
// (docs/design.md §7, P2 §6.4). It needs only PostgreSQL. If that is unavailable or the queue is full, it answers 503 at
// once.
import { once as happened } from "node:events";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { Server } from "node:net";
import Fastify from "fastify";
import type { FastifyReply } from "fastify";
import type { KeyRing } from "../../crypto/key-ring.js";
import type { Pool } from "../../postgres/pool.js";
import { AddressReader, callbackPath } from "../address.js";
import type { GenuineAddress } from "../address.js";
import { Arrivals } from "./arrivals.js";
import type { Arrival } from "./arrivals.js";
import { defaultQuota, AddressSlots, RefusedAddresses } from "../inbox/quota.js";
import type { Quota, Refused, Verdict } from "../inbox/quota.js";
import { batcher } from "../inbox/batcher.js";
import { identify } from "../inbox/body.js";

export const receiverEvents = [
  "accepted",
  "duplicate",
  "forged",
  "notJson",
  "tooLarge",
  "overloaded",
  "databaseAway",
  "full",
  "expired",
] as const;
export type ReceiverEvent = (typeof receiverEvents)[number];

export interface ReceiverOptions {
  pool: Pool;
  /** The callback keys. */
  ring: KeyRing;
  /** The public keys that bodies are sealed to. */
  sealRing: KeyRing;
  host: string;
  port: number;
  maxBodyBytes?: number;
  /** The largest body for an account's address, whose daily quota all processes of the account share. */
  maxAccountBodyBytes?: number;
  quota?: Quota;
  /** How many callbacks may wait for their commit; more are answered with 503 at once. */
  queueLimit?: number;
  /** How many bodies may be received at the same time, so that slow senders block neither memory nor other senders. */
  readLimit?: number;
  /** The time limit for the body of a request. */
  requestTimeoutMs?: number;
  databaseTimeoutMs?: number;
  /** Handles /health and /ready; returns false for any other request. */
  health?: (request: IncomingMessage, response: ServerResponse) => boolean;
  logger?: { warn(message: string, details?: object): void };
  onEvent?: (event: ReceiverEvent, count: number) => void;
  /** How long a callback waited for its commit. */
  onCommit?: (seconds: number) => void;
}

export interface Receiver {
  url: string;
  port: number;
  /** Callbacks that are being read or wait for their commit. */
  inFlight(): number;
  /** Stops the server; accepted requests are still answered. */
  close(): Promise<void>;
}

const RETRY_AFTER_SECONDS = "5";
const FULL_RETRY_AFTER_SECONDS = "3600";
const MAX_BATCH = 500;
// At shutdown, how long an idle connection stays open: its next request may be in transit.
const IDLE_AT_END_MS = 1_000;
// The backlog of new connections; with Node's default of 511, the sender's system would have to retry.
const BACKLOG = 4_096;

export async function startReceiver(options: ReceiverOptions): Promise<Receiver> {
  const { pool, ring, databaseTimeoutMs = 5_000 } = options;
  const { queueLimit = 256, readLimit = 1_000, maxAccountBodyBytes = 16_384 } = options;
  const requestTimeout = options.requestTimeoutMs ?? 10_000;
  const count = options.onEvent ?? (() => undefined);
  const quota = options.quota ?? defaultQuota;
  const lifeMs = quota.addressDays * 86_400_000;
  const inbox = new Arrivals(pool, options.sealRing, quota);
  const refused = new RefusedAddresses();
  const verdicts = new WeakMap<Arrival, Verdict>();
  // One address can use at most half of the places, so that a flood leaves room for the others.
  const places = new AddressSlots(queueLimit, 1 / 2);
  const batches = batcher<Arrival>(
    async (arrivals) => {
      const found = await inbox.insert(arrivals, databaseTimeoutMs);
      for (const [index, arrival] of arrivals.entries()) {
        const verdict = found[index] ?? "full";
        verdicts.set(arrival, verdict);
        if (verdict === "full" || verdict === "expired") refused.add(arrival.address, verdict);
        else count(verdict === "stored" ? "accepted" : "duplicate", 1);
      }
    },
    // The two batches hold a full queue, so that it empties even while a flood keeps the event loop busy (batcher.ts).
    { inFlight: 2, maxItems: Math.min(MAX_BATCH, Math.ceil(queueLimit / 2)) },
  );

  const app = Fastify({
    logger: false,
    bodyLimit: options.maxBodyBytes ?? 262_144,
    requestTimeout,
    connectionTimeout: 0,
    keepAliveTimeout: 60_000,
    routerOptions: { maxParamLength: 4_096 },
    http: {
      connectionsCheckingInterval: Math.min(1_000, requestTimeout),
      headersTimeout: requestTimeout,
    },
    forceCloseConnections: "idle",
  });
  // The body decides whether it is JSON, not the content type.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));

  app.addHook("onRequest", (request, reply, done) => {
    if (options.health?.(request.raw, reply.raw)) return void reply.hijack();
    if (!request.is404) return done();
    reply.code(404).header("connection", "close").send();
  });

  let reading = 0;
  // One address can use at most a quarter of the places for bodies in transit, so that slow senders leave room for the others.
  const readPlaces = new AddressSlots(readLimit, 1 / 4);
  const known = new WeakMap<object, GenuineAddress>();
  const addresses = new AddressReader(ring);
  app.post<{ Params: { segment: string }; Body: Buffer | null }>(
    `${callbackPath}:segment`,
    {
      // Checks the address before the body is read. (The limits were checked before Fastify.)
      onRequest(request, reply, done) {
        const address = addresses.read(request.params.segment);
        if (address === undefined) {
          count("forged", 1);
          return void reply.code(404).header("connection", "close").send();
        }
        const { issuedBefore } = address;
        const isExpired =
          issuedBefore !== undefined && issuedBefore.getTime() + lifeMs < Date.now();
        const verdict = isExpired ? "expired" : refused.verdictOn(address.address);
        if (verdict) return void refuseAddress(reply.header("connection", "close"), verdict);
        const leave = readPlaces.enter(address);
        if (!leave) return void refuse(reply.header("connection", "close"), "overloaded");
        known.set(request, address);
        reading += 1;
        // Each body is read to its end or cut, whichever comes first.
        const arrived = once(() => {
          reading -= 1;
          leave();
        });
        request.raw.once("end", arrived).once("close", arrived);
        done();
      },
    },
    async (request, reply) => {
      if (batches.pending >= queueLimit) return refuse(reply, "overloaded");
      const address = known.get(request);
      const isAccount = address !== undefined && "account" in address.subject;
      if (isAccount && (request.body?.length ?? 0) > maxAccountBodyBytes) {
        count("tooLarge", 1);
        return reply.code(413).send();
      }
      const identifier = identify(request.body);
      if (address === undefined || request.body === null || identifier === undefined) {
        count("notJson", 1);
        return reply.code(400).send({ error: "the body must be JSON" });
      }
      const arrival = { ...address, identifier, body: request.body };
      const leave = places.enter(address);
      if (!leave) return refuse(reply, "overloaded");
      const began = performance.now();
      try {
        await batches.add(arrival);
      } catch (error) {
        const { code } = error as { code?: unknown };
        options.logger?.warn("callbacks cannot be stored", { code });
        return refuse(reply, "databaseAway");
      } finally {
        leave();
      }
      options.onCommit?.((performance.now() - began) / 1_000);
      const verdict = verdicts.get(arrival);
      if (verdict === "full" || verdict === "expired") return refuseAddress(reply, verdict);
      return reply.code(204).send();
    },
  );

  app.setErrorHandler((error: { statusCode?: number }, _request, reply) => {
    const tooLarge = error.statusCode === 413;
    count(tooLarge ? "tooLarge" : "notJson", 1);
    return reply
      .code(tooLarge ? 413 : 400)
      .header("connection", "close")
      .send();
  });

  function refuse(reply: FastifyReply, event: ReceiverEvent): FastifyReply {
    count(event, 1);
    return reply.code(503).header("retry-after", RETRY_AFTER_SECONDS).send();
  }

  // Nothing was stored, so this is no acknowledgement: the provider retries for a limited time (P2 §6.5), and the process
  // polls anyway (docs/decisions/0020).
  function refuseAddress(reply: FastifyReply, verdict: Refused): FastifyReply {
    count(verdict, 1);
    if (verdict === "expired") return reply.code(410).send();
    return reply.code(429).header("retry-after", FULL_RETRY_AFTER_SECONDS).send();
  }

  // During a flood most requests are refused, so refusals bypass Fastify.
  const [handle] = app.server.listeners("request") as [RequestListener];
  let closing = false;
  app.server.off("request", handle).on("request", (request, response) => {
    // Open connections still get their answer, with `connection: close`.
    if (closing) response.setHeader("connection", "close");
    const isFull = batches.pending >= queueLimit || reading >= readLimit;
    if (!isFull || !request.url?.startsWith(callbackPath)) return handle(request, response);
    count("overloaded", 1);
    const headers = { "retry-after": RETRY_AFTER_SECONDS, "content-length": "0" };
    response.writeHead(503, headers).end();
  });

  const url = await app.listen({ host: options.host, port: options.port, backlog: BACKLOG });
  return {
    url,
    port: Number(new URL(url).port),
    inFlight: () => reading + batches.pending,
    async close() {
      closing = true;
      const closed = happened(app.server, "close");
      // Accepts no new connection. HTTP's own `close` would cut idle connections at once, with a request that may be in
      // transit, and would stop the timeouts of incomplete requests.
      Server.prototype.close.call(app.server);
      const idleUntil = performance.now() + IDLE_AT_END_MS;
      const sweep = setInterval(() => {
        if (performance.now() > idleUntil) app.server.closeIdleConnections();
      }, 20);
      await closed;
      clearInterval(sweep);
      await app.close();
      await batches.drained();
    },
  };
}

function once(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) work();
    isDone = true;
  };
}
