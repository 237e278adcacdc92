// The everyday paths of a disposable certificate on the whole system: codes, assertions, refusals (P1 §1.1, 4.1;
// docs/reading-the-specification.md §5).
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { setTimeout as delay } from "node:timers/promises";
import { AbandonedError, FinishedError, NotAcceptedError } from "../../../../src/client.js";
import type { IssueCertificateInput } from "../../../../src/client.js";
import {
  assertionInput,
  assertionOf,
  codeFor,
  holderInput,
  wrongCode,
} from "../../../processes/issue-certificate/inputs.js";
import { holdRow } from "../../../harness/stack/late-answer.js";
import { startTestStack, statusWhere } from "../../../harness/stack/stack.js";
import type { TestStack } from "../../../harness/stack/stack.js";

let system: TestStack;

beforeAll(async () => {
  system = await startTestStack({ sandboxSpeed: 1 });
}, 120_000);
afterAll(() => system?.close(), 60_000);

const issued = { enroll: 1, sendOtp: 1, validate: 1 };
const effectsOf = async (intent: string) =>
  Object.fromEntries(
    Object.entries(await system.effects(intent)).map(([name, count]) => [
      name.replace("disposable-certificate.", ""),
      count,
    ]),
  );

test("the holder's code issues the certificate, once (P1 §4.1)", async () => {
  const handle = await system.client.issueCertificate("plain", holderInput("plain"));
  const code = await codeFor(system.sandbox, "plain");
  expect(await handle.submitOtp(code)).toEqual({ answer: "accepted" });
  const result = await handle.result();
  expect(result).toMatchObject({
    process: "issueCertificate",
    outcome: "issued",
    otpsSent: 1,
    references: { certIdOtp: expect.stringMatching(/^\d+$/) },
    dates: { enrolledAt: expect.any(String), validatedAt: expect.any(String) },
  });
  expect(await effectsOf("plain")).toEqual(issued);
});

test("a wrong code says how many tries are left, and another code can be sent", async () => {
  const handle = await system.client.issueCertificate("wrong", holderInput("wrong"));
  const first = await codeFor(system.sandbox, "wrong");
  expect(await handle.submitOtp(wrongCode(first))).toEqual({ answer: "wrong", triesLeft: 4 });
  expect(await handle.resendOtp()).toEqual({ answer: "sent", resendsLeft: 2 });
  const second = await codeFor(system.sandbox, "wrong", 1);
  expect(await handle.submitOtp(second)).toEqual({ answer: "accepted" });
  expect(await handle.result()).toMatchObject({ outcome: "issued", otpsSent: 2 });
  expect(await effectsOf("wrong")).toEqual({ ...issued, sendOtp: 2 });
});

test("an expired assertion waits for a fresh one (237, P1 §7.1)", async () => {
  const old = new Date(Date.now() - 3_600_000);
  const handle = await system.client.issueCertificate("eid", assertionInput("eid", old));
  await statusWhere(handle, ({ waitingFor }) => waitingFor === "a new eID assertion");
  // Without its padding, and with bits left over: no writer of base64 writes that.
  for (const unlike of ["e30", "e31=", ""])
    await expect(handle.provideAssertion(unlike)).rejects.toMatchObject({
      fields: [{ path: "assertion" }],
    });
  expect(await handle.provideAssertion(assertionOf("eid", new Date()))).toEqual({
    answer: "accepted",
  });
  expect(await handle.submitOtp(await codeFor(system.sandbox, "eid"))).toEqual({
    answer: "accepted",
  });
  expect((await handle.result()).references).toMatchObject({ otpId: expect.any(String) });
});

test("started again, it takes up what is enrolled, however old its assertion is by then (docs/design.md §2)", async () => {
  const first = await system.client.issueCertificate(
    "taken-up",
    assertionInput("taken-up", new Date()),
  );
  const code = await codeFor(system.sandbox, "taken-up");
  await system.client.temporal.workflow.getHandle(first.workflowId).terminate();
  const old = new Date(Date.now() - 3_600_000);
  const handle = await system.client.issueCertificate("taken-up", assertionInput("taken-up", old));
  await statusWhere(handle, ({ waitingFor }) => waitingFor === "the holder's code");
  expect(await handle.submitOtp(code)).toEqual({ answer: "accepted" });
  expect((await handle.result()).outcome).toBe("issued");
  expect(await effectsOf("taken-up")).toEqual({
    enrollDisposableWitheIDAssertion: 1,
    sendOtp: 1,
    validate: 1,
  });
});

test("data that the provider refuses names the field (242, P1 §7.1)", async () => {
  const input = holderInput("refused");
  if ("disposableHolder" in input) delete input.disposableHolder.lastName;
  const handle = await system.client.issueCertificate("refused", input);
  const failed = handle.result();
  await expect(failed).rejects.toThrow(NotAcceptedError);
  await expect(failed).rejects.toMatchObject({
    code: "242",
    fields: [{ path: "disposableHolder.lastName" }],
  });
  expect(await system.effects("refused")).toEqual({});
});

test("an enrolment whose answer was lost asks a person, who brings the ids", async () => {
  const handle = await system.client.issueCertificate(
    "lost",
    holderInput("lost", "enroll=cut-after-commit"),
  );
  const { attention } = await statusWhere(handle, (status) => status.attention !== undefined);
  const happenedNeeds = ["certIdOtp", "deviceCode"];
  expect(attention).toMatchObject({ kind: "unknownOutcome", step: "enroll", happenedNeeds });
  const [item] = (await system.sandbox.items({ intent: "lost" })).items;
  const { deviceCode } = await system.sandbox.item(item?.id ?? "");
  const decision = { attention: attention?.id ?? "", decision: "happened", by: "Ada" } as const;
  const result = { certIdOtp: Number(item?.id), deviceCode };
  for (const [key, value] of Object.entries({ otpId: "no id", enrolledAt: "yesterday" })) {
    const bad = handle.resolve({ ...decision, result: { ...result, [key]: value } });
    await expect(bad).rejects.toMatchObject({ fields: [{ path: `result.${key}` }] });
  }
  expect(await handle.resolve({ ...decision, result })).toEqual({ answer: "resolved" });
  expect(await handle.submitOtp(await codeFor(system.sandbox, "lost"))).toEqual({
    answer: "accepted",
  });
  expect((await handle.result()).outcome).toBe("issued");
  expect(await effectsOf("lost")).toEqual(issued);
});

test.each([
  ["checkData=code-11002", "accessDenied", "checkData"],
  ["enroll=code-11002", "accessDenied", "enroll"],
  ["enroll=code-4711", "unknownOutcome", "enroll"],
  ["sendOtp=code-11002", "accessDenied", "sendOtp"],
  ["sendOtp=code-242", "protocol", "sendOtp"],
  ["sendOtp=code-62", "protocol", "sendOtp"],
  ["sendOtp=code-249", "protocol", "sendOtp"],
  ["sendOtp=code-99", "protocol", "sendOtp"],
  ["checkDataWitheIDAssertion=code-244", "accessDenied", "checkData"],
  ["enrollDisposableWitheIDAssertion=code-244", "accessDenied", "enroll"],
])("%s is attention %s at %s, and nothing more is sent (P1 §7.1)", async (magic, kind, step) => {
  const id = magic.replace("=", "-").slice(0, 60);
  const isEid = magic.includes("eID");
  const [operation = "", code = ""] = magic.split("=code-");
  const fault = await system.sandbox.addFault({
    operation: `disposable-certificate.${operation}`,
    kind: "code",
    code: Number(code),
    lookupKey: id,
    times: "always",
  });
  const input = isEid ? assertionInput(id, new Date()) : holderInput(id);
  const handle = await system.client.issueCertificate(id, input);
  const { attention } = await statusWhere(handle, (status) => status.attention !== undefined);
  expect(attention).toMatchObject({ kind, step });
  expect(attention?.reason).toContain(`(${code})`);
  await delay(1_500);
  expect(await effectsOf(id)).toEqual(step === "sendOtp" ? { enroll: 1 } : {});
  await system.sandbox.removeFault(fault.id);
  if (kind === "accessDenied") {
    await statusWhere(handle, ({ waitingFor }) => waitingFor === "the holder's code");
  } else {
    await handle.resolve({ attention: attention?.id ?? "", decision: "abandon", by: "Ada" });
    await expect(handle.result()).rejects.toThrow("Abandoned");
  }
});

test("a refused code fails nothing once the certificate is enrolled: a person decides, and it goes on (docs/reading-the-specification.md §5)", async () => {
  const input = holderInput("unsent", "sendOtp=reject-400");
  const handle = await system.client.issueCertificate("unsent", input);
  const { attention } = await statusWhere(handle, (status) => status.attention !== undefined);
  expect(attention).toMatchObject({ kind: "protocol", step: "sendOtp" });
  await handle.resolve({ attention: attention?.id ?? "", decision: "retry", by: "Ada" });
  await handle.submitOtp(await codeFor(system.sandbox, "unsent"));
  expect((await handle.result()).outcome).toBe("issued");
  expect(await effectsOf("unsent")).toEqual(issued);
});

test("a holder who does not answer in time ends it as expired", async () => {
  const settings = { holderDeadlineSeconds: 2 };
  const handle = await system.client.issueCertificate(
    "late",
    holderInput("late", "", { settings }),
  );
  expect(await handle.result()).toMatchObject({ outcome: "expired", otpsSent: 1 });
});

test("a code that comes doubled, or several times at once, is validated once; one that comes late is told so", async () => {
  const settings = { holderDeadlineSeconds: 4 };
  const handle = await system.client.issueCertificate(
    "crowd",
    holderInput("crowd", "validate=slow-answer-1500"),
  );
  const code = await codeFor(system.sandbox, "crowd");
  const [wrong, ...right] = await Promise.all([
    handle.submitOtp(wrongCode(code)),
    handle.submitOtp(code, "doubled"),
    handle.submitOtp(code, "doubled"),
    handle.submitOtp(code),
    handle.submitOtp(code),
  ]);
  expect(right).toEqual(right.map(() => ({ answer: "accepted" })));
  // It may be the first that is tried, or come after the end.
  expect(["wrong", "accepted"]).toContain(wrong?.answer);
  expect((await handle.result()).outcome).toBe("issued");
  expect(await effectsOf("crowd")).toEqual(issued);

  const late = await system.client.issueCertificate(
    "tardy",
    holderInput("tardy", "", { settings }),
  );
  const tardy = await codeFor(system.sandbox, "tardy");
  expect((await late.result()).outcome).toBe("expired");
  await expect(late.submitOtp(tardy)).rejects.toThrow(FinishedError);
  expect(await effectsOf("tardy")).toEqual({ enroll: 1, sendOtp: 1 });
});

/** Parked where it stands, with these effects and none more, until a person gives it up. */
async function parks(
  id: string,
  input: IssueCertificateInput,
  { effects, ...expected }: { kind: string; step: string; effects: Record<string, number> },
): Promise<void> {
  const handle = await system.client.issueCertificate(id, input);
  const { attention } = await statusWhere(handle, (status) => status.attention !== undefined);
  expect(attention).toMatchObject(expected);
  expect(await effectsOf(id)).toEqual(effects);
  await handle.resolve({ attention: attention?.id ?? "", decision: "abandon", by: "Ada" });
  await expect(handle.result()).rejects.toThrow(AbandonedError);
}

test.each(["checkData", "enroll"])(
  "code 242 of %s is an end as NotAccepted, without an enrolment (P1 §7.1)",
  async (operation) => {
    const id = `code-242-${operation}`;
    const handle = await system.client.issueCertificate(
      id,
      holderInput(id, `${operation}=code-242`),
    );
    await expect(handle.result()).rejects.toMatchObject({ code: "242" });
    expect(await effectsOf(id)).toEqual({});
  },
);

test.each([
  ["checkDataWitheIDAssertion", 237],
  ["checkDataWitheIDAssertion", 239],
  ["enrollDisposableWitheIDAssertion", 237],
  ["enrollDisposableWitheIDAssertion", 239],
])("%s: code %i waits for a fresh assertion, once enrolled (P1 §7.1)", async (operation, code) => {
  const id = `code-${code}-${operation}`;
  const input = assertionInput(id, new Date(), `${operation}=code-${code}`);
  const handle = await system.client.issueCertificate(id, input);
  await statusWhere(handle, ({ waitingFor }) => waitingFor === "a new eID assertion");
  expect(await effectsOf(id)).toEqual({});
  expect(await handle.provideAssertion(assertionOf(id, new Date()))).toEqual({
    answer: "accepted",
  });
  expect(await handle.submitOtp(await codeFor(system.sandbox, id))).toEqual({ answer: "accepted" });
  expect(await effectsOf(id)).toEqual({
    enrollDisposableWitheIDAssertion: 1,
    sendOtp: 1,
    validate: 1,
  });
});

test("244, which is about the eID type: one that the LRA may use is not held up", async () => {
  await system.sandbox.putAccount("sandbox", { lras: { "lra-1": { eIDTypes: ["EIDVENDOR"] } } });
  const denied = { kind: "accessDenied", effects: {} };
  for (const isChecked of [true, false]) {
    const id = isChecked ? "eid-checked" : "eid-unchecked";
    const settings = { checkData: isChecked };
    const other = structuredClone(assertionInput(id, new Date()));
    if (!("eidAssertionHolder" in other)) throw new Error("not by an assertion");
    other.eidAssertionHolder.eIDType = "OTHER";
    const step = isChecked ? "checkData" : "enroll";
    await parks(id, { ...other, settings }, { ...denied, step });
    const good = `${id}-good`;
    const input = { ...assertionInput(good, new Date()), settings };
    const handle = await system.client.issueCertificate(good, input);
    const { attention } = await statusWhere(
      handle,
      (status) => status.attention !== undefined || status.waitingFor === "the holder's code",
    );
    expect(attention).toBeUndefined();
  }
});

test("a try whose worker was killed is no expiry at the deadline: a person is asked, however long its lease runs (docs/reading-the-specification.md §5)", async () => {
  const settings = { holderDeadlineSeconds: 5, resendSpacingSeconds: 0 };
  const input = holderInput("killed", "validate=cut-after-commit", { settings });
  const handle = await system.client.issueCertificate("killed", input);
  const answer = await handle.submitOtp(await codeFor(system.sandbox, "killed"));
  expect(answer).toEqual({ answer: "unknown" });
  await holdRow(system, { workflowId: handle.workflowId, step: "validate" });
  // The deadline passes meanwhile.
  await delay(8_000);
  const { attention } = await statusWhere(handle, (status) => status.attention !== undefined);
  expect(attention).toMatchObject({ kind: "unknownOutcome", step: "validate" });
});
