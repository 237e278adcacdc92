// The main promises of test/long/e2e, one path each, on one stack. Each test has ids and accounts of its own, and most of it is waiting for
// its letter: so they run side by side, and the last test looks at what all of them left.
import { afterAll, beforeAll, expect, test } from "vitest";
import { InputMismatchError } from "../../src/client.js";
import type { AnyHandle, ProcessHandle } from "../../src/client.js";
import { notEncrypted } from "../../src/contracts/shared/payload-marks.js";
import { roleNames } from "../../packages/dev/src/stack/role.js";
import { sandboxAccount } from "../../packages/dev/src/stack/sandbox-accounts.js";
import { sandboxPki } from "../../packages/dev/src/stack/stack-env.js";
import { openState } from "../../packages/dev/src/stack/stack-state.js";
import { doctorOfAll } from "../cli/doctor/doctor.js";
import { eventually } from "../harness/outages/wait.js";
import { plainClient, strangerTo } from "../harness/stack/plain-client.js";
import { startTestStack, statusWhere } from "../harness/stack/stack.js";
import type { TestStack } from "../harness/stack/stack.js";
import { codeFor, holderInput, wrongCode } from "../processes/issue-certificate/inputs.js";
import { letterInput } from "../processes/send-postal/inputs.js";
import { envelopeInput } from "../processes/sign-envelope/inputs.js";
import { signerInput } from "../processes/sign-one-shot/inputs.js";
import { testSealedSecrets } from "./sealed-secrets.js";
import { testUpdateWithStart } from "./update-with-start.js";
import { temporaryFolder } from "../harness/temporary.js";

const UNAVAILABLE_SECONDS = 5;
/** Nobody listens there. */
const nowhere = "127.0.0.1:9";
let system: TestStack;

beforeAll(async () => {
  const directory = await temporaryFolder();
  const { ports } = await openState(directory, () => undefined);
  const pkiDirectory = sandboxPki(directory);
  const account = (name: string, http: string, https = http) =>
    sandboxAccount(name, { url: `http://${http}`, tlsUrl: `https://${https}`, pkiDirectory });
  system = await startTestStack({
    directory,
    roles: roleNames,
    sandboxSpeed: "auto",
    env: {
      ...account("fresh", `127.0.0.1:${ports.sandbox}`, `127.0.0.1:${ports.sandboxTls}`),
      ...account("away", nowhere),
      TRUSTFLOW_ATTENTION__UNAVAILABLE_SECONDS: String(UNAVAILABLE_SECONDS),
      TRUSTFLOW_CODEC__PLAINTEXT: "refuse",
    },
  });
}, 120_000);
afterAll(() => system?.close(), 60_000);

async function attentionOf(handle: ProcessHandle<unknown>) {
  const { attention } = await statusWhere(handle, (status) => status.attention !== undefined);
  return attention!;
}

/** Sent again by a person once no attempt can be running any more. */
async function sentAgain(handle: AnyHandle, attention: string): Promise<void> {
  const sure = { confirmRetry: true, note: "not in the portal" };
  const retry = () => handle.resolve({ attention, decision: "retry", by: "Ada", ...sure });
  await eventually("the lease is over", async () => (await retry()).answer === "resolved");
}

test.concurrent("a lost answer of an account whose look-up is not proven waits, and goes on by itself once another letter proves it", async () => {
  const send = (id: string, words: string) =>
    system.client.sendPostal(id, letterInput(id, words, { account: "fresh" }));
  const first = await send("lost", "delivered,submit=cut");
  expect(await attentionOf(first)).toMatchObject({ step: "submit" });
  expect(await system.effects("lost")).toEqual({});
  expect((await (await send("proof", "delivered")).result()).outcome).toBe("delivered");
  expect((await first.result()).outcome).toBe("delivered");
  for (const id of ["lost", "proof"])
    expect(await system.effects(id)).toEqual({ "evi-post.submit": 1 });
}, 90_000);

test.concurrent("a provider that is away asks for a person, and not too early", async () => {
  const began = Date.now();
  const handle = await system.client.sendPostal(
    "away",
    letterInput("away", "delivered", { account: "away" }),
  );
  const { kind, since } = await attentionOf(handle);
  expect(kind).toBe("unavailable");
  expect(Date.parse(since) - began).toBeGreaterThanOrEqual(UNAVAILABLE_SECONDS * 1_000);
  expect(await handle.cancel()).toEqual({ answer: "cancelled" });
  expect((await handle.result()).outcome).toBe("cancelledBeforeSubmit");
}, 60_000);

test.concurrent("a web page is no accepted message: it is sent again only by a person", async () => {
  const providerFields = { clientReference: "page", sandbox: "send=web-page" };
  const handle = await system.client.sendMessage("page", { providerFields });
  const { id, kind, reason } = await attentionOf(handle);
  expect([kind, reason]).toEqual(["unknownOutcome", expect.stringContaining("text/html")]);
  expect(await system.effects("page")).toEqual({});
  await sentAgain(handle, id);
  expect((await handle.result()).outcome).toBe("accepted");
  expect(await system.effects("page")).toEqual({ "messaging-gateway.send": 1 });
}, 60_000);

test.concurrent("a plain Temporal client starts a letter with an inline document and reads its result", async () => {
  const workflowId = "sendPostal/plain";
  const result = await plainClient(system, workflowId).workflow.execute("sendPostal", {
    workflowId,
    taskQueue: "trustflow",
    args: [letterInput("plain", "delivered")],
  });
  expect(result).toMatchObject({ process: "sendPostal", id: "plain", outcome: "delivered" });
  expect(await system.effects("plain")).toEqual({ "evi-post.submit": 1 });
}, 60_000);

test.concurrent("a start without a key fails, and nothing is sent", async () => {
  const failed = strangerTo(system).workflow.execute("sendPostal", {
    workflowId: "sendPostal/stranger",
    taskQueue: "trustflow",
    args: [letterInput("stranger", "delivered")],
  });
  await expect(failed).rejects.toMatchObject({
    cause: { type: "InvalidInput", message: expect.stringContaining(notEncrypted) },
  });
  expect(await system.effects("stranger")).toEqual({});
}, 60_000);

test.concurrent("a second start joins, another input is refused, and a new run takes up what exists", async () => {
  const input = letterInput("again", "cancellable");
  const [first] = await Promise.all([
    system.client.sendPostal("again", input),
    system.client.sendPostal("again", input),
  ]);
  const other = { ...input, recipientEmail: "someone@example.org" };
  await expect(system.client.sendPostal("again", other)).rejects.toThrow(InputMismatchError);
  const tracked = await statusWhere(first, ({ phase }) => phase === "tracking");
  await system.client.temporal.workflow.getHandle(first.workflowId).terminate();
  const second = await system.client.sendPostal("again", input);
  const { references } = await statusWhere(second, ({ phase }) => phase === "tracking");
  expect(references).toEqual(tracked.references);
  const answers = await Promise.all([second.cancel("one"), second.cancel("one")]);
  expect(answers).toEqual([{ answer: "cancelled" }, { answer: "cancelled" }]);
  expect((await second.result()).outcome).toBe("cancelled");
  expect(await system.effects("again")).toEqual({ "evi-post.submit": 1, "evi-post.cancel": 1 });
}, 60_000);

test.concurrent("letters whose callbacks or calls have an accident are delivered, and sent once", async () => {
  const accidents = [
    "callbacks-lost",
    "callbacks-doubled",
    "submit=reject-503",
    "query=reject-503*3",
  ];
  const handles = await Promise.all(
    accidents.map((accident) =>
      system.client.sendPostal(
        accident.replaceAll(/\W/g, "-"),
        letterInput(accident, `delivered,${accident}`),
      ),
    ),
  );
  for (const [at, accident] of accidents.entries()) {
    expect([accident, await handles[at]?.result()]).toMatchObject([
      accident,
      { outcome: "delivered" },
    ]);
    expect([accident, await system.effects(accident)]).toEqual([
      accident,
      { "evi-post.submit": 1 },
    ]);
  }
}, 90_000);

test.concurrent("a wrong code is counted, and the right one issues the certificate", async () => {
  const handle = await system.client.issueCertificate("holder", holderInput("holder"));
  const code = await codeFor(system.sandbox, "holder");
  expect(await handle.submitOtp(wrongCode(code))).toMatchObject({ answer: "wrong" });
  expect(await handle.submitOtp(code)).toEqual({ answer: "accepted" });
  expect((await handle.result()).outcome).toBe("issued");
}, 60_000);

test.concurrent("an upload whose answer is lost is made again, and the envelope is sent once", async () => {
  const input = envelopeInput("envelope", "upload=cut-after-commit");
  const handle = await system.client.signEnvelope("envelope", input);
  expect((await handle.result()).outcome).toBe("sent");
  expect(await system.effects("envelope")).toMatchObject({ "envelope-signature.send": 1 });
}, 60_000);

test.concurrent("a signature whose answer is lost is found at the provider, and made once", async () => {
  const input = signerInput("signer", "sign=cut-after-commit");
  const handle = await system.client.signOneShot("signer", input);
  const code = await codeFor(system.sandbox, "signer");
  expect(await handle.submitOtp(code)).toEqual({ answer: "unknown" });
  expect((await handle.result()).outcome).toBe("signed");
  expect(await system.effects("signer")).toMatchObject({ "one-shot-signature.sign": 1 });
}, 60_000);

testSealedSecrets(() => system);
testUpdateWithStart(() => system);

test("the ledger has neither duplicates nor violations, and doctor finds nothing wrong", async () => {
  const { duplicates, violations } = await system.sandbox.ledger();
  expect({ duplicates, violations }).toEqual({ duplicates: [], violations: [] });
  const own = Object.entries(system.stack.env).filter(([name]) => !name.includes("__AWAY__"));
  const { code, checks } = await doctorOfAll(Object.fromEntries(own));
  expect(checks.filter(({ state }) => /warn|fail/.test(state))).toEqual([]);
  expect(code).toBe(0);
}, 60_000);
