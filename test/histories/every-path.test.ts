import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { sendPostalPaths } from "../support/history-paths.js";
import { startPathStack } from "../support/history-stack.js";
import type { PathStack } from "../support/history-stack.js";

let stack: PathStack;
let walked: Map<string, PromiseSettledResult<void>>;
beforeAll(async () => {
  console.time("start");
  stack = await startPathStack(sendPostalPaths, "secret", { env: { TRUSTFLOW_WORKER__CACHED_PROCESSES: process.env["CACHED"] ?? "0" } });
  console.timeEnd("start");
  console.time("walk");
  walked = await stack.walkAll();
  console.timeEnd("walk");
}, 180_000);
afterAll(() => stack?.system.close(), 60_000);

test.each(Object.keys(sendPostalPaths.paths))("%s", (name) => {
  const r = walked.get(name);
  if (r?.status === "rejected") throw r.reason;
  expect(r?.status).toBe("fulfilled");
});
