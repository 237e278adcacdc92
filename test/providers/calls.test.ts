// What the clients have in common beyond the meaning of answers: where a call goes, what cannot be a part of its path, an abort, and the id
// that a broken success shows nevertheless.
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import * as wallets from "../../src/providers/credential-wallet/client.js";
import * as certificates from "../../src/providers/disposable-certificate/client.js";
import * as envelopes from "../../src/providers/envelope-signature/client.js";
import * as notices from "../../src/providers/evi-notice/client.js";
import * as letters from "../../src/providers/evi-post/client.js";
import { send } from "../../src/providers/messaging-gateway/client.js";
import * as signatures from "../../src/providers/one-shot-signature/client.js";
import * as wallet from "./credential-wallet/account.js";
import * as certificate from "./disposable-certificate/account.js";
import * as envelope from "./envelope-signature/account.js";
import * as notice from "./evi-notice/account.js";
import * as post from "./evi-post/account.js";
import * as gateway from "./messaging-gateway/account.js";
import * as oneShot from "./one-shot-signature/account.js";
import { operations } from "./operations.js";
import { answering, serverOfEachTest } from "./provider-server.js";
import { away, lookUp, meaningOf, unknown } from "./refusals.js";

const server = serverOfEachTest();

test.each(operations.map(({ name, call }) => [name, call] as const))(
  "%s goes below the prefix of a base URL, whatever slashes that ends in",
  async (_, call) => {
    for (const end of ["", "/pre", "/pre/", "/pre//"])
      await call(server.url + end).catch(() => undefined);
    const [path, ...below] = server.received.map((request) => request.path);
    expect(below).toEqual([`/pre${path}`, `/pre${path}`, `/pre${path}`]);
  },
);

test("an answer comes as it is: a provider may compress what nobody asked it not to (RFC 9110 §12.5.3)", async () => {
  const uniqueId = notice.noticeId;
  server.answer = ({ headers }, response) => {
    const plain = JSON.stringify({ uniqueId });
    if (headers["accept-encoding"] === "identity") response.end(plain);
    else response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(plain));
  };
  const cancelled = await letters.cancel(post.accountAt(server.url), { uniqueId });
  expect(cancelled).toEqual({ uniqueId });
});

describe.each<[string, string, (id: string) => Promise<unknown>]>([
  [
    "evi-notice deleteBatchAttachment",
    `/v2/EviNotice/Batches/${notice.noticeId}/Attachments/ID`,
    (attachmentId) => {
      const of = { batchId: notice.noticeId, attachmentId };
      return notices.deleteBatchAttachment(notice.accountAt(server.url), of);
    },
  ],
  [
    "one-shot-signature otp",
    "/oneshot/api/v1/otp/ID",
    (id) => oneShot.calls.otp(oneShot.accountAt(server.url), id),
  ],
  [
    "credential-wallet initIssuance",
    "/issuance/api/v1/ID/init",
    (issuanceServiceId) =>
      wallet.calls.initIssuance(wallet.accountAt(server.url), {}, { issuanceServiceId }),
  ],
  [
    "credential-wallet initPresentation",
    "/verification/api/v1/ID/init",
    (verificationServiceId) =>
      wallet.calls.initPresentation(wallet.accountAt(server.url), {}, { verificationServiceId }),
  ],
])("the id in the path of %s", (_, path, call) => {
  test("stays one segment", async () => {
    server.answer = answering("");
    await call("../a/b?c=1#d%20é$&");
    const encoded = "..%2Fa%2Fb%3Fc%3D1%23d%2520%C3%A9%24%26";
    expect(server.received[0]?.path).toBe(path.replace("ID", () => encoded));
  });

  test.each(["", ".", "..", "\ud800"])("is never sent as %j", async (id) => {
    expect(await post.errorOf(call(id))).toMatchObject({ kind: "protocol", effect: "none" });
    expect(server.received).toEqual([]);
  });
});

const documents = [{ fileId: "f1" }];
test.each<[string, string, (signal: AbortSignal) => Promise<unknown>]>([
  [
    "evi-post cancel",
    lookUp,
    (signal) => letters.cancel(post.accountAt(server.url), { uniqueId: "u1" }, signal),
  ],
  [
    "evi-notice createBatch",
    lookUp,
    (signal) => notices.createBatch(notice.accountAt(server.url), { description: "d" }, signal),
  ],
  [
    "disposable-certificate enroll",
    unknown,
    (signal) =>
      certificates.enroll(certificate.accountAt(server.url), certificate.enrolment, signal),
  ],
  ["messaging-gateway send", unknown, (signal) => send(gateway.accountAt(server.url), {}, signal)],
  [
    "one-shot-signature approveVideo",
    unknown,
    (signal) => signatures.approveVideo(oneShot.accountAt(server.url), { requestPk: "r1" }, signal),
  ],
  [
    "envelope-signature sendEnvelope",
    unknown,
    (signal) => {
      const given = { documents, esawToken: "tok", envelope: {} };
      return envelopes.sendEnvelope(envelope.accountAt(server.url), given, signal);
    },
  ],
  [
    "credential-wallet createOperator",
    unknown,
    (signal) => wallets.createOperator(wallet.accountAt(server.url), { fields: {} }, signal),
  ],
])("an abort reaches %s, and is %s while the answer is awaited", async (_, meaning, call) => {
  const abort = new AbortController();
  server.answer = () => abort.abort();
  const error = await post.errorOf(call(abort.signal));
  expect([meaningOf(error), error.code]).toEqual([meaning, "ABORTED"]);
  const late = await post.errorOf(call(abort.signal));
  expect([meaningOf(late), late.code]).toEqual([away, "ABORTED"]);
});

describe.each<[string, string, () => Promise<unknown>]>([
  [
    "disposable-certificate enroll",
    "certIdOtp",
    () => certificate.calls.enroll(certificate.accountAt(server.url)),
  ],
  [
    "one-shot-signature create",
    "request_pk",
    () => signatures.create(oneShot.accountAt(server.url), {}),
  ],
  [
    "envelope-signature esawoneshot",
    "req_pk",
    () => envelope.calls.esawoneshot(envelope.accountAt(server.url)),
  ],
  [
    "credential-wallet createTemplate",
    "id",
    () => wallet.calls.createTemplate(wallet.accountAt(server.url)),
  ],
])("a broken success of %s", (_, name, call) => {
  test.each([
    ["elsewhere", { data: { [name]: "r-1" } }, "r-1"],
    ["in an answer that was cut", `{"${name}": "r-1", "sta`, "r-1"],
    ["beside an error", { error: "partly", data: { [name]: "r-1" } }, "r-1"],
    ["as a number in a list", [{ [name]: 17 }], "17"],
    ["twice", [{ [name]: "r1" }, { [name]: "r2" }], undefined],
    ["cut itself", `{"${name}":"r-1`, undefined],
    ["as a number that was cut", `{"${name}":17`, undefined],
    ["as null", { [name]: null }, undefined],
    ["as an empty text", { [name]: "" }, undefined],
    ["nowhere", "", undefined],
  ])(
    `that shows ${name} %s has an unknown outcome, and its id as far as it goes`,
    async (...row) => {
      const [, body, reference] = row;
      server.answer = answering(body);
      const error = await post.errorOf(call());
      expect([meaningOf(error), error.reference]).toEqual([unknown, reference]);
    },
  );
});
