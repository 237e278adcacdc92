// A client that refuses plaintext believes no answer in clear, and the configuration says which client does (decision 22).
import { basename } from "node:path";
import { expect, test } from "vitest";
import { defaultPayloadConverter } from "@temporalio/common";
import type { PayloadCodec } from "@temporalio/common";
import type { Config } from "../../../src/config/config.js";
import { clientRefusesPlaintext } from "../../../src/config/payload-keys.js";
import { isPlaintextRefused } from "../../../src/temporal/codec/client-codec.js";
import { dataConverter } from "../../../src/temporal/codec/data-converter.js";
import { freshRing } from "../support.js";

const answer = defaultPayloadConverter.toPayload({ outcome: "delivered" });

const converterOf = (refusePlaintext?: boolean) =>
  dataConverter(freshRing(), undefined, refusePlaintext);
const codecOf = (refusePlaintext?: boolean): PayloadCodec =>
  converterOf(refusePlaintext).payloadCodecs![0]!;

test("an answer in clear is refused, and an encrypted one is read", async () => {
  const codec = codecOf(true);
  expect(await codec.decode([answer]).catch(isPlaintextRefused)).toBe(true);
  const context = { type: "workflow", namespace: "default", workflowId: "x" } as const;
  const encrypted = await codec.encode([answer], context);
  const [read] = await codec.decode(encrypted, context);
  expect(defaultPayloadConverter.fromPayload(read!)).toEqual({ outcome: "delivered" });
  await expect(codec.decode([...encrypted, answer])).rejects.toThrow("is not encrypted");
  expect(await codecOf().decode([answer])).toEqual([answer]);
  expect([new Error("other"), { name: "PlaintextRefused" }].some(isPlaintextRefused)).toBe(false);
  expect(basename(converterOf(true).failureConverterPath!)).toBe("client-failure-converter.cjs");
});

test.each([
  [undefined, undefined, false],
  ["sandbox", undefined, false],
  ["preproduction", undefined, true],
  ["production", undefined, true],
  ["production", "accept", false],
  [undefined, "refuse", true],
])("in the environment %s with codec.plaintext %s: %s", (environment, plaintext, refuses) => {
  expect(clientRefusesPlaintext({ environment, codec: { plaintext } } as Config)).toBe(refuses);
});
