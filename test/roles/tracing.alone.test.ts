// Alone, because OpenTelemetry has one of each thing in a process. When spans are exported, and what a collector that is away does to a role.
import { afterEach, expect, test, vi } from "vitest";
import { context, diag, propagation, trace } from "@opentelemetry/api";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { startTracing } from "../../src/roles/tracing.js";

const warn = vi.fn<(message: string) => void>();

afterEach(() => {
  for (const api of [trace, context, propagation, diag]) api.disable();
  vi.unstubAllEnvs();
  warn.mockReset();
});

async function startWith(env: Record<string, string>) {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  return startTracing("worker", { warn });
}

const span = () => trace.getTracer("test").startSpan("work");

/** Nobody listens there. */
const OTEL_EXPORTER_OTLP_ENDPOINT = "http://127.0.0.1:1";

test.each([
  [false, {}],
  [true, { OTEL_EXPORTER_OTLP_ENDPOINT }],
  [true, { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: OTEL_EXPORTER_OTLP_ENDPOINT }],
  [true, { OTEL_TRACES_EXPORTER: "otlp" }],
  [false, { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_EXPORTER: "none" }],
  [false, { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED: "true" }],
  [false, { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_SAMPLER: "always_off" }],
])("spans are recorded: %s, with %j", async (isOn, env) => {
  const tracing = await startWith(env);
  expect(span().isRecording()).toBe(isOn);
  await tracing.close();
});

test("the log says once that a collector is away, and none of OpenTelemetry's texts", async () => {
  const tracing = await startWith({
    OTEL_EXPORTER_OTLP_ENDPOINT,
    OTEL_EXPORTER_OTLP_TIMEOUT: "100",
    OTEL_BSP_SCHEDULE_DELAY: "1",
  });
  span().end();
  await vi.waitFor(() => expect(warn).toHaveBeenCalled(), { timeout: 15_000 });
  diag.error("another problem");
  await tracing.close();
  expect(warn.mock.calls).toEqual([
    ["OpenTelemetry has a problem, and spans may be lost; this is said once"],
  ]);
}, 30_000);

test("a collector that does not answer does not hold up the end of a role", async () => {
  const silent = createServer(() => undefined).listen(0, "127.0.0.1");
  await once(silent, "listening");
  const { port } = silent.address() as AddressInfo;
  // Longer than this test may last.
  const tracing = await startWith({
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    OTEL_EXPORTER_OTLP_TIMEOUT: "120000",
    OTEL_BSP_EXPORT_TIMEOUT: "120000",
  });
  span().end();
  await tracing.close();
  silent.close();
  silent.closeAllConnections();
}, 20_000);
