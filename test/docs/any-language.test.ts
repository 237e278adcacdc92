// docs/any-language.md: its bytes against an implementation that was written from the page alone, and against our own; its tables
// against the contracts. What the processes register is compared in test/long/e2e/applications.test.ts.
import { describe, expect, test } from "vitest";
import { defaultPayloadConverter } from "@temporalio/common";
import type { DefaultFailureConverter } from "@temporalio/common";
import { createPrivateKey, createPublicKey, sign } from "node:crypto";
import { createRequire } from "node:module";
import { messageSchemaOf } from "../harness/pages/message-schema.js";
import { processFailures } from "../../src/contracts/shared/failures.js";
import { queries, signals } from "../../src/contracts/message-contracts.js";
import { queryTooEarly } from "../../src/contracts/shared/messages.js";
import { decisionUpdates, processes, updatesOf } from "../../src/contracts/registry.js";
import { workflowTaskQueue } from "../../src/contracts/shared/names.js";
import { INLINE_DOCUMENT_LIMIT } from "../../src/contracts/shared/values.js";
import { isSignatureOf, signedBytes } from "../../src/crypto/decision-signature.js";
import type { SignedDecision } from "../../src/crypto/decision-signature.js";
import { KeyRing } from "../../src/crypto/key-ring.js";
import { EncryptionCodec } from "../../src/temporal/codec/codec.js";
import { failureConverterPath } from "../../src/temporal/codec/data-converter.js";
import { pageCodec, sealed, serialised, tagged } from "../harness/pages/any-language.js";
import { codeBlocks, namedRows, textOf } from "./repository.js";

const page = textOf("docs/any-language.md");
const example = Object.fromEntries(
  (codeBlocks(page).find(({ lines }) => lines[0]?.startsWith("ring"))?.lines ?? []).map((line) =>
    line.split(/\s{2,}/),
  ),
) as Record<"ring" | "value" | "P" | "IV" | "ciphertext" | "tag" | "data", string>;
const [keyId = "", key = ""] = example.ring.split(":");
const plain = {
  metadata: { encoding: Buffer.from("json/plain") },
  data: Buffer.from(example.value),
};
const hex = (text: string) => Buffer.from(text, "hex");

describe("the layout of a payload", () => {
  const ours = new EncryptionCodec(KeyRing.parse(example.ring));
  const theirs = pageCodec(example.ring);

  test("the example is what the page says of it", () => {
    expect(serialised(plain).toString("hex")).toBe(example.P);
    const { data } = sealed(plain, keyId, Buffer.from(key, "base64"), hex(example.IV));
    expect(Buffer.from(data).toString("hex")).toBe(example.data);
    expect(example.data).toBe(example.IV + example.ciphertext + example.tag);
  });

  test("we read the example", async () => {
    const metadata = {
      encoding: Buffer.from("binary/encrypted"),
      "encryption-key-id": Buffer.from(keyId),
    };
    const [read] = await ours.decode([{ metadata, data: hex(example.data) }]);
    expect(defaultPayloadConverter.fromPayload(read!)).toEqual(JSON.parse(example.value));
  });

  test.each([0, 1, 100, 200, 20_000])(
    "each reads what the other writes, of %i bytes",
    async (size) => {
      const value = { text: "x".repeat(size) };
      const payload = defaultPayloadConverter.toPayload(value);
      const [fromUs] = await theirs.decode(await ours.encode([payload]));
      expect(JSON.parse(Buffer.from(fromUs!.data).toString())).toEqual(value);
      expect(Buffer.from(fromUs!.metadata["encoding"]!).toString()).toBe("json/plain");
      const [fromThem] = await ours.decode(await theirs.encode([fromUs!]));
      expect(defaultPayloadConverter.fromPayload(fromThem!)).toEqual(value);
    },
  );

  test("what is not encrypted is used as it is", async () => {
    expect(await theirs.decode([plain])).toEqual([plain]);
  });
});

describe("the write tag", () => {
  const lines = codeBlocks(page).find(({ lines: [first] }) => first?.startsWith("write ring"));
  const shown = Object.fromEntries(
    (lines?.lines ?? []).map((line) => line.split(/\s{2,}/)),
  ) as Record<"write ring" | "write tag", string>;
  const write = { ring: shown["write ring"], workflowId: "issueCertificate/order-7" };
  const context = { type: "workflow", namespace: "default", workflowId: write.workflowId } as const;
  const ours = new EncryptionCodec(KeyRing.parse(example.ring), KeyRing.parse(write.ring));

  test("the example is what the page says of it", () => {
    const { metadata } = tagged({ metadata: {}, data: hex(example.data) }, write);
    expect(Buffer.from(metadata["trustflow-write-tag"]!).toString("hex")).toBe(shown["write tag"]);
    for (const name of Object.keys(metadata)) expect(page).toContain(`\`${name}\``);
  });

  test("ours and the page's are the same, for this process alone", async () => {
    const [fromThem] = await pageCodec(example.ring, write).encode([plain]);
    expect(ours.isTagged(fromThem!, context)).toBe(true);
    for (const other of [{ workflowId: "issueCertificate/other" }, { namespace: "other" }])
      expect(ours.isTagged(fromThem!, { ...context, ...other })).toBe(false);
    const [fromUs] = await ours.encode([plain], context);
    expect(tagged({ ...(fromUs as typeof plain), metadata: {} }, write).metadata).toEqual(
      Object.fromEntries(
        Object.entries(fromUs!.metadata!).filter(([name]) => /tag|write/.test(name)),
      ),
    );
    const [changed] = await ours.encode([plain], context);
    changed!.data![20]! ^= 1;
    expect(ours.isTagged(changed!, context)).toBe(false);
  });
});

test("a failure hides message and stack trace in its encoded attributes", async () => {
  const { failureConverter } = createRequire(import.meta.url)(failureConverterPath) as {
    failureConverter: DefaultFailureConverter;
  };
  const failure = failureConverter.errorToFailure(new Error("secret"), defaultPayloadConverter);
  expect(page).toContain(`\`${failure.message}\``);
  expect(failure).toMatchObject({ message: "Encoded failure", stackTrace: "" });
  const hidden = defaultPayloadConverter.fromPayload(failure.encodedAttributes!);
  const shown =
    codeBlocks(page)
      .find(({ language }) => language === "json")
      ?.lines.join("") ?? "{}";
  expect(Object.keys(hidden as object)).toEqual(Object.keys(JSON.parse(shown) as object));
  expect(hidden).toMatchObject({ message: "secret" });
});

/** The words in backticks of each cell. */
const words = (cell = "") =>
  [...`\`${cell}\``.matchAll(/`([^`\s]+)`/g)].map(([, word = ""]) => word);
const rows = namedRows(page);
const rowOf = (name: string) => rows.find(([first]) => first === name) ?? [];

test("the tables have every signal and every query, and what a signal takes", () => {
  for (const own of signals.filter(({ name }) => name !== "providerEvents"))
    expect(words(rowOf(own.name)[2])).toEqual(messageSchemaOf(own).members);
  const messages = [...signals, ...queries].map(({ name }) => name);
  expect(rows.map(([name = ""]) => name).toSorted()).toEqual(
    [...messages, ...processFailures].toSorted(),
  );
});

test("the names of the start, and of what is refused, are those of the contracts", () => {
  for (const name of processes) expect(page).toContain(`\`${name}\``);
  expect(page).toContain(`| task queue | \`${workflowTaskQueue}\` |`);
  expect(page).toContain(INLINE_DOCUMENT_LIMIT.toLocaleString("en"));
  expect(queryTooEarly).toContain("ask again");
});

test("the example of a signed decision is what the page says of it, and ours is the same", () => {
  const block = codeBlocks(page).find(({ lines }) => lines[0]?.startsWith("private key"));
  const lines = Object.fromEntries(
    block?.lines.map((line) => line.split(/\s{2,}/)) ?? [],
  ) as Record<"private key" | "public key" | "argument" | "bytes" | "value", string>;
  const [operator = "", privateKey = ""] = lines["private key"].split(":");
  // Written from the page alone: sorted members, and the key as RFC 8410 wraps it.
  const der = Buffer.concat([
    Buffer.from("302e020100300506032b657004220420", "hex"),
    Buffer.from(privateKey, "base64"),
  ]);
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const publicKey = createPublicKey(key).export({ format: "der", type: "spki" }).subarray(-32);
  expect(publicKey.toString("base64")).toBe(lines["public key"]);
  expect(sign(null, Buffer.from(lines.bytes), key).toString("base64")).toBe(lines.value);

  const { purpose: _, ...decision } = JSON.parse(lines.bytes) as SignedDecision & {
    purpose: string;
  };
  const argument = JSON.parse(lines.argument) as object;
  expect(decision).toMatchObject({ operator, argument });
  expect(signedBytes({ ...decision, argument }).toString()).toBe(lines.bytes);
  expect(isSignatureOf(publicKey, { ...decision, argument }, lines.value)).toBe(true);
});

test("the decisions that may be signed are those whose argument has a signature", () => {
  const signed = new Set(
    processes.flatMap((processName) =>
      updatesOf(processName)
        .filter((update) => messageSchemaOf(update).members.includes("signature?"))
        .map(({ name }) => name),
    ),
  );
  expect(signed).toEqual(new Set<string>(decisionUpdates));
});
