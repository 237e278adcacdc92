// Nothing that travels shows in an error, and neither token comes back in the provider's own words (READING of P1 §5.5).
import { expect, test } from "@jest/globals";
import { Secret } from "../../../src/contracts/values.js";
import * as client from "../../../src/providers/envelope-signature/client.js";
import type { EnvelopeSignatureAccount } from "../../../src/providers/envelope-signature/client.js";
import { errorOf } from "../evi-post/account.js";
import { CANARY, brokenCalls } from "../leaks.js";
import { answering, startProviderServer } from "../provider-server.js";
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
      fileIds: [CANARY],
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

test.each(Object.keys(steps))("%s leaks nothing", async (step) => {
  const broken = await brokenCalls(answer, (baseUrl) =>
    steps[step]!({ ...accountAt(baseUrl, baseUrl, 400), apiToken: new Secret(CANARY) }),
  );
  expect(broken.length).toBeGreaterThan(15);
  expect(broken.filter(({ shown }) => shown.length > 0)).toEqual([]);
});

test.each([400, 409, 500, 200])("the tokens do not come back with a %i", async (status) => {
  const Message = "esaw-token of api-token was used before";
  const body = { Message, ErrorId: "api-token", EnvelopeId: [] };
  const server = await startProviderServer(answering(body, status));
  const given = { fileIds: ["f1"], esawToken: "esaw-token", envelope: {} };
  const error = await errorOf(client.sendEnvelope(accountAt(server.url), given));
  await server.close();
  expect(error.detail).toContain("was used before");
  expect(error.detail).not.toContain("esaw-token");
  if (status !== 200) expect(`${error.detail} ${error.code}`).not.toContain("api-token");
});
