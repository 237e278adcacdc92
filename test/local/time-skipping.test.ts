// The test server that the tests of long waits use.
import { expect, test } from "@jest/globals";
import { TestWorkflowEnvironment } from "@temporalio/testing";
import { findTestServer } from "../../src/local/time-skipping.js";

test("sixty days pass at once", async () => {
  const env = await TestWorkflowEnvironment.createTimeSkipping({
    server: { executable: { type: "existing-path", path: await findTestServer() } },
  });
  try {
    const before = await env.currentTimeMs();
    await env.sleep("60 days");
    const days = ((await env.currentTimeMs()) - before) / 86_400_000;
    expect(Math.round(days)).toBe(60);
  } finally {
    await env.teardown();
  }
});
