// The authority's host is shown the client certificate, the envelope host is not (P1 §4.5, §5.5).
import type { TLSSocket } from "node:tls";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ClientCertificate } from "../../../src/providers/http/client-certificate.js";
import * as client from "../../../src/providers/envelope-signature/client.js";
import { Files, authority, certificates, mutualTls } from "../http/mutual-tls.js";
import { startProviderServer } from "../provider-server.js";
import type { Handler, ProviderServer } from "../provider-server.js";
import { accountAt, pdf } from "./account.js";

let files: Files;
let shown: string[];
let ca: ProviderServer;
let esign: ProviderServer;
const handler: Handler = ({ path }, response, { socket }) => {
  const { subject } = (socket as TLSSocket).getPeerCertificate();
  shown.push(`${path} ${subject?.CN ?? "-"}`);
  response.end(JSON.stringify({ req_pk: "q1", esaw_token: "tok", FileId: "f1" }));
};
beforeEach(async () => {
  files = new Files();
  shown = [];
  ca = await startProviderServer(handler, { tls: mutualTls });
  esign = await startProviderServer(handler, { tls: { ...mutualTls, rejectUnauthorized: false } });
});
afterEach(async () => {
  await ca.close();
  await esign.close();
  files.remove();
});
const caFile = () => files.put("ca.pem", authority.cert);

test("the certificate goes to the authority's host alone", async () => {
  const account = accountAt(ca.url, esign.url);
  account.ca.tls = new ClientCertificate({
    certificateFile: files.put("own.pem", certificates.good.cert),
    keyFile: files.put("own.key", certificates.good.key),
    caFile: caFile(),
  });
  account.esign.tls = new ClientCertificate({ caFile: caFile() });
  await client.esawoneshot(account, {});
  await client.uploadFile(account, pdf);
  const given = { documents: [{ fileId: "f1" }], esawToken: "tok", envelope: {} };
  await client.sendEnvelope(account, given);
  expect(shown).toEqual([
    "/api/v1/esawoneshot trustflow",
    "/Api/v6/file/upload -",
    "/Api/v6/envelope/send -",
  ]);
});
