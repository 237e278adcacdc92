// Alone, because OpenTelemetry has one of each thing in a process. When spans are exported, what the span of a call shows, and what a
// collector that is away does to a role.
import { afterEach, expect, test, vi } from "vitest";
import { SpanKind, SpanStatusCode, context, diag, propagation, trace } from "@opentelemetry/api";
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-node";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exchange, inSpan } from "../../src/providers/http/exchange.js";
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

// First, because the tracer of exchange.ts knows only the first provider of spans.
test("a span shows the call and its status, and of an error its kind alone", async () => {
  const exporter = new InMemorySpanExporter();
  const processors = { spanProcessors: [new SimpleSpanProcessor(exporter)] };
  new NodeTracerProvider(processors).register();
  const provider = createServer((request, response) =>
    response.writeHead(Number(request.url?.slice(1))).end(),
  ).listen(0, "127.0.0.1");
  await once(provider, "listening");
  const { port } = provider.address() as AddressInfo;
  const ask = async (path: string) => {
    const call = { provider: "evi-post", operation: "query", effectClass: "read" as const };
    const url = new URL(`http://127.0.0.1:${port}/${path}`);
    await exchange({ ...call, method: "GET", url, headers: {}, timeoutMs: 5_000 }).catch(
      () => undefined,
    );
  };
  for (const path of ["200", "399", "400"]) await ask(path);
  provider.close();
  await ask("200");
  for (const error of [{ type: "AType", name: "AName" }, { name: "a text, no name" }, undefined])
    await inSpan("other", {}, () => Promise.reject(error)).catch(() => undefined);

  const failed = (type: string | number, attributes: object = {}) => ({
    attributes: { ...attributes, "error.type": String(type) },
    status: { code: SpanStatusCode.ERROR },
  });
  const shown = {
    "http.request.method": "GET",
    "server.address": "127.0.0.1",
    "trustflow.effect_class": "read",
  };
  const answered = (code: number) => ({ ...shown, "http.response.status_code": code });
  const passed = (code: number) => ({
    attributes: answered(code),
    status: { code: SpanStatusCode.UNSET },
  });
  const calls = [
    passed(200),
    passed(399),
    failed(400, answered(400)),
    failed("unavailable", shown),
  ];
  const others = ["AType", "Error", "Error"].map((type) => failed(type));
  expect(
    exporter
      .getFinishedSpans()
      .map(({ name, kind, attributes, status }) => ({ name, kind, attributes, status })),
  ).toEqual([
    ...calls.map((call) => ({ ...call, name: "evi-post query", kind: SpanKind.CLIENT })),
    ...others.map((other) => ({ ...other, name: "other", kind: SpanKind.INTERNAL })),
  ]);
});

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
