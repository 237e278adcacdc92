// What `connect` takes, and each reason for which it refuses: real servers, with and without TLS.
import { afterAll, afterEach, beforeAll, beforeEach, expect, vi, test } from "vitest";
import { Client, Connection } from "@temporalio/client";
import type { WorkflowClientInterceptor } from "@temporalio/client";
import { randomUUID } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { rm, writeFile } from "node:fs/promises";
import { createSecureServer, createServer } from "node:http2";
import type { ServerHttp2Stream } from "node:http2";
import { createServer as createTcpServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import {
  AccessDeniedError,
  ConfigurationError,
  DecryptionError,
  NamespaceMissingError,
  TimedOutError,
  TlsRefusedError,
  Trustflow,
  UnreachableError,
  WrongCodecKeyError,
} from "../../src/client.js";
import type { ConnectOptions } from "../../src/client.js";
import { statusMemo } from "../../src/contracts/shared/names.js";
import { KeyRing, generateKeyRing } from "../../src/crypto/key-ring.js";
import { foreignKeys } from "../../src/temporal/visibility/foreign-keys.js";
import { dataConverter } from "../../src/temporal/codec/data-converter.js";
import { openPki } from "../../packages/sandbox/src/tls/pki.js";
import { clientIn, registerNamespace, testTemporal } from "../temporal/support.js";
import { ofFile } from "../harness/of-file.js";
import { temporaryFolder } from "../harness/temporary.js";

const before = process.env;
const codec = generateKeyRing("k1");
const env = ofFile(testTemporal);
const pki = ofFile(() => openPki(undefined));
const folder = await temporaryFolder();
const servers: Server[] = [];
const sockets = new Set<Socket>();
const opened: { close(): Promise<void> }[] = [];

beforeAll(() => writeFile(join(folder, "trustflow.toml"), ""));
afterAll(() => {
  for (const server of servers) server.close();
  for (const socket of sockets) socket.destroy();
});
beforeEach(() => {
  process.env = {
    TRUSTFLOW_CONFIG: join(folder, "trustflow.toml"),
    TEMPORAL_CONFIG_FILE: join(folder, "temporal.toml"),
    TRUSTFLOW_KEYS__CODEC: codec,
    TEMPORAL_ADDRESS: env.address,
    TEMPORAL_NAMESPACE: env.namespace,
  };
});
afterEach(async () => {
  process.env = before;
  for (const one of opened.splice(0)) await one.close();
});

async function connected(options: ConnectOptions = {}): Promise<Trustflow> {
  const trustflow = await Trustflow.connect(options);
  opened.push(trustflow);
  return trustflow;
}

const refusal = (options: ConnectOptions = {}) =>
  connected(options).then(
    () => undefined,
    (error: unknown) => error,
  );

async function listening(server: Server): Promise<string> {
  servers.push(server);
  server.on("connection", (socket: Socket) => sockets.add(socket.on("error", () => undefined)));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** As a server of gRPC that answers every call with this status. */
const answering = (code: number, text: string) => (stream: ServerHttp2Stream) => {
  const head = { ":status": 200, "content-type": "application/grpc" };
  stream.respond({ ...head, "grpc-status": `${code}`, "grpc-message": text }, { endStream: true });
};

test("a namespace that is not there is named", async () => {
  const error = await refusal({ namespace: "letters" });
  expect(error).toBeInstanceOf(NamespaceMissingError);
  expect(error).toMatchObject({ code: "namespaceMissing", details: { namespace: "letters" } });
});

test.each([
  [7, "no right to this"],
  [16, "Request unauthorized."],
])("the status %i of gRPC is a matter of the credentials", async (code, text) => {
  const address = await listening(createServer().on("stream", answering(code, text)));
  const error = await refusal({ address });
  expect(error).toBeInstanceOf(AccessDeniedError);
  expect(error).toMatchObject({ retryable: false, details: { reason: text } });
});

test("TLS that cannot be made is told from a server that is away", async () => {
  const secure = () => createSecureServer({ ...pki.server, requestCert: false });
  const trusting = { TEMPORAL_TLS_SERVER_CA_CERT_PATH: pki.files.caFile };
  const [tls, mutual, plain, cut] = await Promise.all([
    listening(secure()),
    listening(
      createSecureServer({ ...pki.server, requestCert: true, rejectUnauthorized: true }).on(
        "tlsClientError",
        () => undefined,
      ),
    ),
    listening(createServer()),
    listening(createTcpServer((socket) => socket.destroy())),
  ]);
  const cases: [string, Record<string, string>, new (...args: never[]) => Error][] = [
    [tls, { TEMPORAL_TLS: "true" }, TlsRefusedError],
    [tls, {}, TlsRefusedError],
    [mutual, trusting, TlsRefusedError],
    [plain, { TEMPORAL_TLS: "true" }, TlsRefusedError],
    [plain.replace(/:.*/, ":1"), { TEMPORAL_TLS: "true" }, UnreachableError],
    [cut, { TEMPORAL_TLS: "true" }, UnreachableError],
  ];
  const met = await Promise.all(
    cases.map(([address, more]) =>
      refusal({
        env: { ...(process.env as Record<string, string>), ...more, TEMPORAL_ADDRESS: address },
      }),
    ),
  );
  cases.forEach(([, , Typed], index) =>
    expect([index, met[index]]).toEqual([index, expect.any(Typed)]),
  );
  expect(met[0]).toMatchObject({
    details: { address: tls, reason: expect.stringMatching(/certificate/) },
  });
}, 60_000);

test("a temporal.toml that cannot be read is a matter of the configuration, and not quoted", async () => {
  await writeFile(join(folder, "temporal.toml"), 'api_key = "hunter2"\nnot TOML');
  const error = await refusal();
  await rm(join(folder, "temporal.toml"));
  expect(error).toBeInstanceOf(ConfigurationError);
  expect((error as Error).message).toContain("temporal.toml");
  expect((error as Error).message).not.toContain("hunter2");
});

test("the configuration may be an object, which goes before file and environment", async () => {
  process.env["TRUSTFLOW_KEYS__CODEC"] = "not a ring";
  process.env["TRUSTFLOW_ENVIRONMENT"] = "production";
  process.env["OWN_RING"] = codec;
  const documents = { directory: join(folder, "documents") };
  const configuration = {
    environment: "sandbox",
    keys: { codec, documents: { env: "OWN_RING" } },
    documents,
  } as const;
  const trustflow = await connected({ configuration });
  const stored = await trustflow.documents.put(Buffer.from("%PDF-1.7"), "application/pdf");
  expect((await trustflow.documents.get(stored)).toString()).toBe("%PDF-1.7");
  const wrong = { keys: { codec: { file: join(folder, "nothing") } } };
  expect(await refusal({ configuration: wrong })).toMatchObject({
    code: "configurationInvalid",
    details: { problems: ["keys.codec: the file does not exist"] },
  });
  const unknown = { keys: { codex: codec } } as object;
  expect(await refusal({ configuration: unknown })).toBeInstanceOf(ConfigurationError);
});

test("an own connection and an own client are used, and stay open", async () => {
  process.env["TEMPORAL_ADDRESS"] = "127.0.0.1:1";
  const connection = await Connection.connect({ address: env.address });
  opened.push({ close: () => connection.close() });
  const seen: string[] = [];
  const interceptor: WorkflowClientInterceptor = {
    start: (input, next) => {
      seen.push(input.workflowType);
      return next(input);
    },
  };
  const client = new Client({
    connection,
    namespace: env.namespace,
    identity: "the-test",
    interceptors: { workflow: [interceptor] },
  });
  for (const given of [{ connection, interceptors: { workflow: [interceptor] } }, { client }]) {
    const trustflow = await Trustflow.connect(given);
    expect(trustflow.temporal.connection).toBe(connection);
    await trustflow.sendMessage(randomUUID(), { providerFields: { to: "a" } });
    await trustflow.close();
  }
  expect(seen).toEqual(["sendMessage", "sendMessage"]);
  const absent = { connection: undefined, namespace: undefined };
  const { options, connection: used } = (await connected({ client, ...(absent as object) }))
    .temporal;
  expect(used).toBe(connection);
  expect(options.identity).toBe("the-test");
  await expect(connection.workflowService.getSystemInfo({})).resolves.toBeDefined();
});

test("after its end each call says that the client is closed", async () => {
  const trustflow = await Trustflow.connect({ address: env.address, namespace: env.namespace });
  await trustflow.close();
  const handle = trustflow.handle("sendMessage/order-7");
  const listed = trustflow.list()[Symbol.asyncIterator]();
  const calls = [
    () => trustflow.sendMessage("order-7", { providerFields: { to: "a" } }),
    () => listed.next(),
    () => handle.status(),
    () => handle.result(),
    () => handle.resolve({ attention: "a", decision: "retry", by: "Ada" }),
    () => trustflow.find("order-7"),
  ];
  for (const call of calls)
    await expect(call()).rejects.toMatchObject({
      name: "ClientClosedError",
      message: "The client is closed",
      retryable: false,
    });
});

/** A server where all is away but what `connect` asks. `asked` resolves at the next other request. */
async function away() {
  const requests = new EventEmitter();
  const server = createServer().on("stream", (stream, headers) => {
    const isOpening = /\/(GetSystemInfo|ListWorkflowExecutions)$/.test(`${headers[":path"]}`);
    answering(isOpening ? 12 : 14, "away")(stream);
    if (!isOpening) requests.emit("request");
  });
  const trustflow = await Trustflow.connect({ address: await listening(server) });
  return { trustflow, asked: once(requests, "request") };
}

const input = { providerFields: { to: "a" } };
const updateId = "try-1";
const decision = { attention: "a", decision: "retry", by: "Ada" } as const;

test.each<[string, (trustflow: Trustflow) => Promise<unknown>]>([
  ["a start", (one) => one.sendMessage("order-7", input)],
  ["a start with a limit", (one) => one.sendMessage("order-7", input, { timeoutMs: 60_000 })],
  ["a wait", (one) => one.handle("sendMessage/order-7").result()],
  [
    "a wait with a signal",
    (one) => one.handle("sendMessage/order-7").result({ signal: new AbortController().signal }),
  ],
  ["a search", (one) => one.find("order-7", { timeoutMs: 60_000 })],
  [
    "an update with a limit",
    (one) => one.handle("sendMessage/order-7").resolve(decision, { updateId, timeoutMs: 60_000 }),
  ],
])("a close ends %s, whatever it may have done", async (name, call) => {
  const { trustflow, asked } = await away();
  const ended = call(trustflow);
  ended.catch(() => undefined);
  await asked;
  await trustflow.close();
  await expect(ended).rejects.toMatchObject({
    code: "unreachable",
    message: expect.stringContaining("The client was closed during the call"),
    ...(name.startsWith("an update") && { updateId }),
  });
});

test("a close ends the starts of many that go on between two outcomes", async () => {
  const { trustflow, asked } = await away();
  const requests = [
    { id: "order-7", input: {} as typeof input },
    { id: "order-8", input },
  ];
  const outcomes = trustflow.startMany("sendMessage", requests)[Symbol.asyncIterator]();
  expect((await outcomes.next()).value).toMatchObject({ error: { code: "invalidInput" } });
  await asked;
  await trustflow.close();
  expect((await outcomes.next()).value).toMatchObject({
    error: { message: expect.stringContaining("The client was closed during the call") },
  });
});

test("a call that waits for its next try when the client closes fails, and ends no process", async () => {
  const { trustflow, asked } = await away();
  // The SDK's own, which no signal ends; without a failure of its own, vitest reports what a timer throws.
  const call = trustflow.temporal.workflowService.getClusterInfo({});
  await asked;
  await trustflow.close();
  await expect(call).rejects.toMatchObject({ code: 14, details: "away" });
});

test("an own connection in clear is refused where TLS is required", async () => {
  const connection = Connection.lazy({ address: "temporal.example.com:7233" });
  opened.push({ close: () => connection.close() });
  const configuration = { environment: "production" } as const;
  expect(await refusal({ connection, configuration })).toMatchObject({
    details: { problems: [expect.stringContaining("temporal.example.com must be reached by TLS")] },
  });
});

test("a plugin takes part, and may not take the encryption away", async () => {
  const configureClient = vi.fn((options: object) => ({ ...options, identity: "of the plugin" }));
  const trustflow = await connected({ plugins: [{ name: "own", configureClient }] });
  expect(trustflow.temporal.options.identity).toBe("of the plugin");
  const inClear = {
    name: "in clear",
    configureClient: (options: object) => ({ ...options, dataConverter: {} }),
  };
  expect(await refusal({ plugins: [inClear] })).toBeInstanceOf(ConfigurationError);
});

test("a signal and a time end the attempt to connect", async () => {
  const silent = await listening(createTcpServer());
  expect(await refusal({ address: silent, timeoutMs: 300 })).toEqual(new TimedOutError(300));
  const reason = new Error("the user has left");
  expect(await refusal({ address: silent, signal: AbortSignal.abort(reason) })).toBe(reason);
  const abort = new AbortController();
  setTimeout(() => abort.abort(reason), 100);
  expect(await refusal({ address: silent, signal: abort.signal })).toBe(reason);
});

test("an end of the wait for the workers' keys leaves no call that breaks the process", async () => {
  let listed = 0;
  const server = createServer().on("stream", (stream, headers) => {
    const isList = `${headers[":path"]}`.endsWith("/ListWorkflowExecutions");
    listed += isList ? 1 : 0;
    // A server without `GetSystemInfo` is an old one.
    answering(isList ? 14 : 12, "not now")(stream);
  });
  const address = await listening(server);
  expect(await refusal({ address, timeoutMs: 1_500 })).toEqual(new TimedOutError(1_500));
  const before = listed;
  // The SDK would throw out of a timer, which fails this test.
  await delay(2_500);
  expect(before).toBeGreaterThan(0);
});

/** A process as workers with this ring leave it. */
async function written(namespace: string, ring: string): Promise<() => Promise<unknown>> {
  const client = clientIn(
    { connection: env.connection, namespace },
    dataConverter(KeyRing.parse(ring)),
  );
  const workflowId = `sendPostal/${randomUUID()}`;
  const memo = { [statusMemo]: { phase: "tracking" } };
  const handle = await client.workflow.start("sendPostal", {
    workflowId,
    taskQueue: "nobody",
    memo,
  });
  const ids = { query: `WorkflowId = "${workflowId}"` };
  const isListed = async (query: string) => (await client.workflow.count(query)).count > 0;
  while (!(await isListed(ids.query)));
  return async () => {
    await handle.terminate();
    while (!(await isListed(`${ids.query} AND ExecutionStatus = "Terminated"`)));
  };
}

test("only what may be the id of a key is named as one, and at most ten", async () => {
  const memoOf = (id: string) => ({
    memo: { fields: { [statusMemo]: { metadata: { "encryption-key-id": Buffer.from(id) } } } },
  });
  const ids = ["Ana Ruiz", "x".repeat(33), "", ...Array.from({ length: 12 }, (_, at) => `k${at}`)];
  const client = {
    options: { namespace: "default" },
    connection: { withDeadline: <T>(_: number, call: () => T) => call() },
    workflowService: { listWorkflowExecutions: async () => ({ executions: ids.map(memoOf) }) },
  };
  const decode = () => Promise.reject(new DecryptionError("the seal is broken"));
  const named = await foreignKeys(client as never, { decode } as never, ["sendPostal"]);
  expect(named).toEqual(Array.from({ length: 10 }, (_, at) => `k${at}`));
});

test("a ring that is not that of the workers is refused; one that is being rotated is not (decision 22)", async () => {
  const namespace = randomUUID();
  await registerNamespace(env, namespace);
  const [other, fresh] = [generateKeyRing("k1"), generateKeyRing("k2")];
  const met = (ring: string) => refusal({ namespace, configuration: { keys: { codec: ring } } });
  // Nothing is proven yet.
  expect(await met(other)).toBeUndefined();
  const end = await written(namespace, codec);
  const refused = { code: "wrongCodecKey", details: { namespace, keyIds: ["k1"] } };
  expect(await met(other)).toMatchObject(refused);
  expect(await met(fresh)).toBeInstanceOf(WrongCodecKeyError);
  for (const ring of [codec, `${codec},${fresh}`, `${fresh},${codec}`])
    expect(await met(ring)).toBeUndefined();
  // The old key is no longer needed, because no process is open.
  await end();
  expect(await met(fresh)).toBeUndefined();
  expect(await met(other)).toMatchObject(refused);
  await written(namespace, fresh);
  expect(await met(fresh)).toBeUndefined();
}, 60_000);
