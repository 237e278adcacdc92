// What an answer is, on the whole system (docs/reading-the-specification.md §1): a web page with 200, as a proxy
// answers in the provider's place, and a redirect are no success of any step, and a person is told what came.
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ProcessHandle } from "../../../src/client.js";
import { freePorts } from "../../../packages/dev/src/processes/free-ports.js";
import { openState } from "../../../packages/dev/src/stack/stack-state.js";
import { envelopeInput } from "../../processes/sign-envelope/inputs.js";
import { codeFor, holderInput } from "../../processes/issue-certificate/inputs.js";
import { letterInput } from "../../processes/send-postal/inputs.js";
import { eventually } from "../../harness/outages/wait.js";
import { signerInput, videoDecision, videoInput } from "../../processes/sign-one-shot/inputs.js";
import { startTestStack, statusWhere, timeouts } from "../../harness/stack/stack.js";
import type { TestStack } from "../../harness/stack/stack.js";

/** An account whose uploads cannot be looked up. */
const blind = "blind";
let system: TestStack;
let metrics: string;
let workerLog: string;

beforeAll(async () => {
  const directory = await mkdtemp(join(tmpdir(), "trustflow-e2e-"));
  const { ports } = await openState(directory, () => undefined);
  const [port] = await freePorts(1);
  const key = "TRUSTFLOW_ACCOUNTS__BLIND__ONE_SHOT_SIGNATURE__";
  metrics = `127.0.0.1:${port}`;
  workerLog = join(directory, "logs", "worker.log");
  system = await startTestStack({
    directory,
    sandboxSpeed: 300,
    env: {
      TRUSTFLOW_WORKER__METRICS_ADDRESS: metrics,
      TRUSTFLOW_JOURNAL__LEASE_SECONDS: "3",
      ...timeouts(2),
      [`${key}BASE_URL`]: `http://127.0.0.1:${ports.sandbox}`,
      [`${key}TOKEN`]: `${blind}-token`,
      [`${key}PATHS__RETRIEVE`]: "none",
    },
  });
  const token = `${blind}-token`;
  await system.sandbox.putAccount(blind, { token, password: token });
}, 120_000);
afterAll(() => system?.close(), 60_000);

/** By the operation alone. */
const effectsOf = async (intent: string) =>
  Object.fromEntries(
    Object.entries(await system.effects(intent)).map(([name, count]) => [
      name.split(".").at(-1),
      count,
    ]),
  );
const attentionOf = async (handle: ProcessHandle<unknown>) => {
  const { attention } = await statusWhere(handle, (status) => status.attention !== undefined);
  return attention!;
};
const resolve = async (
  handle: ProcessHandle<unknown>,
  attention: { id: string },
  decision: "retry" | "abandon",
) => {
  const sure = decision === "retry" ? { confirmRetry: true, note: "It did not arrive" } : {};
  const resolution = { attention: attention.id, decision, by: "Ada", ...sure };
  const answer = async () => handle.resolve(resolution);
  await eventually("it is decided", async () => (await answer()).answer === "resolved");
};
const events = async (handle: ProcessHandle<unknown>) =>
  (await handle.timeline()).map(({ event }) => event);

test.each([
  ["web-page", "answered 200 with text/html instead of JSON or nothing"],
  ["reject-302", "answered 302, a redirect, which is not followed"],
])("sendMessage: %s is not accepted, and is sent again only by a person", async (fault, why) => {
  const id = `message-${fault}`;
  const providerFields = { clientReference: id, to: "+390612345678", sandbox: `send=${fault}` };
  const handle = await system.client.sendMessage(id, { providerFields });
  const attention = await attentionOf(handle);
  expect(attention).toMatchObject({ kind: "unknownOutcome", step: "send" });
  expect(attention.reason).toContain(why);
  expect(await effectsOf(id)).toEqual({});
  await resolve(handle, attention, "retry");
  expect((await handle.result()).outcome).toBe("accepted");
  expect(await effectsOf(id)).toEqual({ send: 1 });
});

test("issueCertificate: a web page is no sent code, and none that was accepted (P1 §2.4)", async () => {
  const input = holderInput("holder", "sendOtp=web-page,validate=web-page");
  const handle = await system.client.issueCertificate("holder", input);
  await statusWhere(handle, ({ waitingFor }) => waitingFor === "the holder's code");
  expect(await events(handle)).toContain(
    "Code sent, but the answer was lost: the code may not arrive",
  );
  expect(await handle.resendOtp()).toEqual({ answer: "sent", resendsLeft: 2 });
  const code = await codeFor(system.sandbox, "holder");
  expect(await handle.submitOtp(code)).toEqual({ answer: "unknown" });
  expect((await handle.status()).phase).toBe("waiting");
  expect(await effectsOf("holder")).toEqual({ enroll: 1, sendOtp: 1 });
  expect(await handle.submitOtp(code)).toEqual({ answer: "accepted" });
  expect((await handle.result()).outcome).toBe("issued");
});

test("issueCertificate: after an unreadable try the deadline asks a person, and says what came (docs/reading-the-specification.md §5)", async () => {
  const settings = { holderDeadlineSeconds: 4 };
  const input = holderInput("unclear", "validate=web-page", { settings });
  const handle = await system.client.issueCertificate("unclear", input);
  const code = await codeFor(system.sandbox, "unclear");
  expect(await handle.submitOtp(code)).toEqual({ answer: "unknown" });
  const attention = await attentionOf(handle);
  expect(attention.kind).toBe("unknownOutcome");
  expect(attention.reason).toContain("answered 200 with text/html instead of JSON or nothing");
  await resolve(handle, attention, "abandon");
  await expect(handle.result()).rejects.toThrow("Abandoned");
});

test.each([
  ["checkData", "protocol", "*4"],
  ["enroll", "unknownOutcome", ""],
])(
  "issueCertificate: a web page at %s is %s, and enrols no holder",
  async (operation, kind, times) => {
    const id = `page-at-${operation}`;
    const input = holderInput(id, `${operation}=web-page${times}`);
    const handle = await system.client.issueCertificate(id, input);
    const attention = await attentionOf(handle);
    expect(attention).toMatchObject({ kind, step: operation });
    expect(attention.reason).toContain("answered 200 with text/html");
    expect(await effectsOf(id)).toEqual({});
    // A question is asked again, an effect only by a person.
    if (kind === "unknownOutcome") await resolve(handle, attention, "retry");
    await handle.submitOtp(await codeFor(system.sandbox, id));
    expect((await handle.result()).outcome).toBe("issued");
    expect(await effectsOf(id)).toEqual({ enroll: 1, sendOtp: 1, validate: 1 });
  },
);

test.each(["web-page", "reject-302", "cut"])(
  "signOneShot: no code goes out while a document is not there (%s)",
  async (fault) => {
    const id = `upload-${fault}`;
    const handle = await system.client.signOneShot(
      id,
      signerInput(id, `uploadDocument=${fault}@2`),
    );
    const code = await codeFor(system.sandbox, id);
    // The code is out: both documents are there.
    expect(await effectsOf(id)).toEqual({ create: 1, uploadDocument: 2, otp: 1 });
    await handle.submitOtp(code);
    const { outcome, documents } = await handle.result();
    expect([outcome, documents.length]).toEqual(["signed", 3]);
  },
);

test("signOneShot: an upload that was done, but unreadably answered, is found and not sent again", async () => {
  const input = signerInput("unreadable", "uploadDocument=unreadable");
  const handle = await system.client.signOneShot("unreadable", input);
  await handle.submitOtp(await codeFor(system.sandbox, "unreadable"));
  expect((await handle.result()).outcome).toBe("signed");
  expect(await effectsOf("unreadable")).toMatchObject({ uploadDocument: 2, sign: 1 });
  expect((await system.sandbox.ledger("unreadable")).duplicates).toEqual([]);
});

test("signOneShot: without a look-up, an unreadable upload raises attention before a code is sent", async () => {
  const input = signerInput("unseen", "uploadDocument=web-page", { account: blind });
  const handle = await system.client.signOneShot("unseen", input);
  const attention = await attentionOf(handle);
  expect(attention).toMatchObject({ kind: "unknownOutcome", step: "upload-0" });
  expect(attention.reason).toContain("answered 200 with text/html instead of JSON or nothing");
  expect(await system.sandbox.messages("unseen")).toEqual([]);
  expect(await effectsOf("unseen")).toEqual({ create: 1 });
  await resolve(handle, attention, "abandon");
  await expect(handle.result()).rejects.toThrow("Abandoned");
});

test("signOneShot: a web page is no sent code and no signature", async () => {
  const input = signerInput("signer", "otp=web-page,sign=web-page", { account: blind });
  const handle = await system.client.signOneShot("signer", input);
  await statusWhere(handle, ({ waitingFor }) => waitingFor === "the holder's code");
  expect(await events(handle)).toContain(
    "Code sent, but the answer was lost: the code may not arrive",
  );
  await handle.resendOtp();
  const code = await codeFor(system.sandbox, "signer");
  expect(await handle.submitOtp(code)).toEqual({ answer: "unknown" });
  const attention = await attentionOf(handle);
  expect(attention).toMatchObject({ kind: "unknownOutcome", step: "sign" });
  expect(attention.reason).toContain("answered 200 with text/html instead of JSON");
  expect((await effectsOf("signer"))["sign"]).toBeUndefined();
  await resolve(handle, attention, "abandon");
  await expect(handle.result()).rejects.toThrow("Abandoned");
});

test("signOneShot: a web page is no video, and no approval of one", async () => {
  const words = "createIdentityVideo=web-page,approveIdentityVideo=web-page";
  const handle = await system.client.signOneShot("watched", videoInput("watched", words));
  const attention = await attentionOf(handle);
  expect(attention).toMatchObject({ kind: "unknownOutcome", step: "createVideo" });
  await resolve(handle, attention, "retry");
  await statusWhere(handle, ({ waitingFor }) => waitingFor === videoDecision);
  expect(await handle.decideVideo("approve")).toEqual({ answer: "unknown" });
  expect(await system.sandbox.messages("watched")).toEqual([]);
  const decide = async () => (await handle.decideVideo("approve")).answer === "approved";
  await eventually("the video is approved", decide, 20_000);
  await handle.submitOtp(await codeFor(system.sandbox, "watched"));
  expect((await handle.result()).outcome).toBe("signed");
});

test("sendPostal: a web page is no submission; the letter is sent once", async () => {
  // Only an account whose look-up has found one of ours looks for a submit without an answer (docs/reading-the-specification.md §1).
  const found = await system.client.sendPostal("found", letterInput("found", "delivered"));
  await statusWhere(found, ({ references }) => references["uniqueId"] !== undefined);
  const input = letterInput("letter", "delivered,submit=web-page");
  const handle = await system.client.sendPostal("letter", input);
  await statusWhere(handle, ({ references }) => references["uniqueId"] !== undefined);
  expect(await effectsOf("letter")).toEqual({ submit: 1 });
  expect(await handle.cancel()).toEqual({ answer: "cancelled" });
});

test("signEnvelope: a web page is no request, no file and no envelope", async () => {
  const words = "esawoneshot=web-page,upload=web-page,send=web-page";
  const handle = await system.client.signEnvelope("paper", envelopeInput("paper", words));
  const request = await attentionOf(handle);
  expect(request).toMatchObject({ kind: "unknownOutcome", step: "create" });
  await resolve(handle, request, "retry");
  const { attention: send } = await statusWhere(
    handle,
    ({ attention }) => attention !== undefined && attention.id !== request.id,
  );
  expect(send).toMatchObject({ kind: "unknownOutcome", step: "send" });
  expect(await effectsOf("paper")).toMatchObject({ esawoneshot: 1, upload: 3 });
  await resolve(handle, send!, "retry");
  expect((await handle.result()).outcome).toBe("sent");
  expect(await effectsOf("paper")).toEqual({ esawoneshot: 1, upload: 3, send: 1 });
});

test("what was wrong stands in the metric and in the log", async () => {
  const text = await (await fetch(`http://${metrics}/metrics`)).text();
  const counted = text
    .split("\n")
    .filter((line) => line.startsWith("trustflow_provider_answers_refused_total{"))
    .find((line) => line.includes('provider="messaging-gateway"') && line.includes("mediaType"));
  for (const label of ['operation="send"', 'status="200"', 'member=""'])
    expect(counted).toContain(label);
  const lines = (await readFile(workerLog, "utf8")).split("\n");
  const told = lines.find(
    (line) => line.includes("messaging-gateway") && line.includes("text/html"),
  );
  expect(JSON.parse(told ?? "{}")).toMatchObject({
    operation: "send",
    status: 200,
    problem: "answered 200 with text/html instead of JSON or nothing",
  });
  expect(lines.join("\n")).not.toContain("Sign in");
});
