// The everyday paths of a disposable certificate on the whole system: codes, assertions, refusals (P1 §1.1, 4.1; READING §5).
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { FinishedError, NotAcceptedError } from "../../src/client.js";
import {
  assertionInput,
  assertionOf,
  codeFor,
  holderInput,
  wrongCode,
} from "../support/holders.js";
import { startTestStack, statusWhere } from "../support/stack.js";
import type { TestStack } from "../support/stack.js";

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
  await statusWhere(handle, ({ waitingFor }) => waitingFor === "a fresh eID assertion");
  expect(await handle.provideAssertion(assertionOf("eid", new Date()))).toEqual({
    answer: "accepted",
  });
  expect(await handle.submitOtp(await codeFor(system.sandbox, "eid"))).toEqual({
    answer: "accepted",
  });
  expect((await handle.result()).references).toMatchObject({ otpId: expect.any(String) });
});

test("data that the provider refuses names the field (242, P1 §7.1)", async () => {
  const input = holderInput("refused");
  if ("disposableHolder" in input) delete input.disposableHolder.lastName;
  const handle = await system.client.issueCertificate("refused", input);
  const failed = handle.result();
  await expect(failed).rejects.toThrow(NotAcceptedError);
  await expect(failed).rejects.toMatchObject({ code: "242" });
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
  expect(await handle.resolve({ ...decision, result })).toEqual({ answer: "resolved" });
  expect(await handle.submitOtp(await codeFor(system.sandbox, "lost"))).toEqual({
    answer: "accepted",
  });
  expect((await handle.result()).outcome).toBe("issued");
  expect(await effectsOf("lost")).toEqual(issued);
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
  const answers = await Promise.all([
    handle.submitOtp(code, "doubled"),
    handle.submitOtp(code, "doubled"),
    handle.submitOtp(code),
    handle.submitOtp(wrongCode(code)),
  ]);
  expect(answers).toEqual(answers.map(() => ({ answer: "accepted" })));
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
