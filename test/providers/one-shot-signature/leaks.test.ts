// Nothing that travels shows in an error, and no secret comes back in the provider's own words (P1 §5.4;
// docs/reading-the-specification.md §8).
import { expect, test } from "vitest";
import { Secret } from "../../../src/contracts/shared/values.js";
import * as client from "../../../src/providers/one-shot-signature/client.js";
import { inMemory } from "../memory-keep.js";
import type { OneShotSignatureAccount } from "../../../src/providers/one-shot-signature/client.js";
import type { Operation } from "../../../src/providers/registry.js";
import { CANARY, brokenCalls } from "../errors/leaks.js";
import { answering } from "../provider-server.js";
import { errorAt } from "../refusals.js";
import { accountAt } from "./account.js";

const requestPk = CANARY;
const file = { name: CANARY, bytes: Buffer.from(CANARY), mediaType: "application/pdf" };
const fields = { [CANARY]: CANARY };

const operations: Record<
  Operation<"one-shot-signature">,
  (account: OneShotSignatureAccount) => Promise<unknown>
> = {
  listTokens: (account) => client.listTokens(account),
  createToken: (account) => client.createToken(account),
  create: (account) => client.create(account, fields),
  uploadDocument: (account) => client.uploadDocument(account, { requestPk, ...file }),
  uploadHash: (account) => client.uploadHash(account, { requestPk, name: CANARY, sha256: CANARY }),
  contract: (account) => client.contract(account, requestPk, inMemory),
  otp: (account) => client.otp(account, requestPk),
  sign: (account) => client.sign(account, { requestPk, otp: CANARY }),
  retrieve: (account) => client.retrieve(account, requestPk),
  deleteDocuments: (account) => client.deleteDocuments(account, requestPk),
  createVideo: (account) => client.createVideo(account, { requestPk, fields }),
  uploadEvidences: (account) => client.uploadEvidences(account, { requestPk, files: [file] }),
  uploadVideo: (account) => client.uploadVideo(account, { requestPk, ...file }),
  approveVideo: (account) => client.approveVideo(account, { requestPk }),
  cancelVideo: (account) => client.cancelVideo(account, { requestPk }),
  getVideo: (account) => client.getVideo(account, requestPk),
  updateVideo: (account) => client.updateVideo(account, { requestPk, fields }),
};

const answer = JSON.stringify({
  code: CANARY,
  message: CANARY,
  token: [CANARY],
  request_pk: CANARY,
  state: [CANARY],
  documents: CANARY,
});

test.concurrent.each(Object.entries(operations))("%s leaks nothing", async (_, perform) => {
  const secrets = { token: new Secret(CANARY), tokenPrefix: "canary ", timeoutMs: 400 };
  const broken = await brokenCalls(answer, (baseUrl) => perform(accountAt(baseUrl, secrets)));
  expect(broken.length).toBeGreaterThan(12);
  expect(broken.filter(({ shown }) => shown.length > 0)).toEqual([]);
});

test.each([400, 409, 500])("the OTP and the token do not come back with a %i", async (status) => {
  const message = "code 482913 of ra-operator was seen before";
  const error = await errorAt(answering({ message }, status), (url) =>
    client.sign(accountAt(url), { requestPk: "r1", otp: "482913" }),
  );
  expect(error.detail).toBe("code [secret] of [secret] was seen before");
});

test.each(["wrong", "o", "400", '"'])(
  "an OTP typed as %j does not change the code",
  async (otp) => {
    const body = { code: "otp_wrong", message: "no", status: 400 };
    const error = await errorAt(answering(body, 400), (url) =>
      client.sign(accountAt(url), { requestPk: "r1", otp }),
    );
    expect(error).toMatchObject({ kind: "invalidRequest", code: "otp_wrong" });
  },
);

test("a broken answer of sign shows nothing of what it holds", async () => {
  const error = await errorAt(answering({ otp: "482913" }), (url) =>
    client.sign(accountAt(url), { requestPk: "r1", otp: "482913" }),
  );
  expect(error.detail).toBeUndefined();
});

test.each(["listTokens", "createToken"] as const)(
  "a broken answer of %s shows no token",
  async (operation) => {
    const error = await errorAt(answering('{"token": "new-token", "broken'), (url) =>
      operations[operation](accountAt(url)),
    );
    expect(error.detail).toBeUndefined();
  },
);
