// Who talks to Temporal beside our client. What an application traces itself goes on to the call of the provider, exported as OpenTelemetry's
// environment says. One without any of Trustflow's code is a plain Temporal client with the same keys, the codec of docs/any-language.md, and
// the names there. Who has no key starts nothing, decides nothing, and ends nothing as they like (decision 22); test/long/temporal/codec has
// each kind of forged payload.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { context, propagation, trace } from "@opentelemetry/api";
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-node";
import type { Client } from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";
import { OpenTelemetryWorkflowClientInterceptor } from "@temporalio/interceptors-opentelemetry";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { InputMismatchError, Trustflow, UnprovenAnswerError } from "../../../src/client.js";
import { queries, signals } from "../../../src/contracts/message-contracts.js";
import type { MessageContract } from "../../../src/contracts/definition/message-contract.js";
import { processes, updatesOf } from "../../../src/contracts/registry.js";
import type { ProcessName } from "../../../src/contracts/registry.js";
import { commandLine } from "../../cli/in-process.js";
import { eventually } from "../../harness/outages/wait.js";
import { messageSchemaOf } from "../../harness/pages/message-schema.js";
import { brought } from "../../processes/index.js";
import { holderInput } from "../../processes/issue-certificate/inputs.js";
import { letterInput } from "../../processes/send-postal/inputs.js";
import { signerInput } from "../../processes/sign-one-shot/inputs.js";
import { plainClient, strangerTo } from "../../harness/stack/plain-client.js";
import { startTestStack, statusWhere } from "../../harness/stack/stack.js";
import type { TestStack } from "../../harness/stack/stack.js";

const messageFile = fileURLToPath(new URL("../../../examples/message.json", import.meta.url));

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
let stranger: Client;

/** Starts it as an application does. */
const startPlain = (processName: string, workflowId: string, ...args: object[]) =>
  plainClient(system, workflowId).workflow.start(processName, {
    workflowId,
    taskQueue: "trustflow",
    args,
  });

beforeAll(async () => {
  await new Promise<void>((listening) => collector.listen(0, "127.0.0.1", listening));
  const { port } = collector.address() as AddressInfo;
  system = await startTestStack({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_BSP_SCHEDULE_DELAY: "100",
      TRUSTFLOW_CODEC__PLAINTEXT: "refuse",
    },
  });
  stranger = strangerTo(system);
}, 120_000);

afterAll(async () => {
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
    const failed = await startPlain("sendPostal", workflowId, { ...input, lookupKey: "strange" });
    await expect(failed.result()).rejects.toMatchObject({
      cause: { type: "InvalidInput", details: [{ fields: [{ path: "id" }] }] },
    });
    expect(await system.effects("strange")).toEqual({});
  },
  60_000,
);

test("our client joins what a plain one has started only with the same input, and nothing that has none or one in clear", async () => {
  const own = { ...input, lookupKey: "shared" };
  const started = await startPlain("sendPostal", "sendPostal/shared", own);
  const other = { ...own, recipientEmail: "someone@example.org" };
  await expect(system.client.sendPostal("shared", other)).rejects.toThrow(InputMismatchError);
  // The order of the keys and the settings make no difference.
  const same = { ...own, settings: {}, document: own.document };
  const joined = await system.client.sendPostal("shared", same);
  expect(await joined.result()).toEqual(await started.result());
  expect(await system.effects("shared")).toEqual({ "evi-post.submit": 1 });

  // No worker is needed for that.
  const env = { ...system.stack.env, TRUSTFLOW_CODEC__PLAINTEXT: "accept" };
  const believing = await Trustflow.connect({ env });
  for (const [id, args, client, error] of [
    ["nothing", [], believing, InputMismatchError],
    ["held", [own], system.client, UnprovenAnswerError],
  ] as const) {
    const workflowId = `sendPostal/${id}`;
    const start = { workflowId, taskQueue: "a queue of nobody", args: [...args] };
    const held = await stranger.workflow.start("sendPostal", start);
    await expect(client.sendPostal(id, own)).rejects.toThrow(error);
    await held.terminate();
  }
  await believing.close();
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
    const own = brought[processName].input("handlers");
    const handle = await startPlain(processName, `${processName}/handlers`, own);
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
    const handle = await startPlain(processName, `${processName}/arguments`, given);
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

test("with keys.codecRead alone one lists and shows; what writes names keys.codec", async () => {
  const handle = await system.client.sendPostal("looked-at", letterInput("looked-at", "open"));
  const { TRUSTFLOW_KEYS__CODEC: ring = "", TEMPORAL_ADDRESS = "" } = system.stack.env;
  const env = { TEMPORAL_ADDRESS, TRUSTFLOW_KEYS__CODEC_READ: ring };
  for (const command of ["status", "list"]) {
    const args = command === "status" ? [handle.workflowId] : [];
    const { code, stdout } = await commandLine([command, ...args, "--json"], { env });
    expect([command, code]).toEqual([command, 0]);
    expect(stdout).toContain("looked-at");
  }
  for (const args of [
    ["resolve", handle.workflowId, "--attention", "x-1", "--decision", "abandon", "--by", "ana"],
    ["cancel", handle.workflowId],
    ["send-message", "--id", "reader", "--input", messageFile],
  ]) {
    const { code, stderr, stdout } = await commandLine(args, { env });
    expect([args[0], code]).toEqual([args[0], 4]);
    expect(stderr + stdout).toContain("keys.codec is required to start or change a process");
  }
}, 90_000);

function pendingActivity(workflowId: string): Promise<string> {
  return eventually("an activity is under way", async () => {
    const { raw } = await stranger.workflow.getHandle(workflowId).describe();
    const [pending] = raw.pendingActivities ?? [];
    // STARTED
    return pending?.state === 2 && pending.activityId;
  });
}

test.concurrent.each<
  [string, (client: Client, activity: { workflowId: string; activityId: string }) => Promise<void>]
>([
  ["completes", (client, activity) => client.activity.complete(activity, { uniqueId: "forged" })],
  [
    "fails",
    (client, activity) =>
      client.activity.fail(
        activity,
        ApplicationFailure.nonRetryable("no", "InvalidInput", {
          kind: "invalidRequest",
          fields: [],
        }),
      ),
  ],
])(
  "an activity that a stranger %s is made again, with one effect",
  async (how, attack) => {
    const id = `stranger-${how}`;
    await system.sandbox.addFault({
      operation: "evi-post.submit",
      kind: "slow-answer",
      ms: 4_000,
      lookupKey: id,
    });
    const handle = await system.client.sendPostal(id, letterInput(id, "delivered"));
    const { workflowId } = handle;
    await attack(stranger, { workflowId, activityId: await pendingActivity(workflowId) });
    const { attention } = await statusWhere(handle, (status) => status.attention !== undefined);
    expect(attention).toMatchObject({ kind: "unavailable", step: "submit" });
    const { outcome, references } = await handle.result();
    expect(outcome).toBe("delivered");
    expect(JSON.stringify(references)).not.toContain("forged");
    expect(await system.effects(id)).toEqual({ "evi-post.submit": 1 });
  },
  90_000,
);
