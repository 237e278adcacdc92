// Nothing that travels shows in an error: not the URL, the headers, the body, the secrets or the provider's words.
import { expect, test } from "vitest";
import { Secret } from "../../../src/contracts/shared/values.js";
import { parseCallback } from "../../../src/providers/evi-post/callback.js";
import * as client from "../../../src/providers/evi-post/client.js";
import { inMemory } from "../memory-keep.js";
import type { EviPostAccount, PostalSubmission } from "../../../src/providers/evi-post/client.js";
import { CANARY, brokenCalls } from "../errors/leaks.js";
import { testUnreadableCallbacks } from "../evi/shared-tests.js";
import { startProviderServer } from "../provider-server.js";
import { accountAt, errorOf } from "./account.js";

const submission: PostalSubmission = {
  document: Buffer.from(`%PDF-1.4 ${CANARY}`),
  recipientAddress: { streetAddress: CANARY, postalCode: CANARY, locality: CANARY, country: "ES" },
  recipientName: CANARY,
  options: { evidenceAccessControlChallengeResponse: new Secret(CANARY) },
};
const answer = JSON.stringify({
  responseStatus: {
    errorCode: CANARY,
    message: CANARY,
    errors: [{ errorCode: CANARY, fieldName: CANARY, message: CANARY, other: CANARY }],
    stackTrace: CANARY,
  },
  results: [{ evidenceId: 1, recipientName: CANARY }],
});
const operations: Record<string, (account: EviPostAccount) => Promise<unknown>> = {
  submit: (account) => client.submit(account, submission, "canary-token"),
  query: (account) => client.query(account, { lookupKeys: [CANARY.replace(",", "")] }),
  requestAffidavit: (account) => client.requestAffidavit(account, { uniqueId: CANARY }),
  cancel: (account) => client.cancel(account, { uniqueId: CANARY }),
  downloadAffidavits: (account) => client.downloadAffidavits(account, [CANARY], inMemory),
};
test.concurrent.each(Object.keys(operations))("%s leaks nothing", async (operation) => {
  const credentials = { username: "canary", password: new Secret(CANARY), timeoutMs: 400 };
  const broken = await brokenCalls(answer, (baseUrl) =>
    operations[operation]!(accountAt(baseUrl, credentials)),
  );
  expect(broken.length).toBeGreaterThan(15);
  expect(broken.filter(({ shown }) => shown.length > 0)).toEqual([]);
});

testUnreadableCallbacks(parseCallback);

test("what is sent in secret does not come back in the provider's words", async () => {
  const message = "neither a password nor blue fits";
  const errors = [{ errorCode: "E2", fieldName: "Options.Challenge", message }];
  const server = await startProviderServer(
    (_, response) =>
      void response
        .writeHead(400)
        .end(JSON.stringify({ responseStatus: { errorCode: "E1", message, errors } })),
  );
  const options = { evidenceAccessControlChallengeResponse: new Secret("blue") };
  const error = await errorOf(
    client.submit(accountAt(server.url), { ...submission, options }, "token"),
  );
  await server.close();
  expect(error.detail).toBe("neither [secret] nor [secret] fits");
  expect(error.fields).toMatchObject([{ fieldName: "Options.Challenge", message: error.detail }]);
});

test("the provider's text is available by its own name", async () => {
  const server = await startProviderServer(
    (_, response) => void response.writeHead(400).end(answer),
  );
  const error = await errorOf(
    client.submit(accountAt(server.url), { ...submission, options: {} }, "token"),
  );
  await server.close();
  expect(error.detail).toBe(CANARY);
  expect(error.fields[0]?.message).toBe(CANARY);
  expect(error.cause).toBeUndefined();
});
