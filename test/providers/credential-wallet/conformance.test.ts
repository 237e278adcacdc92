// The client against the fixtures of P1 §2.11, §4.6, §5.6, which the sandbox meets too. They show requests and answers; what the
// client makes of an answer is said here.
import { expect, test } from "vitest";
import { Secret } from "../../../src/contracts/shared/values.js";
import type { Operation } from "../../../src/providers/registry.js";
import { fill, fixturesOf } from "../../harness/fixtures/fixtures.js";
import type { Values } from "../../harness/fixtures/fixtures.js";
import { errorOf } from "../evi-post/account.js";
import { requestDifferences } from "../fixture-request.js";
import { answering, serverOfEachTest } from "../provider-server.js";
import { accountAt, calls, links } from "./account.js";
import type { Links } from "./account.js";

const server = serverOfEachTest();
const kinds: Record<number, string> = {
  400: "invalidRequest",
  401: "accessDenied",
  403: "accessDenied",
  404: "protocol",
};

test.each(fixturesOf("client", "credential-wallet"))("%s", async (_, fixture) => {
  const operation: Operation<"credential-wallet"> = fixture["operation"];
  const values: Values = { apiToken: "api-operator" };
  const request = fill(fixture["request"], values);
  const { status, headers, body, text } = fill(fixture["response"], values);
  server.answer = answering(body ?? text, status, headers);
  const { name: tokenHeader, prefix: tokenPrefix } = fixture["given"].tokenHeader ?? {};
  const account = accountAt(server.url, {
    apiToken: new Secret(values["apiToken"] as string),
    ...(tokenHeader && { tokenHeader, tokenPrefix }),
  });
  const { fields, ...ids } = saidIn(request);
  const call = calls[operation](account, fields, ids);
  if (status === 200) expect(await call).toEqual(resultOf(operation, body));
  else {
    const expected = { kind: kinds[status], effect: "none", operation, status, code: body.code };
    expect(await errorOf(call)).toMatchObject(expected);
  }
  expect(server.received).toHaveLength(1);
  // What is refused as malformed, or for its credentials, cannot be said in our types.
  if (status === 200 || status === 403)
    expect(await requestDifferences(request, server.received[0]!, values)).toEqual([]);
});

/** The request as a caller of the client says it. */
function saidIn({ path, body }: any): { fields: Record<string, unknown> } & Links {
  const { credential_template, operators, verification_templates, ...fields } = body;
  const [, service = ""] = /^\/\w+\/api\/v1\/([^/]+)\/init$/.exec(path) ?? [];
  return {
    fields: Array.isArray(body) ? (body as unknown as Record<string, unknown>) : fields,
    templateId: credential_template ?? links.templateId,
    operatorIds: operators ?? links.operatorIds,
    verificationTemplateIds: verification_templates ?? links.verificationTemplateIds,
    issuanceServiceId: service,
    verificationServiceId: service,
  };
}

function resultOf(operation: Operation<"credential-wallet">, body: any): unknown {
  switch (operation) {
    case "createOperator":
      return { operatorId: body.id };
    case "createTemplate":
      return { templateId: body.id };
    case "createVerificationTemplate":
      return { verificationTemplateId: body.id };
    case "createIssuanceService":
      return { issuanceServiceId: body.issuance_service_id };
    case "createPresentationService":
      return { verificationServiceId: body.verification_service_id };
    default:
      return body === undefined ? {} : { answer: body };
  }
}
