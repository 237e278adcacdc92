// What one attempt of an activity works with: the input with its secrets opened, codes, and the circuits of its account.
import { expect, test } from "vitest";
import { z } from "zod";
import { EnvelopeContext } from "../../../src/activities/envelope-signature/index.js";
import type { AttemptMode } from "../../../src/activities/runtime/failure.js";
import { MAX_CODE_LENGTH } from "../../../src/contracts/shared/one-time-password.js";
import { DecryptionError, UnknownKeyError } from "../../../src/crypto/errors.js";
import { inAttempt } from "../attempts.js";

const contract = z.strictObject({
  name: z.string(),
  password: z.string().min(3).meta({ writeOnly: true }),
});

/** Opens `sealed:x` as `x`, in one process alone. */
const secrets = {
  open: (text: string, { workflowId }: { workflowId: string }) => {
    if (workflowId !== "envelope-1") throw new DecryptionError("of another process");
    if (text === "sealed:") throw new UnknownKeyError("k1");
    return text.replace("sealed:", "");
  },
};

function inActivity<T>(
  work: (context: EnvelopeContext) => T,
  { mode = "quick", workflowId = "envelope-1" }: { mode?: AttemptMode; workflowId?: string } = {},
): Promise<T> {
  const deps = { secrets, accounts: { default: { name: "default" } } };
  const info = { workflowExecution: { workflowId, runId: "r" } };
  const given = { account: "default", mode };
  const run = async () => work(new EnvelopeContext("envelope-signature", deps as never, given));
  return inAttempt(run, info);
}

test("an input is parsed with its secrets opened", async () => {
  const input = { name: "sealed:stays", password: "sealed:pass" };
  expect(await inActivity((context) => context.parse(contract, input))).toEqual({
    name: "sealed:stays",
    password: "pass",
  });
});

test("an input that breaks its contract names each field, by the opened secret", async () => {
  const parsed = inActivity((context) => context.parse(contract, { password: "sealed:no" }));
  await expect(parsed).rejects.toMatchObject({ fields: [{ path: "name" }, { path: "password" }] });
});

test("a secret of another process is the caller's mistake, a missing key is not", async () => {
  const open = (context: EnvelopeContext) => context.openSecret("sealed:pass");
  await expect(inActivity(open, { workflowId: "envelope-2" })).rejects.toMatchObject({
    fields: [{ path: "(input)" }],
  });
  const locked = inActivity((context) => context.openSecret("sealed:"));
  await expect(locked).rejects.toBeInstanceOf(UnknownKeyError);
});

test("a code may be as long as the contract says, after it is opened", async () => {
  const code = "1".repeat(MAX_CODE_LENGTH);
  expect(await inActivity((context) => context.openCode(`sealed:${code}`))).toBe(code);
  const tooLong = inActivity((context) => context.openCode(`sealed:${code}1`));
  await expect(tooLong).rejects.toMatchObject({ fields: [{ path: "code" }] });
});

test("each host of an account has a circuit of its own, and a part of an operation too", async () => {
  const keys = await inActivity((context) => [
    context.circuitKey("esawoneshot"),
    context.circuitKey("uploadFile"),
    context.circuitKey("sendEnvelope", "contract"),
  ]);
  const account = "envelope-signature/default";
  const shared = { intent: "envelope-1", urgent: false, signal: expect.any(AbortSignal) };
  expect(keys).toEqual([
    { account: `${account}/ca`, operation: "esawoneshot", ...shared },
    { account: `${account}/esign`, operation: "uploadFile", ...shared },
    { account: `${account}/esign`, operation: "sendEnvelope/contract", ...shared },
  ]);
});

test.each<[AttemptMode, boolean]>([
  ["quick", false],
  ["probe", true],
  ["send", false],
  ["watch", false],
])("only an operator's retry is urgent: %s", async (mode, urgent) => {
  const key = await inActivity((context) => context.circuitKey("uploadFile"), { mode });
  expect(key.urgent).toBe(urgent);
});
