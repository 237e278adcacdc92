// The client against the fixtures transcribed from the specification, over mutual TLS: what it sends, returns and throws.
import { createSecureContext } from "node:tls";
import { expect, test } from "vitest";
import * as client from "../../../src/providers/disposable-certificate/client.js";
import type { DisposableCertificateAccount } from "../../../src/providers/disposable-certificate/client.js";
import { fill, fixturesOf } from "../../harness/fixtures/fixtures.js";
import type { Values } from "../../harness/fixtures/fixtures.js";
import { errorOf } from "../evi-post/account.js";
import { requestDifferences } from "../fixture-request.js";
import { authority, certificates, mutualTls } from "../http/mutual-tls.js";
import { answering, startProviderServer } from "../provider-server.js";
import type { Handler } from "../provider-server.js";
import { accountAt } from "./account.js";
import { ofFile } from "../../harness/of-file.js";

const denied = { kind: "accessDenied", effect: "none", denies: "operation" };
const refused = { kind: "invalidRequest", effect: "none" };
const protocol = { kind: "protocol", effect: "none" };
/** P1 §7.1, by what the operation is about. */
const meanings: Record<"enrolling" | "sending", Record<number, object>> = {
  enrolling: { 242: refused, 237: refused, 239: refused, 244: denied, 11002: denied },
  sending: { 242: protocol, 62: protocol, 249: protocol, 99: protocol, 11002: denied },
};

const identity = createSecureContext({ ca: authority.cert, ...certificates.good });
let handler: Handler;
const server = ofFile(() => startProviderServer((...args) => handler(...args), { tls: mutualTls }));

test.each(fixturesOf("client", "disposable-certificate"))("%s", async (_, fixture) => {
  const values: Values = {};
  const request = fill(fixture["request"], values);
  const response = fill(fixture["response"], values);
  const operation: string = fixture["operation"];
  handler = answering(response.text ?? response.body ?? "", response.status, response.headers);
  server.received.length = 0;
  const [, lraId = "lra-1"] = /^\/api\/certificate\/(lra[^/]*)\//.exec(request.path) ?? [];
  const tls = { identity: () => identity };
  const call = perform(operation, accountAt(server.url, { lraId, tls }), request.body ?? {});
  if (response.status === 200) {
    const { certIdOtp, deviceCode, otpId } = response.body ?? {};
    const issued = { certIdOtp, deviceCode, ...(otpId !== undefined && { otpId: String(otpId) }) };
    expect(await call).toEqual(operation.startsWith("enroll") ? issued : undefined);
  } else {
    const { code, message } = response.body;
    const error = await errorOf(call);
    const about = operation.startsWith("check") || operation.startsWith("enroll");
    expect(error).toMatchObject(meanings[about ? "enrolling" : "sending"][code]!);
    expect(error).toMatchObject({ status: 500, code: String(code), detail: message });
    const field: string | undefined = fixture["field"];
    const isOurs = field === undefined || field === "body" || !about;
    expect(error.fields.map(({ fieldName }) => fieldName)).toEqual(isOurs ? [] : [field]);
  }
  expect(server.received).toHaveLength(1);
  // A request without these cannot be said in our types; its refusal can still be read.
  if (!/-(body|device-code|otp)-missing\.json$/.test(fixture.file))
    expect(await requestDifferences(fixture["request"], server.received[0]!, values)).toEqual([]);
});

function perform(operation: string, account: DisposableCertificateAccount, body: any) {
  switch (operation) {
    case "checkData":
      return client.checkData(account, body);
    case "checkDataWitheIDAssertion":
      return client.checkDataWitheIDAssertion(account, body);
    case "enroll":
      return client.enroll(account, body);
    case "enrollDisposableWitheIDAssertion":
      return client.enrollDisposableWitheIDAssertion(account, body);
    case "sendOtp":
      return client.sendOtp(account, { deviceCode: "", ...body });
    case "validate":
      return client.validate(account, { deviceCode: "", otp: "", ...body });
    default:
      throw new Error(`unknown operation ${operation}`);
  }
}
