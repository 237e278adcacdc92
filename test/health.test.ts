import { expect, test } from "@jest/globals";
import { startHealth, startMetrics } from "../src/health.js";

test("health is 200 or 503 by what the role says, and nothing else is there", async () => {
  let ok = true;
  const health = await startHealth({ host: "127.0.0.1", port: 0, check: () => ({ ok, queue: 3 }) });
  const ask = async (path: string) => {
    const response = await fetch(`${health.url}${path}`);
    return [response.status, await response.json()];
  };
  expect(await ask("/health")).toEqual([200, { ok: true, queue: 3 }]);
  ok = false;
  expect(await ask("/health")).toEqual([503, { ok: false, queue: 3 }]);
  expect((await ask("/other"))[0]).toBe(404);
  await health.close();
});

test("metrics are what the source says, and 500 where it cannot say", async () => {
  let text = Promise.resolve("one 1\n");
  const source = { contentType: "text/plain; version=0.0.4", metrics: () => text };
  const metrics = await startMetrics({ host: "127.0.0.1", port: 0, source });
  const good = await fetch(`${metrics.url}/metrics`);
  expect(good.headers.get("content-type")).toBe(source.contentType);
  expect([good.status, await good.text()]).toEqual([200, "one 1\n"]);
  text = Promise.reject(new Error("away"));
  expect((await fetch(`${metrics.url}/metrics`)).status).toBe(500);
  expect((await fetch(`${metrics.url}/health`)).status).toBe(404);
  await metrics.close();
});
