// The client against the fixtures of P1 §1.4, §4.4, §5.4, §6.2, which the sandbox meets too. They show requests and answers;
// what the client makes of an answer is said here.
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { Secret } from "../../../src/contracts/shared/values.js";
import { effectClassOf } from "../../../src/providers/registry.js";
import type { Operation } from "../../../src/providers/registry.js";
import { parseAccountCallback } from "../../../src/providers/one-shot-signature/callback.js";
import * as client from "../../../src/providers/one-shot-signature/client.js";
import type { OneShotSignatureAccount } from "../../../src/providers/one-shot-signature/client.js";
import { fill, fixturesOf } from "../../harness/fixtures/fixtures.js";
import type { Fixture, Values } from "../../harness/fixtures/fixtures.js";
import { errorOf } from "../evi-post/account.js";
import { requestDifferences } from "../fixture-request.js";
import { answering, serverOfEachTest } from "../provider-server.js";
import { accountAt, calls } from "./account.js";

type OneShotOperation = Operation<"one-shot-signature">;

const server = serverOfEachTest();

test.each(fixturesOf("client", "one-shot-signature", "operation"))("%s", async (_, fixture) => {
  const operation = fixture["operation"].replace("IdentityVideo", "Video") as OneShotOperation;
  const values: Values = { token: "ra-operator" };
  const request = fill(fixture["request"], values);
  const requestPk = (values["requestPk"] as string | undefined) ?? "r1";
  const { status, headers, body, bytes } = answerOf(fixture, values);
  server.answer = answering(bytes ?? body, status, headers);
  const account = accountAt(server.url, { token: new Secret(values["token"] as string) });
  // What is refused as malformed, or for its credentials, cannot be said in our types.
  const sayable = status !== 401 && (status !== 400 || request.body?.otp !== undefined);
  const call = sayable
    ? perform(operation, account, requestPk, request)
    : calls[operation](account, requestPk);
  if (status < 300) expect(await call).toEqual(resultOf(operation, { headers, body, bytes }));
  else {
    const expected = { kind: kindOf(operation, status), operation, status, code: body.code };
    expect(await errorOf(call)).toMatchObject(expected);
  }
  expect(server.received).toHaveLength(1);
  const [received] = server.received;
  if (sayable) expect(await requestDifferences(request, received!, values)).toEqual([]);
});

test.each(fixturesOf("client", "one-shot-signature", "event"))("%s", (_, fixture) => {
  const values: Values = {};
  const body = fill(fixture["body"], values);
  const { event, reference } = parseAccountCallback(body, new Date(), undefined);
  const at = new Date(body.date).toISOString();
  expect(event).toEqual({ id: expect.any(String), kind: fixture["event"], at });
  expect(reference).toBe(values["requestPk"]);
});

function perform(
  operation: OneShotOperation,
  account: OneShotSignatureAccount,
  requestPk: string,
  { body, form }: any,
): Promise<unknown> {
  const files = (form ?? []).map(({ fileName, content }: any) => ({
    name: fileName,
    bytes: Buffer.from(content, "base64"),
    mediaType: "application/octet-stream",
  }));
  switch (operation) {
    case "create":
      return client.create(account, body);
    case "sign":
      return client.sign(account, { requestPk, otp: body.otp });
    case "uploadHash":
      return client.uploadHash(account, { requestPk, name: body.name, sha256: body.hash });
    case "uploadDocument":
      return client.uploadDocument(account, { requestPk, ...files[0] });
    case "uploadEvidences":
      return client.uploadEvidences(account, { requestPk, files });
    case "uploadVideo":
      return client.uploadVideo(account, { requestPk, ...files[0] });
    case "createVideo":
      return client.createVideo(account, { requestPk, fields: body });
    case "updateVideo":
      return client.updateVideo(account, { requestPk, fields: body });
    default:
      return calls[operation](account, requestPk);
  }
}

/** A digest, and what stands for signed bytes, cannot be a sample. */
function answerOf(fixture: Fixture, values: Values): Fixture {
  const { bytes, ...answer } = fill(fixture["response"], values);
  for (const document of answer.body?.documents ?? []) {
    document.sha256 = hex(document.name);
    if (document.signed === undefined) continue;
    document.signed = Buffer.from(`signed ${document.name}`).toString("base64");
    document.signedSha256 = hex(`signed ${document.name}`);
  }
  return { body: "", ...answer, ...(bytes && { bytes: Buffer.from(bytes, "base64") }) };
}

function resultOf(operation: OneShotOperation, { headers, body, bytes }: any): unknown {
  switch (operation) {
    case "createToken":
    case "sign":
    case "getVideo":
      return body;
    case "create":
      return { requestPk: body.request_pk };
    case "contract":
      return { bytes, mediaType: headers["content-type"] };
    case "retrieve": {
      const documents = body.documents.map(({ signed, ...document }: any) => ({
        ...document,
        ...(signed && { signed: Buffer.from(signed, "base64") }),
      }));
      return { state: body.state, documents };
    }
    default:
      return undefined;
  }
}

function kindOf(operation: OneShotOperation, status: number): string | undefined {
  const effectClass = effectClassOf("one-shot-signature", operation);
  const kinds: Record<number, string> = {
    400: ["create", "createToken", "sign"].includes(operation) ? "invalidRequest" : "protocol",
    401: "accessDenied",
    403: "accessDenied",
    404: effectClass === "read" ? "notVisibleYet" : "protocol",
    409: effectClass === "once" ? "unknownOutcome" : "unavailable",
  };
  return kinds[status];
}

function hex(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
