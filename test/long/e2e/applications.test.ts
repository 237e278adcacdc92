// Business applications: what they trace themselves goes on to the call of the provider, exported as OpenTelemetry's environment says; and
// one without any of Trustflow's code, a plain Temporal client with the same key, the codec of docs/any-language.md, and the names there.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { context, propagation, trace } from "@opentelemetry/api";
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-node";
import { Client, Connection } from "@temporalio/client";
import { OpenTelemetryWorkflowClientInterceptor } from "@temporalio/interceptors-opentelemetry";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { InputMismatchError, Trustflow } from "../../../src/client.js";
import { queries, signals } from "../../../src/contracts/message-contracts.js";
import type { MessageContract } from "../../../src/contracts/definition/message-contract.js";
import { processes, updatesOf } from "../../../src/contracts/registry.js";
import type { ProcessName } from "../../../src/contracts/registry.js";
import { eventually } from "../../harness/outages/wait.js";
import { pageCodec } from "../../harness/pages/any-language.js";
import { messageSchemaOf } from "../../harness/pages/message-schema.js";
import { brought } from "../../processes/index.js";
import { holderInput } from "../../processes/issue-certificate/inputs.js";
import { letterInput } from "../../processes/send-postal/inputs.js";
import { signerInput } from "../../processes/sign-one-shot/inputs.js";
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

let system: TestStack;
let connection: Connection;
let client: Client;

beforeAll(async () => {
  await new Promise<void>((listening) => collector.listen(0, "127.0.0.1", listening));
  const { port } = collector.address() as AddressInfo;
  system = await startTestStack({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_BSP_SCHEDULE_DELAY: "100",
    },
  });
  const ring = system.stack.env["TRUSTFLOW_KEYS__CODEC"] ?? "";
  connection = await Connection.connect({ address: system.stack.env["TEMPORAL_ADDRESS"] ?? "" });
  client = new Client({
    connection,
    dataConverter: { payloadCodecs: [pageCodec(ring)] },
  });
}, 120_000);

afterAll(async () => {
  await connection?.close();
  await system?.close();
  collector.close();
}, 60_000);

// First: it looks at all that is exported.
describe("a trace", () => {
  const spans = (): Span[] =>
    bodies
      .flatMap((body) => (JSON.parse(body) as Export).resourceSpans)
      .flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));

  /** What the application has traced itself. */
  const own = new InMemorySpanExporter();
  let traced: Trustflow;

  beforeAll(async () => {
    new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(own)] }).register();
    traced = await Trustflow.connect({
      interceptors: { workflow: [new OpenTelemetryWorkflowClientInterceptor()] },
    });
  });
  afterAll(async () => {
    await traced?.close();
    for (const api of [trace, context, propagation]) api.disable();
  });

  const spanOf = (traceId: string | undefined, name: string): Promise<Span> =>
    eventually(`the span ${name}`, () =>
      spans().find((span) => span.traceId === traceId && span.name === name),
    );

  const traceOfStart = () => own.getFinishedSpans().at(-1)?.spanContext();

  test("the attempt and the call to the provider stand below the application's start", async () => {
    await traced.sendPostal("traced", letterInput("traced", "delivered"));
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
    await traced.sendPostal("refused", letterInput("refused", "submit=reject-401"));
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
});

const input = letterInput("plain", "delivered");

test.each(["sendMessage/plain", "letters/plain", "sendPostal/a b", "plain"])(
  "a letter under the workflow id %s fails as InvalidInput, before any effect",
  async (workflowId) => {
    const failed = client.workflow.execute("sendPostal", {
      workflowId,
      taskQueue: "trustflow",
      args: [{ ...input, lookupKey: "strange" }],
    });
    await expect(failed).rejects.toMatchObject({
      cause: { type: "InvalidInput", details: [{ fields: [{ path: "id" }] }] },
    });
    expect(await system.effects("strange")).toEqual({});
  },
  60_000,
);

test("our client joins what it has started only with the same input, open or finished", async () => {
  const own = { ...input, lookupKey: "shared" };
  const other = { ...own, recipientEmail: "someone@example.org" };
  const workflowId = "sendPostal/shared";
  // The order of the keys and the settings make no difference.
  const same = { ...own, settings: {}, document: own.document };
  const started = await client.workflow.start("sendPostal", {
    workflowId,
    taskQueue: "trustflow",
    args: [own],
  });
  await expect(system.client.sendPostal("shared", other)).rejects.toThrow(InputMismatchError);
  const joined = await system.client.sendPostal("shared", same);
  const result = await started.result();
  expect(await joined.result()).toEqual(result);
  await expect(system.client.sendPostal("shared", other)).rejects.toThrow(InputMismatchError);
  expect(await (await system.client.sendPostal("shared", same)).result()).toEqual(result);
  expect(await system.effects("shared")).toEqual({ "evi-post.submit": 1 });
}, 60_000);

test("our client refuses to join what was started without an input, and needs no worker for that", async () => {
  const workflowId = "sendPostal/nothing";
  // No worker polls this queue.
  await client.workflow.start("sendPostal", { workflowId, taskQueue: "nobody", args: [] });
  const second = system.client.sendPostal("nothing", input);
  await expect(second).rejects.toThrow(InputMismatchError);
}, 60_000);

interface Definition {
  name: string;
}
interface Metadata {
  definition: Record<"updateDefinitions" | "signalDefinitions" | "queryDefinitions", Definition[]>;
}

test.each(processes)(
  "%s registers the updates, signals and queries of its contract, and no other",
  async (processName) => {
    const workflowId = `${processName}/handlers`;
    const handle = await client.workflow.start(processName, {
      workflowId,
      taskQueue: "trustflow",
      args: [brought[processName].input("handlers")],
    });
    await settled(() => handle.query("status"));
    const { definition } = await settled(() =>
      handle.query<Metadata>("__temporal_workflow_metadata"),
    );
    const registered = (of: keyof typeof definition) =>
      definition[of]
        .map(({ name }) => name)
        .filter((name) => !name.startsWith("__"))
        .toSorted();
    const contracted = (messages: MessageContract[]) => messages.map(({ name }) => name).toSorted();
    expect(registered("updateDefinitions")).toEqual(contracted(updatesOf(processName)));
    expect(registered("signalDefinitions")).toEqual(contracted(signals));
    expect(registered("queryDefinitions")).toEqual(contracted(queries));
    await handle.terminate().catch(() => undefined);
  },
  60_000,
);

test.each<[ProcessName, object]>([
  ["sendPostal", { ...input, lookupKey: "arguments", recipientName: "sandbox:cancellable" }],
  ["issueCertificate", holderInput("arguments")],
  ["signOneShot", signerInput("arguments", "", { settings: { requireContractAccepted: true } })],
])(
  "an update of %s whose argument does not fit is refused by its field",
  async (processName, given) => {
    const handle = await client.workflow.start(processName, {
      workflowId: `${processName}/arguments`,
      taskQueue: "trustflow",
      args: [given],
    });
    for (const update of updatesOf(processName).filter(({ argument }) => argument)) {
      const { members } = messageSchemaOf(update);
      const isOptional = members.every((name) => name.endsWith("?"));
      const ofOtherTypes = Object.fromEntries(members.map((name) => [name.replace("?", ""), 7]));
      const none = isOptional ? [] : [null];
      for (const argument of [...none, 7, "some text", [7], ofOtherTypes, { unheard: true }]) {
        const failed = handle.executeUpdate(update.name, { args: [argument] });
        const refused = await failed.catch(({ cause }: { cause: unknown }) => cause);
        const field = { path: expect.any(String), problem: expect.stringMatching(/^(is|must) /) };
        expect([update.name, argument, refused]).toMatchObject([
          update.name,
          argument,
          { type: "InvalidInput", details: [{ fields: [field] }] },
        ]);
      }
    }
    await handle.terminate();
  },
  60_000,
);

/** As docs/any-language.md says: a query that comes too early is repeated. */
async function settled<T>(query: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await query();
    } catch (error) {
      if (!(error as Error).message.includes("ask again")) throw error;
      await delay(100);
    }
  }
}
