// One trace from an application's start to the call of the provider, exported as OpenTelemetry's environment says.
import { afterAll, beforeAll, expect, test } from "vitest";
import { context, propagation, trace } from "@opentelemetry/api";
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-node";
import { OpenTelemetryWorkflowClientInterceptor } from "@temporalio/interceptors-opentelemetry";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { Trustflow } from "../../../src/client.js";
import { letterInput } from "../../processes/send-postal/inputs.js";
import { eventually } from "../../harness/outages/wait.js";
import { startTestStack } from "../../harness/stack/stack.js";
import type { TestStack } from "../../harness/stack/stack.js";

interface Span {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  status: { code?: number; message?: string };
  events: unknown[];
  attributes: { key: string; value: Record<string, unknown> }[];
}

interface Export {
  resourceSpans: { resource: unknown; scopeSpans: { spans: Span[] }[] }[];
}

const bodies: string[] = [];
const collector = createServer((request, response) => {
  void text(request).then((body) => {
    bodies.push(body);
    response.end("{}");
  });
});
const spans = (): Span[] =>
  bodies
    .flatMap((body) => (JSON.parse(body) as Export).resourceSpans)
    .flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));

/** What the application has traced itself. */
const own = new InMemorySpanExporter();
let system: TestStack;
let client: Trustflow;

beforeAll(async () => {
  await new Promise<void>((listening) => collector.listen(0, "127.0.0.1", listening));
  const { port } = collector.address() as AddressInfo;
  system = await startTestStack({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_BSP_SCHEDULE_DELAY: "100",
    },
  });
  new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(own)] }).register();
  client = await Trustflow.connect({
    interceptors: { workflow: [new OpenTelemetryWorkflowClientInterceptor()] },
  });
}, 120_000);
afterAll(async () => {
  await client?.close();
  for (const api of [trace, context, propagation]) api.disable();
  await system?.close();
  collector.close();
}, 60_000);

const spanOf = (traceId: string | undefined, name: string): Promise<Span> =>
  eventually(`the span ${name}`, () =>
    spans().find((span) => span.traceId === traceId && span.name === name),
  );

const traceOfStart = () => own.getFinishedSpans().at(-1)?.spanContext();

test("the attempt and the call to the provider stand below the application's start", async () => {
  await client.sendPostal("traced", letterInput("traced", "delivered"));
  const start = traceOfStart();
  const call = await spanOf(start?.traceId, "evi-post submit");
  const attempt = await spanOf(start?.traceId, "RunActivity:submit");
  expect(call.parentSpanId).toBe(attempt.spanId);
  expect(attempt.parentSpanId).toBe(start?.spanId);
  expect(call.attributes).toContainEqual({
    key: "http.response.status_code",
    value: { intValue: 200 },
  });
});

test("a refused call is an error with its type, and nothing that was exported has a text of the input", async () => {
  await client.sendPostal("refused", letterInput("refused", "submit=reject-401"));
  const call = await spanOf(traceOfStart()?.traceId, "evi-post submit");
  expect(call.status).toEqual({ code: 2 });
  expect(call.attributes).toContainEqual({ key: "error.type", value: { stringValue: "401" } });
  expect(spans().flatMap(({ events }) => events)).toEqual([]);
  const keys = new Set(spans().flatMap(({ attributes }) => attributes.map(({ key }) => key)));
  expect([...keys].toSorted()).toEqual([
    ...["error.type", "http.request.method", "http.response.status_code", "server.address"],
    ...["temporal.attempt", "temporalRunId", "temporalWorkflowId", "trustflow.effect_class"],
  ]);
  for (const canary of ["Calle Mayor", "sandbox:", "28013", "Basic "])
    expect(bodies.join()).not.toContain(canary);
});
