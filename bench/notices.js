// The provider of `bench/measures/batch.ts`: the few answers of EviNotice that a good notice and a good batch need (P2 §2.6–2.12,
// §4.2, §4.3), as cheap as possible, in a process of its own. Each recipient reads its notice. A batch takes a list with
// the columns address, legalname and lookupkey, without quotes.
// node notices.js '{ "port", "perSecond", "connections", "spacedMs" }'
import { randomUUID } from "node:crypto";
import http from "node:http";
import net from "node:net";
import { callbackBody, onAnswers } from "./callbacks.js";

/**
 * @typedef {{ id: string, address: string, lookupKey: string, kind?: string }} Notice
 * @typedef {{ url: string, extraData?: string, filter?: string[] }} Reporting
 * @typedef {{ id: string, description: string, state: string, settings: Record<string, any>, recipients: Notice[], sent: number }} Batch
 */

/** The order in which a notice reports them; the filter of the submission or of the batch says which. */
const kinds = ["Sent", "Delivered", "Read", "Closed"];
const TICK_MS = 100;
const REFUSED_PAUSE_MS = 200;
/** An answer without content. */
const EMPTY = {};

const {
  port,
  perSecond = 20_000,
  connections = 64,
  spacedMs = 1_000,
} = JSON.parse(process.argv[2] ?? "{}");

/** @type {Map<string, Batch>} */
const batches = new Map();
/** @type {Map<string, Notice>} */
const notices = new Map();
/** @type {Map<string, Notice>} by each part of the lookup key */
const byKey = new Map();
/** @type {Map<string, string>} */
const byToken = new Map();
/** @type {Map<string, number>} the time of each submission of a single notice, by each part of its lookup key */
const submittedAt = new Map();

/** What is still to be posted: notices of which each kind is reported, all of one kind before those of the next one. */
class Queue {
  /** @type {{ notices: Notice[], reporting: Reporting, kinds: string[], last: string }[]} */
  #waiting = [];
  /** @type {{ body: string, url: string }[]} */
  #again = [];
  #place = 0;
  #kind = 0;
  posted = 0;
  accepted = 0;
  refused = 0;
  /** @type {number | undefined} */
  startedAt;
  lastAt = 0;

  /** @param {Notice[]} some @param {Reporting} reporting @param {string} [only] */
  add(some, reporting, only) {
    const { url, filter } = reporting;
    const wanted = kinds.filter((kind) => !filter || filter.includes(kind));
    const last = wanted.at(-1);
    if (!url || last === undefined) for (const notice of some) notice.kind = "Closed";
    else this.#waiting.push({ notices: some, reporting, kinds: only ? [only] : wanted, last });
    for (const sender of senders) sender.wake();
  }

  /** @returns {{ body: string, url: string } | undefined} */
  next() {
    const again = this.#again.pop();
    if (again) return again;
    const [first] = this.#waiting;
    if (!first) return undefined;
    const notice = /** @type {Notice} */ (first.notices[this.#place]);
    const kind = /** @type {string} */ (first.kinds[this.#kind]);
    notice.kind = kind === first.last ? "Closed" : kind;
    this.#place += 1;
    if (this.#place === first.notices.length) {
      this.#place = 0;
      this.#kind += 1;
      if (this.#kind === first.kinds.length) {
        this.#kind = 0;
        this.#waiting.shift();
      }
    }
    this.startedAt ??= performance.now();
    this.posted += 1;
    return {
      url: first.reporting.url,
      body: callbackBody(
        {
          evidenceId: notice.id,
          evidenceType: "eviNotice",
          lookupKey: notice.lookupKey,
          extraData: first.reporting.extraData,
          outcome: "Read",
        },
        kind,
      ),
    };
  }

  /** @param {{ body: string, url: string }} job @param {boolean} isAccepted */
  done(job, isAccepted) {
    this.lastAt = performance.now();
    if (isAccepted) this.accepted += 1;
    else {
      this.refused += 1;
      this.#again.push(job);
    }
  }

  report() {
    const { posted, accepted, refused, startedAt = 0, lastAt } = this;
    return { posted, accepted, refused, seconds: (lastAt - startedAt) / 1_000 };
  }
}

/** A connection that posts one callback after the other: plain sockets, as an HTTP library costs more than what is measured. */
class Sender {
  /** @type {net.Socket | undefined} */
  #socket;
  /** @type {URL | undefined} */
  #target;
  /** @type {{ body: string, url: string } | undefined} */
  #job;

  wake() {
    if (this.#job) return;
    this.#job = queue.next();
    if (this.#job) this.#send(this.#job);
  }

  /** @param {{ body: string, url: string }} job */
  #send({ url, body }) {
    if (url !== this.#target?.href) this.#target = new URL(url);
    const { hostname, port: to, pathname } = this.#target;
    this.#socket ??= this.#connect(hostname, Number(to));
    this.#socket.write(
      `POST ${pathname} HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
  }

  /** @param {string} host @param {number} to */
  #connect(host, to) {
    const socket = net.connect({ host, port: to, noDelay: true });
    socket.on("error", () => undefined);
    socket.on("close", () => {
      this.#socket = undefined;
      if (this.#job) this.#answered(false);
    });
    onAnswers(socket, (status) => this.#answered(status === "204"));
    return socket;
  }

  /** @param {boolean} isAccepted */
  #answered(isAccepted) {
    const job = this.#job;
    if (job) queue.done(job, isAccepted);
    if (isAccepted) {
      this.#job = undefined;
      this.wake();
    } else
      setTimeout(() => {
        this.#job = undefined;
        this.wake();
      }, REFUSED_PAUSE_MS);
  }
}

let queue = new Queue();
const senders = Array.from({ length: connections }, () => new Sender());

/** @param {string} address @param {string} lookupKey @returns {Notice} */
function newNotice(address, lookupKey) {
  const notice = { id: randomUUID(), address, lookupKey };
  notices.set(notice.id, notice);
  byKey.set(lookupKey, notice);
  const parts = lookupKey.split("::");
  if (parts.length > 1) for (const part of parts) byKey.set(part, notice);
  return notice;
}

/** @param {Notice} notice */
function shown({ id, lookupKey, kind }) {
  const isClosed = kind === "Closed";
  return {
    Id: id,
    State: kind ?? "Submitted",
    Outcome: isClosed ? "Read" : "None",
    LookupKey: lookupKey,
    Affidavits: [],
    Attachments: [],
  };
}

/** @param {Batch} batch */
function shownBatch({ id, description, state, settings, recipients, sent }) {
  const size = recipients.length;
  return {
    ...settings,
    BatchId: id,
    Description: description,
    State: state,
    SentCount: sent,
    FailedCount: 0,
    ProgressPercentage: size === 0 ? 0 : (100 * sent) / size,
  };
}

/** @param {any} settings @returns {Reporting} */
function reportingOf(settings) {
  return {
    url: settings.PushNotificationUrl,
    extraData: settings.PushNotificationExtraData,
    filter: settings.PushNotificationFilter,
  };
}

/** Each state some time after the one before, as in life. @param {Notice} notice @param {Reporting} reporting */
function reportSpaced(notice, reporting) {
  const { filter = kinds } = reporting;
  for (const [place, kind] of kinds.filter((one) => filter.includes(one)).entries())
    setTimeout(() => queue.add([notice], reporting, kind), place * spacedMs);
}

/** @param {Batch} batch */
function run(batch) {
  batch.state = "Processing";
  const some = batch.recipients.slice(batch.sent, batch.sent + (perSecond * TICK_MS) / 1_000);
  for (const recipient of some) {
    const notice = newNotice(recipient.address, recipient.lookupKey);
    recipient.id = notice.id;
  }
  const made = some.map(({ id }) => /** @type {Notice} */ (notices.get(id)));
  queue.add(made, reportingOf(batch.settings));
  batch.sent += some.length;
  if (batch.sent < batch.recipients.length) setTimeout(() => run(batch), TICK_MS);
  else batch.state = "Processed";
}

/** @param {string} csv @returns {Notice[]} */
function recipientsOf(csv) {
  const [header = "", ...rows] = csv.split(/\r?\n/);
  const columns = header.split(";");
  const [address, key] = [columns.indexOf("address"), columns.indexOf("lookupkey")];
  return rows
    .filter((row) => row !== "")
    .map((row) => {
      const fields = row.split(";");
      return { id: "", address: fields[address] ?? "", lookupKey: fields[key] ?? "" };
    });
}

/** @type {[RegExp, (found: string[], body: string, request: http.IncomingMessage) => object | undefined][]} */
const routes = [
  [
    /^POST \/v2\/EviNotice\/Submit$/,
    (_, body, request) => {
      const token = String(request.headers["x-evi-idempotencytoken"]);
      const input = JSON.parse(body);
      const known = byToken.get(token);
      if (known) return { Id: known };
      const notice = newNotice(input.RecipientAddress, input.LookupKey ?? token);
      for (const part of notice.lookupKey.split("::")) submittedAt.set(part, Date.now());
      byToken.set(token, notice.id);
      reportSpaced(notice, reportingOf(input));
      return { Id: notice.id };
    },
  ],
  [
    /^POST \/v2\/EviNotice\/Query$/,
    (_, body) => {
      const { LookupKeys = [] } = JSON.parse(body);
      const found = LookupKeys.map((/** @type {string} */ key) => byKey.get(key)).filter(Boolean);
      return { Cursor: null, Results: found.map(shown) };
    },
  ],
  [
    /^POST \/v2\/EviNotice\/Batches$/,
    (_, body) => {
      const { Description: description } = JSON.parse(body);
      const id = randomUUID();
      batches.set(id, { id, description, state: "Draft", settings: {}, recipients: [], sent: 0 });
      return { BatchId: id };
    },
  ],
  [
    /^QUERY \/v2\/EviNotice\/Batches$/,
    () => ({ Cursor: null, HasMoreResults: false, Results: [...batches.values()].map(shownBatch) }),
  ],
  [/^GET \/v2\/EviNotice\/Batches\/([^/]+)\/Attachments$/, () => []],
  [/^PUT \/v2\/EviNotice\/Batches\/([^/]+)\/Body$/, () => ({})],
  [
    /^POST \/v2\/EviNotice\/Batches\/([^/]+)\/Recipients$/,
    ([id = ""], body) => {
      const batch = batches.get(id);
      if (batch) batch.recipients = recipientsOf(body);
      return batch && EMPTY;
    },
  ],
  [
    /^DELETE \/v2\/EviNotice\/Batches\/([^/]+)\/Recipients$/,
    ([id = ""]) => {
      const batch = batches.get(id);
      if (batch) batch.recipients = [];
      return batch && EMPTY;
    },
  ],
  [
    /^QUERY \/v2\/EviNotice\/Batches\/([^/]+)\/Recipients$/,
    ([id = ""], body) => {
      const { Cursor = "0", Limit = 1_000 } = JSON.parse(body === "" ? "{}" : body);
      const { recipients = [] } = batches.get(id) ?? {};
      const start = Number(Cursor ?? 0);
      const end = start + Limit;
      return {
        Cursor: end < recipients.length ? String(end) : null,
        Results: recipients.slice(start, end).map((one) => ({
          Address: one.address,
          LookupKey: one.lookupKey,
          EvidenceUniqueId: one.id === "" ? null : one.id,
        })),
      };
    },
  ],
  [
    /^GET \/v2\/EviNotice\/Batches\/([^/]+)$/,
    ([id = ""]) => {
      const batch = batches.get(id);
      return batch && shownBatch(batch);
    },
  ],
  [
    /^PATCH \/v2\/EviNotice\/Batches\/([^/]+)$/,
    ([id = ""], body) => {
      const batch = batches.get(id);
      if (!batch) return undefined;
      const { State, ScheduledDate: _, ...settings } = JSON.parse(body);
      Object.assign(batch.settings, settings);
      if (State === "Submitted" && batch.state === "Draft") setTimeout(() => run(batch), TICK_MS);
      if (State === "Submitted") batch.state = "Submitted";
      return {};
    },
  ],
  [
    /^GET \/v2\/EviNotice\/([^/]+)$/,
    ([id = ""]) => {
      const notice = notices.get(id);
      return notice && shown(notice);
    },
  ],
  [
    /^POST \/_callbacks$/,
    (_, body) => {
      const { number, ...reporting } = JSON.parse(body);
      const some = Array.from({ length: number }, (_one, index) => ({
        id: randomUUID(),
        address: "",
        lookupKey: `bench-${index}`,
      }));
      queue.add(some, reporting);
      return {};
    },
  ],
  [/^GET \/_report$/, () => queue.report()],
  [/^GET \/_submitted\/([^/]+)$/, ([key = ""]) => ({ at: submittedAt.get(key) })],
  [
    /^POST \/_clear$/,
    () => {
      batches.clear();
      notices.clear();
      byKey.clear();
      byToken.clear();
      queue = new Queue();
      return {};
    },
  ],
];

const server = http.createServer((request, response) => void answer(request, response));

/**
 * @param {http.IncomingMessage} request
 * @param {http.ServerResponse} response
 */
async function answer(request, response) {
  const { pathname } = new URL(request.url ?? "/", "http://provider");
  const body = Buffer.concat(await request.toArray()).toString();
  const asked = `${request.method} ${pathname}`;
  /** @type {object | undefined} */
  let result;
  for (const [pattern, route] of routes) {
    const found = pattern.exec(asked);
    if (!found) continue;
    result = route(found.slice(1), body, request);
    break;
  }
  if (result === EMPTY) return response.writeHead(204).end();
  response.writeHead(result ? 200 : 404, { "content-type": "application/json" });
  return response.end(JSON.stringify(result ?? { Title: "not found" }));
}
server.keepAliveTimeout = 60_000;
server.listen(port ?? 0, "127.0.0.1", () => {
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  console.log(JSON.stringify({ ready: "provider", url: `http://127.0.0.1:${address.port}` }));
});
