import { defaultPayloadConverter } from "@temporalio/common";
import { expect, test } from "vitest";
import { isSealed } from "../../../src/contracts/shared/sealed-secret.js";
import { DecryptionError, UnknownKeyError } from "../../../src/crypto/errors.js";
import { KeyRing } from "../../../src/crypto/key-ring.js";
import { generateBoxRing } from "../../../src/crypto/sealed-box.js";
import { masked } from "../../../src/temporal/codec/payload-json.js";
import { SecretSealer, WorkerSecrets } from "../../../src/temporal/codec/secrets.js";

const { privateRing, publicRing } = generateBoxRing();
const sealer = new SecretSealer(KeyRing.parse(publicRing));
const worker = new WorkerSecrets(KeyRing.parse(privateRing));
const here = { namespace: "default", workflowId: "issueCertificate/one" };

test("what a client seals the worker opens, in the same process alone", () => {
  const sealed = sealer.seal("ñ secret", here);
  expect(isSealed(sealed)).toBe(true);
  expect(sealed).not.toContain("secret ");
  expect(worker.open(sealed, here)).toBe("ñ secret");
  for (const other of [{ workflowId: "issueCertificate/two" }, { namespace: "other" }])
    expect(() => worker.open(sealed, { ...here, ...other })).toThrow(DecryptionError);
  const another = new WorkerSecrets(KeyRing.parse(generateBoxRing().privateRing));
  expect(() => another.open(sealed, here)).toThrow(DecryptionError);
});

test("what is in clear opens as it is, and nothing is sealed twice", () => {
  expect(worker.open("clear", here)).toBe("clear");
  const sealed = worker.seal("x", here);
  expect(worker.seal(sealed, here)).toBe(sealed);
  expect(worker.open(sealed, here)).toBe("x");
});

test("a worker without the ring takes secrets in clear, and names what it lacks for a sealed one", () => {
  const without = new WorkerSecrets(undefined);
  expect([without.open("x", here), without.seal("x", here)]).toEqual(["x", "x"]);
  expect(() => without.open(sealer.seal("x", here), here)).toThrow(
    new UnknownKeyError("keys.secrets"),
  );
});

const shownOf = (value: unknown) =>
  defaultPayloadConverter.fromPayload(masked(defaultPayloadConverter.toPayload(value)));

test("who decodes sees [secret] for sealed and for clear secrets, and everything else", () => {
  expect(
    shownOf({
      input: { disposableCertificate: { password: "p", securityCode: 7, otpType: "SMS" } },
      assertion: sealer.seal("a", here),
      list: [sealer.seal("b", here), "kept"],
      deviceCode: "d",
      otp: "123456",
      nothing: null,
    }),
  ).toEqual({
    input: {
      disposableCertificate: { password: "[secret]", securityCode: "[secret]", otpType: "SMS" },
    },
    assertion: "[secret]",
    list: ["[secret]", "kept"],
    deviceCode: "[secret]",
    otp: "[secret]",
    nothing: null,
  });
  expect(shownOf({ otp: { sent: "once" } })).toEqual({ otp: { sent: "once" } });
  expect(shownOf({ code: "123456" })).toEqual({ code: "[secret]" });
  expect(shownOf({ code: "242", fields: [] })).toEqual({ code: "242", fields: [] });
});

test("a payload without secrets, and one that is not JSON, stay as they are", () => {
  const plain = defaultPayloadConverter.toPayload({ id: "order-7", n: [1, null] });
  const broken = { metadata: plain.metadata ?? {}, data: Buffer.from("{") };
  const binary = defaultPayloadConverter.toPayload(new Uint8Array([1, 2]));
  const unmarked = { data: Buffer.from('{"otp":"123456"}') };
  for (const payload of [plain, broken, binary, unmarked]) expect(masked(payload)).toBe(payload);
});
