import { describe, expect, test } from "vitest";
import {
  generateOperatorKey,
  isSignatureOf,
  signDecision,
  signedBytes,
} from "../../src/crypto/decision-signature.js";

const bytes = (text: string) => Buffer.from(text, "base64");
const ana = generateOperatorKey();
const ben = generateOperatorKey();
const decision = {
  namespace: "default",
  workflowId: "sendPostal/order-7",
  update: "resolve",
  updateId: "u-1",
  operator: "ana",
  at: "2026-11-22T08:00:00.000Z",
  argument: {
    attention: "submit-1",
    decision: "happened",
    by: "Ana Ruiz",
    note: "seen in the portal",
    confirmRetry: false,
    result: { uniqueId: "4f1c" },
  },
};
const signature = signDecision(bytes(ana.privateKey), decision);
const isAnas = (changed: object, value = signature) =>
  isSignatureOf(bytes(ana.publicKey), { ...decision, ...changed }, value);

test("a signature is that of its key and of its decision", () => {
  expect(bytes(signature)).toHaveLength(64);
  expect(isAnas({})).toBe(true);
  expect(isSignatureOf(bytes(ben.publicKey), decision, signature)).toBe(false);
});

describe("a signature of another decision", () => {
  test.each(
    Object.keys(decision)
      .filter((name) => name !== "argument")
      .map((name) => [name]),
  )("is none where %s differs", (name) => {
    expect(isAnas({ [name]: "other" })).toBe(false);
  });

  test.each(Object.entries(decision.argument))("is none where %s differs", (name, value) => {
    const other = typeof value === "boolean" ? !value : "other";
    expect(isAnas({ argument: { ...decision.argument, [name]: other } })).toBe(false);
    const { [name as "note"]: _, ...without } = decision.argument;
    expect(isAnas({ argument: without })).toBe(false);
  });

  test("is none where something was added", () => {
    expect(isAnas({ argument: { ...decision.argument, more: 1 } })).toBe(false);
  });
});

test("the order of the members and what has no value do not matter", () => {
  const { attention, ...rest } = decision.argument;
  expect(isAnas({ argument: { ...rest, more: undefined, attention } })).toBe(true);
});

test("what is no signature is none", () => {
  for (const value of ["", "AAAA", "no base64!", bytes(signature).toString("hex")])
    expect(isAnas({}, value)).toBe(false);
});

test("what is signed says what it is for", () => {
  expect(JSON.parse(signedBytes(decision).toString())).toEqual({
    ...decision,
    purpose: "trustflow.decision.1",
  });
});
