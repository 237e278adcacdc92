// Members and words that the specification does not show: by which names they are read, and by which they are sent.
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import * as certificates from "../../../src/providers/disposable-certificate/client.js";
import * as envelopes from "../../../src/providers/envelope-signature/client.js";
import * as oneShot from "../../../src/providers/one-shot-signature/client.js";
import {
  accountAt as certificateAt,
  enrolment,
  issued,
  otp,
} from "../disposable-certificate/account.js";
import { accountAt as envelopeAt, pdf } from "../envelope-signature/account.js";
import { errorOf } from "../evi-post/account.js";
import { accountAt } from "../one-shot-signature/account.js";
import { answering, filesOf, serverOfEachTest } from "../provider-server.js";

const server = serverOfEachTest();
const sent = () => JSON.parse(server.received.at(-1)?.text ?? "null") as unknown;
const sign = (changes = {}) =>
  oneShot.sign(accountAt(server.url, changes), { requestPk: "r1", otp: "482913" });
const retrieve = (changes = {}) => oneShot.retrieve(accountAt(server.url, changes), "r1");

test.each([
  [{ state: "signed" }, "signed"],
  [{ status: "signed" }, "signed"],
  [{ State: "SIGNED" }, "signed"],
  [{ STATUS: "Signing" }, "signing"],
  // The name that stands first counts: the other one may mean something else.
  [{ status: "ok", state: "signed" }, "signed"],
  [{ state: null, status: "signed" }, "signed"],
  [{ state: "signed", State: "signed" }, "signed"],
])("a signature answered with %j is %s", async (body, state) => {
  server.answer = answering(body);
  expect(await sign()).toEqual({ state });
});

test.each([
  [{ status: "ok" }, "`state` is none of signed, signing"],
  [{ state: "unsigned" }, "`state` is none of signed, signing"],
  [{ state: "signed", State: "failed" }, "`state` is present twice, with different values"],
  [{ outcome: "signed" }, "`state` is missing"],
])("a signature answered with %j claims nothing, and says why", async (body, why) => {
  server.answer = answering(body);
  const error = await errorOf(sign());
  expect(error).toMatchObject({ kind: "unknownOutcome", mismatch: "shape", member: "state" });
  expect(error.problem).toBe(`answered 200 with JSON in which ${why}`);
});

test("members and words of another language are configured", async () => {
  const own = accountAt(server.url);
  const members = { ...own.members, state: ["estado"], documents: ["ficheros"] };
  const words = { ...own.words, signed: ["firmado"], failed: ["no-firmado"] };
  server.answer = answering({ Estado: "FIRMADO" });
  expect(await sign({ members, words })).toEqual({ state: "signed" });
  server.answer = answering({ estado: "No firmado", ficheros: [{ Name: "a.pdf" }] });
  expect(await retrieve({ members, words })).toEqual({
    state: "failed",
    documents: [{ name: "a.pdf" }],
  });
});

test("a request and a video are read in any spelling; a word of tomorrow is passed on", async () => {
  const bytes = Buffer.from("%PDF-1.7 signed");
  const signed_sha_256 = createHash("sha256").update(bytes).digest("hex");
  const document = { Name: "a.pdf", SHA256: "ab".repeat(32), Signed: bytes.toString("base64") };
  server.answer = answering({ Status: "Canceled", Documents: [{ ...document, signed_sha_256 }] });
  expect(await retrieve()).toEqual({
    state: "cancelled",
    documents: [
      { name: "a.pdf", sha256: "ab".repeat(32), signed: bytes, signedSha256: signed_sha_256 },
    ],
  });
  server.answer = answering({ status: "APPROVED" });
  expect(await oneShot.getVideo(accountAt(server.url), "r1")).toEqual({ state: "approved" });
  server.answer = answering({ status: "In Review" });
  expect(await oneShot.getVideo(accountAt(server.url), "r1")).toEqual({ state: "In Review" });
});

test("a request's id is read by its configured name, in any spelling (P1 §2.9)", async () => {
  const { members } = accountAt(server.url);
  const named = accountAt(server.url, { members: { ...members, requestPk: ["pk"] } });
  server.answer = answering({ requestPk: "r1" }, 201);
  expect(await oneShot.create(accountAt(server.url), {})).toEqual({ requestPk: "r1" });
  server.answer = answering({ pk: 17, request_pk: "another service's" }, 201);
  expect(await oneShot.create(named, {})).toEqual({ requestPk: "17" });
  server.answer = answering({ error: { pk: "r2" } });
  expect((await errorOf(oneShot.create(named, {}))).reference).toBe("r2");
  server.answer = answering({ PK: "r2", state: "created", documents: [] });
  expect((await errorOf(oneShot.retrieve(named, "r1"))).kind).toBe("protocol");
});

test("what is sent is named as configured", async () => {
  server.answer = answering({ state: "signed" });
  const names = { file: "fichero", otp: "clave", name: "n", algorithm: "alg", hash: "h" };
  const changes = { sent: names, hashAlgorithm: "sha256" };
  await sign(changes);
  expect(sent()).toEqual({ clave: "482913" });
  const account = accountAt(server.url, changes);
  server.answer = answering("");
  await oneShot.uploadHash(account, { requestPk: "r1", name: "a.pdf", sha256: "ab" });
  expect(sent()).toEqual({ n: "a.pdf", alg: "sha256", h: "ab" });
  await oneShot.uploadDocument(account, { requestPk: "r1", ...pdf });
  expect((await filesOf(server.received.at(-1)!)).map(({ part }) => part)).toEqual(["fichero"]);
});

test("a certificate's OTP identifier and the body of validate (P1 §2.4, §2.5)", async () => {
  server.answer = answering({ ...issued, idOtp: 17 });
  const account = certificateAt(server.url, {
    members: { otpId: ["otpId", "idOtp"] },
    validation: { certIdOtp: "id", deviceCode: "device", otp: "code" },
  });
  expect(await certificates.enroll(account, enrolment)).toEqual({ ...issued, otpId: "17" });
  server.answer = answering("");
  await certificates.validate(account, { ...issued, otp });
  expect(sent()).toEqual({ id: issued.certIdOtp, device: issued.deviceCode, code: otp });
});

test("an envelope's id, and the part of an upload (P1 §4.5)", async () => {
  const account = {
    ...envelopeAt(server.url),
    filePart: "Document",
    members: { EnvelopeId: ["Id"] },
  };
  server.answer = answering({ id: 4 });
  const envelope = { documents: [{ fileId: "f1" }], esawToken: "t", envelope: {} };
  expect(await envelopes.sendEnvelope(account, envelope)).toEqual({ envelopeId: "4" });
  server.answer = answering({ FileId: "f1" });
  await envelopes.uploadFile(account, pdf);
  expect((await filesOf(server.received.at(-1)!)).map(({ part }) => part)).toEqual(["Document"]);
});
