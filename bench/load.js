// Callbacks as fast as they are taken: plain sockets and no HTTP library, so that the load costs little beside what it
// measures. Closed loop: each connection sends again when it is answered. With `pauseMs`: after a 503 only
// when that has passed. With `rate`: so many a second over all connections, whatever becomes of them, as far as a connection
// is free.
// node load.js '{ "url", "paths": […], "connections", "seconds", "pauseMs"?, "rate"? }'
import net from "node:net";
import { randomUUID } from "node:crypto";
import { onAnswers } from "./callbacks.js";

/** @type {{ url: string, paths: string[], connections: number, seconds: number, pauseMs?: number, rate?: number }} */
const { url, paths, connections, seconds, pauseMs = 0, rate } = JSON.parse(process.argv[2] ?? "{}");
const { hostname, port } = new URL(url);
const prefix = randomUUID().slice(0, 24);
let sequence = 0;

function request() {
  sequence += 1;
  const body = `{"Identifier":"${prefix}${String(sequence).padStart(12, "0")}","Kind":"Sent","Date":"2026-03-02T09:15:27Z","EvidenceId":"0c9f1a52-6f0b-4d0e-9c3a-2f1b7a8e4d10","EvidenceType":"eviPost","EvidenceState":null,"Site":"Bench","Owner":"bench","OwnerEmail":"bench@sandbox.invalid","AdditionalData":{"Sender":"Bench","Recipient":"A recipient","LookupKey":"bench","State":"Sent","CreationDate":"2026-03-02T09:15:27Z"}}`;
  const path = paths[sequence % paths.length];
  return `POST ${path} HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

/** @type {Record<"accepted" | "refused", number[]>} latencies by what the answer was */
const latencies = { accepted: [], refused: [] };
let other = 0;
let measuring = false;
let stopped = false;
/** @type {Set<Sender>} */
const free = new Set();

class Sender {
  #sentAt = 0;
  #socket = net.connect({ host: hostname, port: Number(port), noDelay: true });
  /** @type {Promise<void>} */
  connected = new Promise((resolve, reject) => {
    this.#socket.once("connect", resolve);
    this.#socket.once("error", reject);
  });

  constructor() {
    this.#socket.on("error", () => this.#lost());
    this.#socket.on("close", () => this.#lost());
    onAnswers(this.#socket, (status) => this.#answered(status));
  }

  send() {
    if (stopped) return;
    this.#sentAt = performance.now();
    this.#socket.write(request());
  }

  end() {
    this.#socket.destroy();
  }

  /** @param {string} status */
  #answered(status) {
    if (measuring) {
      const took = performance.now() - this.#sentAt;
      if (status === "204") latencies.accepted.push(took);
      else if (status === "503") latencies.refused.push(took);
      else other += 1;
    }
    if (stopped) return;
    if (rate !== undefined) free.add(this);
    else if (status === "503" && pauseMs > 0) setTimeout(() => this.send(), pauseMs);
    else this.send();
  }

  #lost() {
    if (!stopped) other += 1;
    free.delete(this);
  }
}

const senders = Array.from({ length: connections }, () => new Sender());
await Promise.all(senders.map(({ connected }) => connected));
let offered = 0;
let unsent = 0;
/** @type {NodeJS.Timeout | undefined} */
let pacing;
if (rate === undefined) {
  for (const sender of senders) sender.send();
} else {
  for (const sender of senders) free.add(sender);
  let due = 0;
  let before = performance.now();
  pacing = setInterval(() => {
    const now = performance.now();
    due += ((now - before) * rate) / 1_000;
    before = now;
    for (; due >= 1; due -= 1) {
      const [sender] = free;
      offered += 1;
      if (sender === undefined) {
        unsent += 1;
        continue;
      }
      free.delete(sender);
      sender.send();
    }
  }, 2);
}

const warmUpMs = Math.min(1_000, seconds * 250);
setTimeout(() => {
  measuring = true;
  offered = 0;
  unsent = 0;
  const startedAt = performance.now();
  setTimeout(() => {
    stopped = true;
    measuring = false;
    clearInterval(pacing);
    const took = (performance.now() - startedAt) / 1_000;
    for (const sender of senders) sender.end();
    console.log(
      JSON.stringify({
        seconds: took,
        accepted: summary(latencies.accepted),
        refused: summary(latencies.refused),
        other,
        offered,
        unsent,
      }),
    );
  }, seconds * 1_000);
}, warmUpMs);

/** @param {number[]} values */
function summary(values) {
  const sorted = values.toSorted((a, b) => a - b);
  /** @param {number} share */
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { count: sorted.length, p50: at(0.5), p99: at(0.99) };
}
