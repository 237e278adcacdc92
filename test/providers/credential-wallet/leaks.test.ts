// Nothing that travels shows in an error, and the token does not come back in the provider's own words (P1 §5.6;
// docs/reading-the-specification.md §8).
import { expect, test } from "vitest";
import { Secret } from "../../../src/contracts/shared/values.js";
import { CANARY, brokenCalls } from "../errors/leaks.js";
import { answering } from "../provider-server.js";
import { errorAt, meeting } from "../refusals.js";
import { accountAt, calls, operations } from "./account.js";

const links = {
  templateId: CANARY,
  operatorIds: [CANARY],
  verificationTemplateIds: [CANARY],
  issuanceServiceId: CANARY,
  verificationServiceId: CANARY,
};
const answer = JSON.stringify({
  code: CANARY,
  message: CANARY,
  detail: CANARY,
  id: [CANARY],
  issuance_service_id: [CANARY],
  verification_service_id: [CANARY],
  api_token: CANARY,
  error: CANARY,
});

test.concurrent.each(operations)("%s leaks nothing", async (operation) => {
  const apiToken = new Secret(CANARY);
  const broken = await brokenCalls(answer, (baseUrl) =>
    calls[operation](accountAt(baseUrl, { apiToken, timeoutMs: 400 }), { [CANARY]: CANARY }, links),
  );
  expect(broken.length).toBeGreaterThan(15);
  expect(broken.filter(({ shown }) => shown.length > 0)).toEqual([]);
});

const create = (url: string) =>
  calls.createOperator(accountAt(url, { apiToken: new Secret('api"token') }));

test.each([400, 409, 500])("the token does not come back with a %i", async (status) => {
  const message = 'api"token was used before';
  const error = await errorAt(answering({ message, code: "Used" }, status), create);
  expect(error.detail).toBe("[secret] was used before");
  expect(error.code).toBe("Used");
});

test.each(operations)("a broken answer of %s shows nothing of what it holds", async (operation) => {
  const broken = answering({ error: "partly", api_token: "s1" });
  const error = await errorAt(broken, (url) => calls[operation](accountAt(url)));
  expect(error).toMatchObject({ kind: "unknownOutcome", effect: "unknown" });
  expect(error.detail).toBeUndefined();
});

test("the token of a new operator goes nowhere", async () => {
  const created = await meeting(answering({ id: "x1", api_token: "s1" }), create);
  expect(created).toEqual({ operatorId: "x1" });
});
