import { afterEach, beforeEach, expect, test } from "vitest";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Health, startHealth, startMetrics } from "../../src/roles/health.js";
import type { Endpoint } from "../../src/roles/health.js";

let isThere: () => unknown;
let looks: number;
let health: Health;
let server: Endpoint;
beforeEach(async () => {
  isThere = () => true;
  looks = 0;
  const needs = { always: () => true, sometimes: () => ((looks += 1), isThere()) };
  health = new Health({ needs, details: () => ({ queue: 3 }) });
  server = await startHealth({ host: "127.0.0.1", port: 0, health });
});

test("metrics are what the source says, and 500 where it cannot say", async () => {
  let metricsOf = async () => "one 1\n";
  const source = { contentType: "text/plain; version=0.0.4", metrics: () => metricsOf() };
  const metrics = await startMetrics({ host: "127.0.0.1", port: 0, source });
  const good = await fetch(`${metrics.url}/metrics`);
  expect(good.headers.get("content-type")).toBe(source.contentType);
  expect([good.status, await good.text()]).toEqual([200, "one 1\n"]);
  metricsOf = () => Promise.reject(new Error("away"));
  expect((await fetch(`${metrics.url}/metrics`)).status).toBe(500);
  expect((await fetch(`${metrics.url}/health`)).status).toBe(404);
  await metrics.close();
});
afterEach(() => server.close());

async function ask(path: string): Promise<[number, unknown]> {
  const response = await fetch(`${server.url}${path}`);
  return [response.status, await response.json()];
}

test.each([
  ["is false", () => false],
  ["rejects", () => Promise.reject(new Error("away"))],
  ["throws", () => raise()],
  ["does not answer", () => new Promise(() => undefined)],
])(
  "what %s is waited for: not ready, but alive; and ready once it is there",
  async (_, missing) => {
    expect(await ask("/ready")).toEqual([200, { ok: true, queue: 3 }]);
    isThere = missing;
    expect(await ask("/ready")).toEqual([503, { ok: false, waitingFor: ["sometimes"], queue: 3 }]);
    expect(await ask("/health")).toEqual([200, { ok: true }]);
    isThere = () => Promise.resolve({ rows: [] });
    expect((await ask("/ready"))[0]).toBe(200);
  },
);

test("a sentence of what is missing is shown as the reason", async () => {
  isThere = () => Promise.resolve("It was deleted.");
  const why = { sometimes: "It was deleted." };
  const missing = { ok: false, waitingFor: ["sometimes"], why };
  expect(await ask("/ready")).toEqual([503, { ...missing, queue: 3 }]);
  expect(await health.look()).toEqual(missing);
});

test("at the end it is not ready, though everything is there, and still alive", async () => {
  health.end();
  expect(await ask("/ready")).toEqual([503, { ok: false, waitingFor: ["shutdown"], queue: 3 }]);
  expect((await ask("/health"))[0]).toBe(200);
});

test("those who ask at once share one look", async () => {
  const statuses = Array.from({ length: 20 }, async () => {
    const status = new Promise((writeHead) => {
      const request = { method: "GET", url: "/ready" } as IncomingMessage;
      health.answer(request, { writeHead, end: () => undefined } as unknown as ServerResponse);
    });
    return status;
  });
  expect(new Set(await Promise.all(statuses))).toEqual(new Set([200]));
  expect(looks).toBe(1);
});

test("nothing else is there", async () => {
  expect((await ask("/other"))[0]).toBe(404);
  expect((await fetch(`${server.url}/health`, { method: "POST" })).status).toBe(404);
});

function raise(): never {
  throw new Error("away");
}
