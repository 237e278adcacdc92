// The test server that the tests of long waits use.
import { expect, test } from "@jest/globals";
import { startSkippingServer } from "../../../test/harness/outages/time.js";

test("sixty days pass at once", async () => {
  const env = await startSkippingServer();
  try {
    const before = await env.currentTimeMs();
    await env.sleep("60 days");
    const days = ((await env.currentTimeMs()) - before) / 86_400_000;
    expect(Math.round(days)).toBe(60);
  } finally {
    await env.teardown();
  }
});
