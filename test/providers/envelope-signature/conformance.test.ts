// The client against the fixtures of P1 §2.10, §4.5, §5.5, which the sandbox meets too. They show requests and answers; what
// the client makes of an answer is said here.
import { expect, test } from "vitest";
import { Secret } from "../../../src/contracts/shared/values.js";
import * as client from "../../../src/providers/envelope-signature/client.js";
import type { EnvelopeSignatureAccount } from "../../../src/providers/envelope-signature/client.js";
import { fill, fixturesOf } from "../../harness/fixtures/fixtures.js";
import type { Values } from "../../harness/fixtures/fixtures.js";
import { errorOf } from "../evi-post/account.js";
import { requestDifferences } from "../fixture-request.js";
import { answering, serverOfEachTest } from "../provider-server.js";
import { accountAt, pdf } from "./account.js";

const [ca, envelopeHost] = [serverOfEachTest(), serverOfEachTest()];
const operations: Record<string, string> = { upload: "uploadFile", send: "sendEnvelope" };
/** A 400 of the envelope host is a person's matter: the certificate request exists. */
function kindOf(status: number, operation: string): string {
  if (status !== 400) return "accessDenied";
  return operation === "esawoneshot" ? "invalidRequest" : "protocol";
}

test.each(fixturesOf("client", "envelope-signature"))("%s", async (_, fixture) => {
  const operation = operations[fixture["operation"]] ?? fixture["operation"];
  const values: Values = { apiToken: "api-token", esawToken: "tok" };
  const { clientCertificate, ...request } = fill(fixture["request"], values);
  const { status, headers, body } = fill(fixture["response"], values);
  for (const host of [ca, envelopeHost]) host.answer = answering(body, status, headers);
  const account = { ...accountAt(ca.url, envelopeHost.url), vendor: "VENDOR" };
  account.apiToken = new Secret(values["apiToken"] as string);
  const call = perform(operation, account, request);
  if (status === 200) expect(await call).toEqual(resultOf(operation, body));
  else {
    const code = body.ErrorId ?? body.code;
    const expected = { kind: kindOf(status, operation), effect: "none", operation, status, code };
    expect(await errorOf(call)).toMatchObject(expected);
  }
  const [called, other] = clientCertificate ? [ca, envelopeHost] : [envelopeHost, ca];
  expect([called.received.length, other.received.length]).toEqual([1, 0]);
  // What is refused as malformed, or for its credentials, cannot be said in our types.
  if (status === 200 || status === 403)
    expect(await requestDifferences(request, called.received[0]!, values)).toEqual([]);
});

function perform(
  operation: string,
  account: EnvelopeSignatureAccount,
  { body, form }: any,
): Promise<unknown> {
  switch (operation) {
    case "esawoneshot":
      return client.esawoneshot(account, body);
    case "uploadFile": {
      const [{ fileName = pdf.name, content = "" } = {}] = form ?? [];
      const bytes = Buffer.from(content, "base64");
      return client.uploadFile(account, { name: fileName, bytes, mediaType: pdf.mediaType });
    }
    case "sendEnvelope": {
      const { Documents = [], Activities = [], ...envelope } = body ?? {};
      const documents = Documents.map(({ FileId }: any) => ({ fileId: FileId }));
      const esawToken = Activities[0]?.Action.Sign?.requestToken ?? "";
      return client.sendEnvelope(account, { documents, esawToken, envelope });
    }
    default:
      throw new Error(`unknown operation ${operation}`);
  }
}

function resultOf(operation: string, body: any): unknown {
  switch (operation) {
    case "esawoneshot":
      return { reqPk: body.req_pk, esawToken: body.esaw_token };
    case "uploadFile":
      return { fileId: body.FileId };
    default:
      return body.EnvelopeId === undefined ? {} : { envelopeId: body.EnvelopeId };
  }
}
