// What the client refuses, finds and says before or without a process; Temporal's answers are given by the test.
import { afterEach, beforeAll, beforeEach, expect, vi, test } from "vitest";
import type { Mock } from "vitest";
import { WorkflowExecutionAlreadyStartedError } from "@temporalio/client";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  InvalidInputError,
  Trustflow,
  TrustflowError,
  UnknownProcessError,
  UnreachableError,
} from "../../src/client.js";
import type { SendPostalInput } from "../../src/client.js";
import { ConfigurationError, loadConfig } from "../../src/config/config.js";
import { KeyRing, generateKeyRing } from "../../src/crypto/key-ring.js";
import { DirectoryDriver } from "../../src/documents/directory-driver.js";
import { DocumentStore } from "../../src/documents/store.js";
import { letterInput, letterPdf } from "../processes/send-postal/inputs.js";
import { temporaryFolder } from "../harness/temporary.js";

const before = process.env;
const ring = generateKeyRing();
const away = answerOf(14, "no connection");
const missing = answerOf(5, "workflow not found");

/** What the connection throws, by the status of gRPC. */
function answerOf(code: number, details: string): Error {
  return Object.assign(new Error(details), { code, details, metadata: new Map() });
}

const folder = await temporaryFolder();
let store: DocumentStore;
beforeAll(async () => {
  await writeFile(join(folder, "trustflow.toml"), "");
  store = new DocumentStore(new DirectoryDriver(join(folder, "documents")), KeyRing.parse(ring));
});
beforeEach(() => {
  process.env = {
    TRUSTFLOW_CONFIG: join(folder, "trustflow.toml"),
    TRUSTFLOW_DOCUMENTS__DIRECTORY: join(folder, "documents"),
    TRUSTFLOW_KEYS__DOCUMENTS: ring,
    TRUSTFLOW_KEYS__CODEC: ring,
    TEMPORAL_ADDRESS: "127.0.0.1:1",
  };
});
afterEach(() => {
  process.env = before;
});

/** A client whose connection is the test's. */
function connected(describe: () => Promise<unknown> = () => Promise.reject(away)) {
  const start = vi.fn(() => Promise.resolve());
  const client = {
    options: { namespace: "default" },
    connection: { workflowService: { describeWorkflowExecution: describe } },
    workflowService: { getWorkflowExecutionHistory: () => Promise.reject(away) },
    workflow: { start, getHandle: () => ({}) },
    withDeadline: <T>(_deadline: number, call: () => Promise<T>) => call(),
  };
  const parts = [{ connected: { client }, ring: KeyRing.parse(ring), config: loadConfig() }];
  return { trustflow: Reflect.construct(Trustflow, parts) as Trustflow, start };
}

/** The input of the last start. */
function sentBy(start: Mock): unknown {
  const [, { args }] = start.mock.lastCall as [string, { args: [unknown] }];
  return args[0];
}

async function fieldsOf(input: SendPostalInput) {
  const { trustflow, start } = connected();
  const refused = await trustflow.sendPostal("order-7", input).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(InvalidInputError);
  expect(start).not.toHaveBeenCalled();
  return (refused as InvalidInputError).fields;
}

test("a second start says that Temporal is away when it asks for the first input", async () => {
  const { trustflow, start } = connected();
  const taken = new WorkflowExecutionAlreadyStartedError("taken", "sendPostal/order-7", "any");
  start.mockRejectedValue(taken);
  const second = trustflow.sendPostal("order-7", letterInput("i", "delivered"));
  await expect(second).rejects.toThrow(UnreachableError);
});

test("an id is unknown only where Temporal says so", async () => {
  const unknown = connected(() => Promise.reject(missing)).trustflow;
  await expect(unknown.find("order-7")).rejects.toThrow(UnknownProcessError);
  await expect(unknown.find("order 7")).rejects.toThrow(
    "the business id must be 1 to 100 of A-Z a-z 0-9 . _ -",
  );
  await expect(connected().trustflow.find("order-7")).rejects.toThrow(UnreachableError);
});

test("whether an id is unknown stays open where the second question fails", async () => {
  const answers = [missing, away];
  const { trustflow } = connected(() => Promise.reject(answers.shift()));
  expect(() => trustflow.handle("order-7" as never)).toThrow(
    "must be <process>/<business id>; find() takes the business id alone",
  );
  const isOpen = trustflow.handle("sendPostal/order-7").isOpen();
  await expect(isOpen).rejects.toThrow("sendPostal/order-7: Temporal cannot be reached");
});

test("connect is a function like any other", async () => {
  const { connect } = Trustflow;
  const before = process.env;
  process.env = {};
  await expect(connect()).rejects.toThrow(ConfigurationError);
  process.env = before;
});

test("the document store is required only when it is used", async () => {
  delete process.env["TRUSTFLOW_DOCUMENTS__DIRECTORY"];
  delete process.env["TRUSTFLOW_KEYS__DOCUMENTS"];
  // Gets as far as Temporal.
  await expect(Trustflow.connect()).rejects.toThrow("Cannot reach Temporal at 127.0.0.1:1");
  const { trustflow } = connected();
  expect(() => trustflow.documents).toThrow("documents.directory is required");
  expect(() => trustflow.documents).toThrow(ConfigurationError);
});

test("a stored document that is no PDF, is missing or is another one is refused (P2 §2.1)", async () => {
  const stored = await store.put(Buffer.from("not a PDF"), "application/pdf");
  const other = await store.put(letterPdf, "application/pdf");
  const problemOf = async (document: typeof stored) =>
    fieldsOf(letterInput("i", "delivered", { document }));
  expect(await problemOf(stored)).toEqual([
    { path: "document", problem: "is not a PDF (P2 §2.1)" },
  ]);
  expect(await problemOf({ ...other, sha256: "0".repeat(64) })).toEqual([
    { path: "document", problem: "is not what its reference says" },
  ]);
  await store.delete(other.uri);
  expect(await problemOf(other)).toEqual([
    { path: "document", problem: "is not in the document store" },
  ]);
});

test("a stored PDF starts a process, and one that only the workers can read too", async () => {
  const document = await store.put(letterPdf, "application/pdf");
  const input = letterInput("i", "delivered", { document });
  const here = connected();
  await here.trustflow.sendPostal("order-7", input);
  expect(here.start).toHaveBeenCalledTimes(1);
  delete process.env["TRUSTFLOW_DOCUMENTS__DIRECTORY"];
  const elsewhere = connected();
  await elsewhere.trustflow.sendPostal("order-7", input);
  expect(elsewhere.start).toHaveBeenCalledTimes(1);
});

test.each([
  ["bytes", letterPdf],
  ["path", { path: "letter.pdf" }],
  ["promise", Promise.resolve()],
])("what is given in place of a document is named: %s", async (what, document) => {
  const problem = `must not be ${what === "bytes" ? what : `a ${what}`}: a document is { base64, mediaType }, or what \`await trustflow.documents.put\` returns`;
  expect(await fieldsOf({ ...letterInput("i", "delivered"), document } as never)).toEqual([
    { path: "document", problem },
  ]);
});

test("an input that Temporal would not take is refused", async () => {
  const issuerComments = "x".repeat(1_500_000);
  expect(await fieldsOf(letterInput("i", "delivered", { issuerComments }))).toEqual([
    { path: "(input)", problem: "is over 1.5 MB as JSON" },
  ]);
});

test.each<[path: string, given: object, problem: string]>([
  ["amount", { amount: 10n }, "must not be a bigint: JSON has none"],
  ["parts.1.amount", { parts: [1, { amount: Number.NaN }] }, "must be a finite number"],
  ["text", { text: () => 1 }, "must not be a function: JSON has none"],
  ["text", { text: Symbol("a") }, "must not be a symbol: JSON has none"],
  ["parts.0", { parts: Array(1) }, "must not be undefined"],
  ["when", { when: new Date("never") }, "must be a valid Date"],
  ["file", { file: letterPdf }, "must not be bytes: give them as base64"],
  ["when", { when: new Map([[1, 2]]) }, expect.stringMatching(/^must be a plain object/)],
  ["text", { text: Promise.resolve("a") }, expect.stringMatching(/^must be a plain object/)],
  ["of", { of: { toJSON: () => 10n } }, "must not be a bigint: JSON has none"],
])("what JSON cannot carry is refused: %s", async (path, providerFields, problem) => {
  const { trustflow, start } = connected();
  const refused = trustflow.sendMessage("order-7", { providerFields: { ...providerFields } });
  const fields = [{ path: `providerFields.${path}`, problem }];
  await expect(refused).rejects.toMatchObject({ code: "invalidInput", details: { fields } });
  expect(start).not.toHaveBeenCalled();
});

test("an object in itself is refused; one that is there twice is sent twice", async () => {
  const { trustflow, start } = connected();
  const part: Record<string, unknown> = { text: "a" };
  const providerFields = { parts: [part, part] };
  await trustflow.sendMessage("order-7", { providerFields });
  expect(sentBy(start)).toEqual({ providerFields });
  part["self"] = part;
  const refused = trustflow.sendMessage("order-7", { providerFields });
  await expect(refused).rejects.toThrow("providerFields.parts.0.self: must not contain itself");
});

test("what is checked is what is sent", async () => {
  const { trustflow, start } = connected();
  const nothing = trustflow.sendMessage("order-7", { providerFields: { text: undefined } });
  await expect(nothing).rejects.toThrow(InvalidInputError);
  const { recipientAddress } = letterInput("i", "delivered");
  class Address {
    get streetAddress() {
      return recipientAddress.streetAddress;
    }
    get postalCode() {
      return recipientAddress.postalCode;
    }
    get locality() {
      return recipientAddress.locality;
    }
    get region() {
      return recipientAddress.region;
    }
    get country() {
      return recipientAddress.country;
    }
  }
  const letter = letterInput("i", "delivered", { recipientAddress: new Address() });
  const refused = { code: "invalidInput", message: expect.stringContaining("recipientAddress") };
  await expect(trustflow.sendPostal("order-7", letter)).rejects.toMatchObject(refused);
  expect(start).not.toHaveBeenCalled();
  const at = new Date();
  const providerFields = { to: "a", note: undefined, at };
  await trustflow.sendMessage("order-7", { providerFields });
  expect(sentBy(start)).toEqual({ providerFields: { to: "a", at: at.toISOString() } });
});

const text = "document:00112233445566778899aabbccddeeff" as never;
const letter = "sendPostal/order-7";
const message = { providerFields: { to: "a" } };
const ofAnother = { memo: {}, cronSchedule: "* * * * *" };
// @ts-expect-error Options of another workflow are not those of a process.
const startedEachMinute = (it: Trustflow) => it.sendMessage("a", message, ofAnother);
const update = () => Promise.resolve();
const first = <T>(steps: AsyncIterable<T>) => steps[Symbol.asyncIterator]().next();

test.each<[argument: string, call: (trustflow: Trustflow) => unknown]>([
  ["reference", ({ documents }) => documents.get(text)],
  ["reference", ({ documents }) => first(documents.openRead({ size: 5 } as never))],
  ["uri", ({ documents }) => documents.get({ uri: "letter.pdf" } as never)],
  ["bytes", ({ documents }) => documents.put(text, "application/pdf")],
  ["mediaType", ({ documents }) => documents.put(letterPdf, undefined as never)],
  ["mediaType", ({ documents }) => documents.put(letterPdf, "pdf")],
  ["pieces", ({ documents }) => documents.putStream(5 as never, "application/pdf")],
  ["pieces", ({ documents }) => documents.putStream(letterPdf as never, "application/pdf")],
  ["filter", (trustflow) => trustflow.list(null as never)],
  ["filter.startedBefore", (trustflow) => first(trustflow.list({ startedBefore: text }))],
  ["filter.deadlineAfter", (it) => first(it.list({ deadlineAfter: new Date("never") }))],
  ["filter.process", (it) => first(it.list({ process: text }))],
  ["filter.state", (it) => first(it.list({ state: ["running", text] }))],
  ["filter.kind", (it) => first(it.list({ kind: text }))],
  ["filter.phase", (it) => first(it.list({ phase: text }))],
  ["sort", (it) => it.listPage({ limit: 1, sort: text })],
  ["filter.reason", (trustflow) => first(trustflow.list({ reason: 5 as never }))],
  ["request", (trustflow) => trustflow.listPage(undefined as never)],
  ["limit", (trustflow) => trustflow.listPage({ limit: 0 })],
  ["cursor", (trustflow) => trustflow.listPage({ limit: 1, cursor: 5 as never })],
  ["options", (trustflow) => trustflow.changes(null as never).next()],
  ["signal", (trustflow) => trustflow.changes({ signal: text }).next()],
  ["since", (trustflow) => trustflow.changes({ since: Symbol("never") as never }).next()],
  ["process", (trustflow) => trustflow.startMany("sendLetter" as never, [])],
  ["requests", (trustflow) => trustflow.startMany("sendPostal", {} as never)],
  ["requests.0", (trustflow) => first(trustflow.startMany("sendPostal", [null as never]))],
  ["options", (trustflow) => trustflow.startMany("sendPostal", [], null as never)],
  ["process", (trustflow) => trustflow.start("constructor" as never, "order-7", {})],
  ["options", (it) => it.start("sendPostal", "order-7", {}, null as never)],
  ["options.startdelay", (it) => it.sendMessage("a", message, { startdelay: "1 hour" } as object)],
  ["options.cronSchedule", startedEachMinute],
  [
    "options.timeoutms",
    (it) => it.updateWithStart("sendMessage", "a", message, update, { timeoutms: 5 } as object),
  ],
  ["first", (it) => it.updateWithStart("sendPostal", "a", {} as never, undefined as never)],
  ["id", (trustflow) => trustflow.handle(undefined as never)],
  ["id", (trustflow) => trustflow.find(5 as never)],
  ["options", (trustflow) => trustflow.handle(letter).status(null as never)],
  ["options", (trustflow) => first(trustflow.handle(letter).watch(null as never))],
  ["signal", (trustflow) => trustflow.handle(letter).result({ signal: text })],
  ["resolution", (trustflow) => trustflow.handle(letter).resolve(undefined as never)],
  ["options", (trustflow) => trustflow.handle(letter).cancel(null as never)],
  ["updateId", (it) => it.handle(letter).cancel({ updateId: "" })],
  ["updateId", (it) => it.handle(letter).cancel({ updateId: 5 as never })],
  ["filter.account", (it) => first(it.list({ account: 'a"b' }))],
  ["filter.accout", (it) => first(it.list({ accout: "default" } as object))],
  ["filter.sort", (it) => first(it.list({ sort: "started" } as object))],
  ["reverse", (it) => it.listPage({ limit: 1, reverse: true })],
  ["cursor", (it) => it.listPage({ limit: 1, cursor: "e30", account: "a" })],
  ["address", () => Trustflow.connect({ address: 5 as never })],
  ["namespace", () => Trustflow.connect({ namespace: 5 as never })],
  ["options", () => Trustflow.connect(null as never)],
  ["options.adress", () => Trustflow.connect({ adress: "127.0.0.1:1" } as object)],
  ["env", () => Trustflow.connect({ env: null as never })],
  ["client", () => Trustflow.connect({ client: {} as never })],
  ["connection", () => Trustflow.connect({ connection: {} as never })],
])("JavaScript may give anything: %s is named by a typed error", async (argument, call) => {
  const { trustflow, start } = connected();
  const refused = await (async () => call(trustflow))().catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(TrustflowError);
  expect(refused).toMatchObject({
    code: "invalidInput",
    details: { fields: [{ path: argument, problem: expect.any(String) }] },
    docs: "docs/reference/client-errors.md#invalidinputerror",
  });
  expect(start).not.toHaveBeenCalled();
});
