// The provider for both sides: the few answers of EviPost that a good letter needs (P2 §2.5, §2.11, §4.1), as cheap as
// possible, in a process of its own; when callbacks leave is the bench's word, not a virtual clock's.
// node provider.js '{ "port" }'
import { randomUUID } from "node:crypto";
import http from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { callbackBody } from "./callbacks.js";

/**
 * burst: all callbacks of a letter at once; spaced: each `gapMs` after the one before; hold: none before they are released.
 * `spreadMs`: those of a letter begin at a random time of so long. `host`: they go there, again and again until they are accepted.
 * @typedef {{ mode: "burst" | "spaced" | "hold", firstMs: number, gapMs: number, times: number, spreadMs?: number, host?: string }} Plan
 * @typedef {{ evidenceId: string, lookupKey: string, state: string, outcome?: string, url: string, extraData?: string, closedAt?: number }} Item
 */

const kinds = ["Processed", "Dispatched", "Sent", "Delivered", "Closed"];
const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
/** @type {Plan} */
let plan = { mode: "hold", firstMs: 0, gapMs: 0, times: 1 };
/** @type {Map<string, Item>} */
const items = new Map();
/** @type {Map<string, Item>} */
const byToken = new Map();
/** @type {Map<string, number>} letters by what the caller calls them */
const letters = new Map();
/** @type {Item[]} */
let held = [];
let markedAt = 0;
/** @type {number | undefined} */
let firstQueryMs;
let refused = 0;
/** @type {number[]} since the mark: how long after its last callback was first posted each letter was asked for */
let confirmMs = [];
const AGAIN_MS = 200;

/** @type {Record<string, (input: any, request: http.IncomingMessage, url: URL) => object>} */
const routes = {
  "POST /v1/EviPost/Submit": (input, request) => {
    const token = String(request.headers["x-evi-idempotencytoken"]);
    const known = byToken.get(token);
    if (known) return { uniqueId: known.evidenceId };
    const { PushNotificationUrl: url, PushNotificationExtraData: extraData } = input.Options;
    const evidenceId = randomUUID();
    const item = { evidenceId, lookupKey: input.LookupKey, state: "Submitted", url, extraData };
    items.set(evidenceId, item);
    byToken.set(token, item);
    letters.set(item.lookupKey, (letters.get(item.lookupKey) ?? 0) + 1);
    if (plan.mode === "hold") held.push(item);
    else void callBack(item, plan);
    return { uniqueId: evidenceId };
  },
  "GET /v1/EviPost/Query": (_input, _request, url) => {
    firstQueryMs ??= Date.now() - markedAt;
    const item = items.get(url.searchParams.get("WithUniqueIds") ?? "");
    if (item?.closedAt !== undefined) {
      confirmMs.push(Date.now() - item.closedAt);
      delete item.closedAt;
    }
    const { url: _url, extraData: _extraData, closedAt: _closedAt, ...shown } = item ?? {};
    const at = new Date().toISOString();
    const results = item ? [{ ...shown, stateDate: at, creationDate: at, affidavits: [] }] : [];
    return { results, totalMatches: results.length };
  },
  "PUT /_plan": (input) => (plan = input),
  "POST /_release": (input) => {
    const released = held;
    held = [];
    for (const item of released) void callBack(item, { ...plan, ...input });
    return { released: released.length };
  },
  "POST /_mark": () => {
    markedAt = Date.now();
    firstQueryMs = undefined;
    confirmMs = [];
    return {};
  },
  "GET /_report": () => ({
    letters: items.size,
    double: [...letters.values()].filter((number) => number > 1).length,
    firstQueryMs,
    refused,
    confirmMs,
  }),
};

/**
 * @param {Item} item
 * @param {Plan} plan
 */
async function callBack(item, { mode, firstMs, gapMs, times, spreadMs = 0, host }) {
  await delay(firstMs + Math.random() * spreadMs);
  const to = new URL(item.url);
  if (host) to.host = host;
  if (mode === "burst") item.state = "Closed";
  for (const kind of kinds) {
    if (mode === "spaced") item.state = kind;
    if (kind === "Closed") {
      item.outcome = "Delivered";
      item.closedAt = Date.now();
    }
    const body = callbackBody({ ...item, evidenceType: "eviPost" }, kind);
    const posts = Array.from({ length: times }, async () => {
      while (!(await post(to, body)) && host) await delay(AGAIN_MS);
    });
    if (mode === "spaced") await Promise.all([...posts, delay(gapMs)]);
  }
}

/**
 * @param {URL} url
 * @param {string} body
 * @returns {Promise<boolean>} whether it is accepted
 */
function post(url, body) {
  return new Promise((resolve) => {
    const headers = {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
    };
    const request = http.request(url, { method: "POST", agent, headers }, (answer) => {
      const isAccepted = (answer.statusCode ?? 500) < 300;
      if (!isAccepted) refused += 1;
      answer.resume().once("close", () => resolve(isAccepted));
    });
    request.once("error", () => {
      refused += 1;
      resolve(false);
    });
    request.end(body);
  });
}

const { port } = JSON.parse(process.argv[2] ?? "{}");
const server = http.createServer((request, response) => void answer(request, response));

/**
 * @param {http.IncomingMessage} request
 * @param {http.ServerResponse} response
 */
async function answer(request, response) {
  const url = new URL(request.url ?? "/", "http://provider");
  const chunks = await request.toArray();
  const text = Buffer.concat(chunks).toString();
  const route = routes[`${request.method} ${url.pathname}`];
  const result = route?.(text === "" ? {} : JSON.parse(text), request, url);
  response.writeHead(result ? 200 : 404, { "content-type": "application/json" });
  response.end(JSON.stringify(result ?? {}));
}
server.keepAliveTimeout = 60_000;
server.listen(port ?? 0, "127.0.0.1", () => {
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  console.log(JSON.stringify({ ready: "provider", url: `http://127.0.0.1:${address.port}` }));
});
