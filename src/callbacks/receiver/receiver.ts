// The receiver over HTTP: stores callbacks with a genuine address and a JSON body, and answers 2xx only after the commit
// (docs/design.md §7, P2 §6.4). It needs only PostgreSQL. If that is unavailable or the queue is full, it answers 503 at
// once. What a callback is answered, admission.ts decides.
import { once } from "node:events";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { Server } from "node:net";
import Fastify from "fastify";
import type { FastifyInstance, FastifyReply } from "fastify";
import { defaultQuota } from "../../contracts/shared/callback-quota.js";
import type { Quota } from "../../contracts/shared/callback-quota.js";
import type { KeyRing } from "../../crypto/key-ring.js";
import type { Pool } from "../../postgres/pool.js";
import { callbackPath } from "../address.js";
import type { GenuineAddress } from "../address.js";
import { batcher } from "../inbox/batcher.js";
import { Admission } from "./admission.js";
import type { AdmissionLimits, Arrival, ReceiverEvent, StoreResult } from "./admission.js";
import { Arrivals } from "./arrivals.js";

export interface ReceiverOptions extends Partial<Omit<AdmissionLimits, "addressDays">> {
  pool: Pool;
  /** The callback keys. */
  ring: KeyRing;
  /** The public keys that bodies are sealed to. */
  sealRing: KeyRing;
  host: string;
  port: number;
  maxBodyBytes?: number;
  quota?: Quota;
  /** The body of a request must have come by then. */
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

/**
 * A refused callback is not stored, so 429 and 410 are no acknowledgement: the provider retries for a limited time (P2 §6.5), and the
 * process polls anyway (docs/decisions/0020).
 */
const answers: Record<ReceiverEvent, { status: number; retryAfterSeconds?: string }> = {
  accepted: { status: 204 },
  duplicate: { status: 204 },
  forged: { status: 404 },
  notJson: { status: 400 },
  tooLarge: { status: 413 },
  overloaded: { status: 503, retryAfterSeconds: "5" },
  databaseAway: { status: 503, retryAfterSeconds: "5" },
  full: { status: 429, retryAfterSeconds: "3600" },
  expired: { status: 410 },
};

const MAX_BATCH = 500;
// At shutdown, how long an idle connection stays open: its next request may be in transit.
const IDLE_AT_END_MS = 1_000;
// So many new connections wait; with Node's default of 511, the sender's system would have to retry.
const BACKLOG = 4_096;

export async function startReceiver(options: ReceiverOptions): Promise<Receiver> {
  const { quota = defaultQuota, queueLimit = 256, readLimit = 1_000 } = options;
  const { maxAccountBodyBytes = 16_384, databaseTimeoutMs = 5_000 } = options;
  const limits = { addressDays: quota.addressDays, maxAccountBodyBytes, queueLimit, readLimit };
  const admission = new Admission(options.ring, limits);
  const arrivals = new Arrivals(options.pool, options.sealRing, quota);
  const commits = batcher<Arrival, StoreResult>(
    (some) => arrivals.insert(some, databaseTimeoutMs),
    // The two batches hold a full queue, so that it empties even while a flood keeps the event loop busy (batcher.ts).
    { inFlight: 2, maxItems: Math.min(MAX_BATCH, Math.ceil(queueLimit / 2)) },
  );

  async function commit(arrival: Arrival): Promise<ReceiverEvent> {
    const began = performance.now();
    try {
      const result = await commits.add(arrival);
      options.onCommit?.((performance.now() - began) / 1_000);
      return admission.byStoreResult(arrival, result);
    } catch (error) {
      const { code } = error as { code?: unknown };
      options.logger?.warn("callbacks cannot be stored", { code });
      return "databaseAway";
    }
  }

  const app = serverOf(options);
  receiveCallbacks(app, admission, commit, options.onEvent);
  const shedding = shedBeforeFastify(app, admission, options.onEvent);
  const url = await app.listen({ host: options.host, port: options.port, backlog: BACKLOG });
  return {
    url,
    port: Number(new URL(url).port),
    inFlight: () => admission.inFlight,
    async close() {
      shedding.isClosing = true;
      await endConnections(app);
      await app.close();
      await commits.drained();
    },
  };
}

function serverOf(options: ReceiverOptions): FastifyInstance {
  const { maxBodyBytes = 262_144, requestTimeoutMs: requestTimeout = 10_000, health } = options;
  const app = Fastify({
    bodyLimit: maxBodyBytes,
    requestTimeout,
    keepAliveTimeout: 60_000,
    routerOptions: { maxParamLength: 4_096 },
    http: {
      connectionsCheckingInterval: Math.min(1_000, requestTimeout),
      headersTimeout: requestTimeout,
    },
  });
  // The body decides whether it is JSON, not the content type, whose spelling Fastify would judge.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
  app.addHook("onRequest", (request, reply, done) => {
    delete request.raw.headers["content-type"];
    if (health?.(request.raw, reply.raw)) return void reply.hijack();
    if (!request.is404) return done();
    reply.code(404).header("connection", "close").send();
  });
  return app;
}

function receiveCallbacks(
  app: FastifyInstance,
  admission: Admission,
  commit: (arrival: Arrival) => Promise<ReceiverEvent>,
  onEvent: ReceiverOptions["onEvent"],
): void {
  function answer(reply: FastifyReply, event: ReceiverEvent, body?: object): FastifyReply {
    onEvent?.(event, 1);
    const { status, retryAfterSeconds } = answers[event];
    if (retryAfterSeconds !== undefined) reply.header("retry-after", retryAfterSeconds);
    return reply.code(status).send(body);
  }

  const known = new WeakMap<object, GenuineAddress>();
  app.post<{ Params: { segment: string }; Body: Buffer | null }>(
    `${callbackPath}:segment`,
    {
      onRequest(request, reply, done) {
        const found = admission.byAddress(request.params.segment);
        if (typeof found === "string")
          return void answer(reply.header("connection", "close"), found);
        known.set(request, found.admitted);
        // The body has been read to its end, or was cut.
        request.raw.once("close", found.leave);
        done();
      },
    },
    async (request, reply) => {
      const found = admission.byBody(known.get(request) as GenuineAddress, request.body);
      if (found === "notJson") return answer(reply, found, { error: "the body must be JSON" });
      if (typeof found === "string") return answer(reply, found);
      const event = await commit(found.admitted).finally(found.leave);
      return answer(reply, event);
    },
  );

  app.setErrorHandler((error: { statusCode?: number }, _request, reply) =>
    answer(reply.header("connection", "close"), error.statusCode === 413 ? "tooLarge" : "notJson"),
  );
}

/** During a flood most requests are refused, so refusals bypass Fastify. */
function shedBeforeFastify(
  { server }: FastifyInstance,
  admission: Admission,
  onEvent: ReceiverOptions["onEvent"],
): { isClosing: boolean } {
  const state = { isClosing: false };
  const [handle] = server.listeners("request") as [RequestListener];
  server.off("request", handle).on("request", (request, response) => {
    // Open connections still get their answer, with `connection: close`.
    if (state.isClosing) response.setHeader("connection", "close");
    if (!admission.isFull || !request.url?.startsWith(callbackPath))
      return handle(request, response);
    onEvent?.("overloaded", 1);
    const { status, retryAfterSeconds } = answers.overloaded;
    response.writeHead(status, { "retry-after": retryAfterSeconds, "content-length": "0" }).end();
  });
  return state;
}

/**
 * Accepts no new connection. HTTP's own `close` would cut idle connections at once, with a request that may be in transit, and would
 * stop the timeouts of incomplete requests.
 */
async function endConnections({ server }: FastifyInstance): Promise<void> {
  const closed = once(server, "close");
  Server.prototype.close.call(server);
  const idleUntil = performance.now() + IDLE_AT_END_MS;
  const sweep = setInterval(() => {
    if (performance.now() > idleUntil) server.closeIdleConnections();
  }, 20);
  await closed;
  clearInterval(sweep);
}
