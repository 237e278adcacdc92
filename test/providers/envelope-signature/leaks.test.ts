// Nothing that travels shows in an error, and neither token comes back in the provider's own words (P1 §5.5;
// docs/reading-the-specification.md §8).
import { expect, test } from "vitest";
import { Secret } from "../../../src/contracts/shared/values.js";
import * as client from "../../../src/providers/envelope-signature/client.js";
import type { EnvelopeSignatureAccount } from "../../../src/providers/envelope-signature/client.js";
import { CANARY, brokenCalls } from "../errors/leaks.js";
import { answering } from "../provider-server.js";
import { errorAt } from "../refusals.js";
import { accountAt } from "./account.js";

const steps: Record<string, (account: EnvelopeSignatureAccount) => Promise<unknown>> = {
  esawoneshot: (account) => client.esawoneshot(account, { [CANARY]: CANARY }),
  uploadFile: (account) =>
    client.uploadFile(account, {
      name: CANARY,
      bytes: Buffer.from(CANARY),
      mediaType: "application/pdf",
    }),
  sendEnvelope: (account) =>
    client.sendEnvelope(account, {
      documents: [{ fileId: CANARY }],
      esawToken: CANARY,
      envelope: { [CANARY]: CANARY },
    }),
};

const answer = JSON.stringify({
  code: CANARY,
  message: CANARY,
  ErrorId: CANARY,
  Message: CANARY,
  req_pk: [CANARY],
  esaw_token: CANARY,
  FileId: [CANARY],
  EnvelopeId: [CANARY],
});

test.concurrent.each(Object.keys(steps))("%s leaks nothing", async (step) => {
  const broken = await brokenCalls(answer, (baseUrl) =>
    steps[step]!({ ...accountAt(baseUrl, baseUrl, 400), apiToken: new Secret(CANARY) }),
  );
  expect(broken.length).toBeGreaterThan(15);
  expect(broken.filter(({ shown }) => shown.length > 0)).toEqual([]);
});

const send = (baseUrl: string) =>
  client.sendEnvelope(accountAt(baseUrl), {
    documents: [{ fileId: "f1" }],
    esawToken: 'esaw"token',
    envelope: {},
  });

test.each([400, 409, 500])("the tokens do not come back with a %i", async (status) => {
  const Message = 'esaw"token of api-token was used before';
  const error = await errorAt(answering({ Message, ErrorId: "Used" }, status), send);
  expect(error.detail).toBe("[secret] of [secret] was used before");
  expect(error.code).toBe("Used");
});

test("a broken answer shows nothing of what it holds", async () => {
  const error = await errorAt(answering({ EnvelopeId: [], of: 'esaw"token' }), send);
  expect(error.detail).toBeUndefined();
});
