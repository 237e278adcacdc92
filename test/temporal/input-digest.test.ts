// What counts as the same input (docs/design.md §2), and that a stored digest stays known.
import { contentOf } from "../../src/documents/content.js";
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { comparedInput } from "../../src/contracts/definition/secret-fields.js";
import { SendMessageInput } from "../../src/contracts/send-message/contract.js";
import { SendPostalInput } from "../../src/contracts/send-postal/contract.js";
import { SignEnvelopeInput } from "../../src/contracts/sign-envelope/contract.js";
import { SignOneShotInput } from "../../src/contracts/sign-one-shot/contract.js";
import { KeyRing } from "../../src/crypto/key-ring.js";
import { inputDigest, sameInput } from "../../src/crypto/json-digest.js";
import { letterInput } from "../processes/send-postal/inputs.js";
import { videoInput } from "../processes/sign-one-shot/inputs.js";

const ring = KeyRing.parse("k1:e8yF4IAdUzzRN+lgcc0MTDzNZPj6pYzAZEooMhJzBd4=");
const account = "default";

const letter = {
  account,
  input: comparedInput(SendPostalInput, letterInput("id-1", "delivered"), contentOf),
};
const video = {
  account,
  input: comparedInput(SignOneShotInput, videoInput("id-1", ""), contentOf),
};
const message = (attachment: object) => ({
  account,
  input: comparedInput(SendMessageInput, { providerFields: { to: "x", attachment } }, contentOf),
});

/** Stored digests of open processes: another text would refuse the second start of each. */
test("the digest of an input with documents stays what it is", () => {
  expect(inputDigest(ring, letter)).toBe(
    "k1.761baf7ee5309c4b38ef60cb322bdf11277e84aaabd65502ef4e3a367ddc029b",
  );
  expect(inputDigest(ring, video)).toBe(
    "k1.24c98fe6e497cfc664c6bccfdb2e83eaa783c0d3d68f05a28e707905e9fabd74",
  );
});

test.each([
  ["the rest of the object", { base64: "aGVsbG8=", name: "a" }, { base64: "aGVsbG8=", name: "b" }],
  ["the spelling", { base64: "aGVsbG8=" }, { base64: "aGVsbG8" }],
  ["a uri", { uri: "a", sha256: "s" }, { uri: "b", sha256: "s" }],
])("two messages that differ in %s beside content are two inputs", (_, one, other) => {
  const stored = inputDigest(ring, message(one));
  expect(sameInput(ring, message(one), stored)).toBe(true);
  expect(sameInput(ring, message(other), stored)).toBe(false);
});

test("a document of the contract is its content, inline or stored, wherever the contract has one", () => {
  const bytes = Buffer.from("%PDF-1.7 content");
  const inline = { base64: bytes.toString("base64"), mediaType: "application/pdf" };
  const stored = {
    uri: `document:${"0".repeat(32)}`,
    sha256: createHash("sha256").update(bytes).digest("hex"),
    size: bytes.length,
    mediaType: "application/pdf",
  };
  const envelope = (document: object) => ({
    request: { providerFields: { base64: "a", name: "b" } },
    documents: [{ name: "a.pdf", document }],
  });
  const content = { sha256: stored.sha256 };
  expect(comparedInput(SignEnvelopeInput, envelope(inline), contentOf)).toEqual(envelope(content));
  expect(comparedInput(SignEnvelopeInput, envelope(stored), contentOf)).toEqual(envelope(content));
  // What a plain client sent is compared before anything has looked at it.
  expect(comparedInput(SignEnvelopeInput, envelope({ base64: 1 }), contentOf)).toEqual(
    envelope({ base64: 1 }),
  );
  expect(comparedInput(SendPostalInput, letterInput("id", "delivered"), contentOf)).toHaveProperty(
    "document",
    { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
  );
});
