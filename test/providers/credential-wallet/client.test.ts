// What the wallet's client sends, and how it reads the answers (P1 §2.11, §4.6, §5.6; shapes are assumed: not shown).
import { describe, expect, test } from "vitest";
import { Secret } from "../../../src/contracts/shared/values.js";
import { errorOf } from "../evi-post/account.js";
import { answering, serverOfEachTest } from "../provider-server.js";
import { accountAt, calls } from "./account.js";

const server = serverOfEachTest(answering({ id: "x1" }));

const unknown = { kind: "unknownOutcome", effect: "unknown" };

test.each([
  ["api/v1/user/create/", "/api/v1/user/create/"],
  ["/credential/api/v1/user/create/", "/credential/api/v1/user/create/"],
  ["api/v1/user/create", "/api/v1/user/create"],
])("the path of createOperator may be configured as %s", async (createOperator, path) => {
  await calls.createOperator(accountAt(server.url, { paths: { createOperator } }));
  expect(server.received[0]?.path).toBe(path);
});

test("header and prefix of the token are the account's (P1 §5.6)", async () => {
  const changes = { apiToken: new Secret("t"), tokenHeader: "X-Api-Token", tokenPrefix: "" };
  await calls.createOperator(accountAt(server.url, changes));
  expect(server.received[0]?.headers).toMatchObject({ "x-api-token": "t" });
  expect(server.received[0]?.headers.authorization).toBeUndefined();
});

test("the names of links are the account's, and stand over the caller's own", async () => {
  const sent = { template: "templateRef", operators: "users", verificationTemplates: "checks" };
  const account = accountAt(server.url, { sent });
  const given = { templateRef: "mine", users: "mine", credential_template: "kept" };
  await calls.createIssuanceService(account, given);
  await calls.createPresentationService(account, given);
  expect(server.received.map(({ text }) => JSON.parse(text))).toEqual([
    { templateRef: "t1", users: "mine", credential_template: "kept" },
    { templateRef: "mine", users: ["o1"], checks: ["v1"], credential_template: "kept" },
  ]);
});

describe("the id of what was created", () => {
  test.each([
    ["createOperator", { id: "x1", api_token: "t" }, { operatorId: "x1" }],
    ["createOperator", { id: 17 }, { operatorId: "17" }],
    ["createTemplate", { ID: "x1" }, { templateId: "x1" }],
    ["createTemplate", { id: "https://w.example/t#1" }, { templateId: "https://w.example/t#1" }],
    ["createIssuanceService", { id: "did:ex:1" }, { issuanceServiceId: "did:ex:1" }],
    ["createIssuanceService", { issuance_service_id: "x1" }, { issuanceServiceId: "x1" }],
    ["createIssuanceService", { id: "x2", issuanceServiceId: "x1" }, { issuanceServiceId: "x1" }],
    ["createIssuanceService", { id: "x1" }, { issuanceServiceId: "x1" }],
    ["createVerificationTemplate", { id: "x1" }, { verificationTemplateId: "x1" }],
    [
      "createPresentationService",
      { verification_service_id: "x1" },
      { verificationServiceId: "x1" },
    ],
  ] as const)("%s reads it of %j, and nothing else", async (operation, body, result) => {
    server.answer = answering(body, 201);
    expect(await calls[operation](accountAt(server.url))).toEqual(result);
  });

  test("its names are the account's", async () => {
    server.answer = answering({ id: "other", "user.id": "x1" });
    const members = { ...accountAt(server.url).members, operator: ["user.id"] };
    expect(await calls.createOperator(accountAt(server.url, { members }))).toEqual({
      operatorId: "x1",
    });
  });

  test.each([
    ["createOperator", "two words"],
    ["createOperator", "é"],
    ["createOperator", "x\u0000"],
    ["createOperator", "x".repeat(201)],
    ["createIssuanceService", "a/b"],
    ["createIssuanceService", ".."],
    ["createPresentationService", "a?b"],
    ["createPresentationService", "a%2Fb"],
  ] as const)("of %s is none as %j: no later process could be given it", async (operation, id) => {
    server.answer = answering({ id });
    expect(await errorOf(calls[operation](accountAt(server.url)))).toMatchObject(unknown);
  });

  test.each([
    ["a member that only has our name for it", { operator: "x1", operatorId: "x2" }],
    ["two spellings of it with different values", { id: "x1", ID: "x2" }],
  ])("is not known of a 200 with %s", async (_, body) => {
    server.answer = answering(body);
    expect(await errorOf(calls.createOperator(accountAt(server.url)))).toMatchObject(unknown);
  });
});

describe.each(["initIssuance", "initPresentation"] as const)("the answer of %s", (operation) => {
  const init = (changes = {}) => calls[operation](accountAt(server.url, changes));

  test.each([{ url: "https://w.example/1", list: [1, null] }, [], "text", null])(
    "is kept as it came: %j",
    async (body) => {
      server.answer = answering(JSON.stringify(body));
      expect(await init()).toEqual({ answer: body });
    },
  );

  test("may be empty", async () => {
    server.answer = answering("", 204);
    expect(await init()).toEqual({});
  });

  test("is kept without what looks like a secret, and without our own token", async () => {
    server.answer = answering({
      url: "https://w.example/?by=api-operator",
      accessToken: "s1",
      nested: [{ Password: { deep: "s2" }, api_key: 7, note: "kept" }],
    });
    expect(await init()).toEqual({
      answer: {
        url: "https://w.example/?by=[secret]",
        accessToken: "[secret]",
        nested: [{ Password: "[secret]", api_key: "[secret]", note: "kept" }],
      },
    });
  });

  test("the names of its secrets are the account's", async () => {
    server.answer = answering({ pin: "s1", token: "kept" });
    expect(await init({ secretMembers: ["PIN"] })).toEqual({
      answer: { pin: "[secret]", token: "kept" },
    });
  });

  test("is kept as a whole where it is large, as with a picture in it, and not where it is deep", async () => {
    const large = { picture: "x".repeat(1_000_000) };
    server.answer = answering(large);
    expect(await init()).toEqual({ answer: large });
    server.answer = answering(`${'{"a":'.repeat(5_000)}{"token":"s1"}${"}".repeat(5_000)}`);
    const kept = JSON.stringify(await init());
    expect(kept).toContain("[too deep]");
    expect(kept).not.toContain("s1");
  });
});

test.each(["createOperator", "initIssuance"] as const)(
  "a 400 of %s is a refusal as the first effect, and a person's matter later",
  async (operation) => {
    server.answer = answering({ code: "E1" }, 400);
    const later = await errorOf(calls[operation](accountAt(server.url), {}, { isLater: true }));
    expect(later).toMatchObject({ kind: "protocol", effect: "none", code: "E1" });
  },
);
