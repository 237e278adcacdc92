// The input of `serveNotice`: two whole inputs, what stands only once, and the room that the ids need (docs/decisions/0031).
import { expect, test } from "vitest";
import { withSecrets } from "../../src/contracts/definition/secret-fields.js";
import { businessIdOf } from "../../src/contracts/registry.js";
import { ServeNoticeInput } from "../../src/contracts/serve-notice/contract.js";
import { checkInput } from "../../src/contracts/shared/problems.js";
import { serveInput } from "../processes/serve-notice/inputs.js";

const good = serveInput("order-1", "read");
const problemsOf = (input: object) =>
  Object.fromEntries(
    checkInput(ServeNoticeInput, input).fields.map(({ path, problem }) => [path, problem]),
  );

test("a notice and a letter are taken as they are", () => {
  expect(problemsOf(good)).toEqual({});
  expect(problemsOf({ ...good, servedWhen: "delivered", account: "other" })).toEqual({});
});

test("the rules of both hold inside, with the path in the whole", () => {
  const { region: _, ...address } = good.post.recipientAddress;
  const notice = { ...good.notice, evidenceAccessControlMethod: "Challenge" };
  const post = { ...good.post, recipientAddress: address };
  expect(problemsOf({ ...good, notice, post })).toEqual({
    "notice.evidenceAccessControlChallenge": "is required with Challenge (P2 §2.6)",
    "notice.evidenceAccessControlChallengeResponse": "is required with Challenge (P2 §2.6)",
    "post.recipientAddress.region": "is required for Registered (P2 §2.2)",
  });
});

test("account and settings stand once, outside of both, and each service has its own settings", () => {
  const settings = { pollIntervalSeconds: 5 };
  const input = {
    ...good,
    notice: { ...good.notice, account: "a" },
    post: { ...good.post, settings },
  };
  expect(problemsOf(input)).toEqual({
    "notice.account": "must be left out: it stands in account",
    "post.settings": "must be left out: it stands in settings.post",
  });
  const ofTheOther = { notice: { restingGraceSeconds: 1 } };
  expect(problemsOf({ ...good, settings: ofTheOther })).toEqual({
    "settings.notice.restingGraceSeconds": "is not known",
  });
});

test("the secrets of both are found, wherever they stand", () => {
  const response = "evidenceAccessControlChallengeResponse";
  const input = {
    notice: { [response]: "Rex" },
    post: { options: { [response]: "Fido" } },
  };
  expect(withSecrets(ServeNoticeInput, input, (secret) => `sealed ${secret}`)).toEqual({
    notice: { [response]: "sealed Rex" },
    post: { options: { [response]: "sealed Fido" } },
  });
});

test("an id leaves room for those of the two processes", () => {
  const { fields } = checkInput(businessIdOf("serveNotice"), "x".repeat(94), ["id"]);
  expect(fields).toEqual([
    {
      path: "id",
      problem: "must have at most 93 characters: .notice or .post is added to it",
    },
  ]);
  expect(checkInput(businessIdOf("serveNotice"), "x".repeat(93)).fields).toEqual([]);
  expect(checkInput(businessIdOf("sendNotice"), "x".repeat(100)).fields).toEqual([]);
});
