import { expect, test } from "@jest/globals";
import { startHealth } from "../src/health.js";

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
