// The input of `verifyIdentity`: the query of an asynchronous request holds no credential (P1 §5.2, rule 4), and alert addresses.
import { expect, test } from "vitest";
import { checkInput } from "../../src/contracts/shared/problems.js";
import { VerifyIdentityInput } from "../../src/contracts/verify-identity/contract.js";

const withQuery = (parameters: Record<string, string>) =>
  VerifyIdentityInput.safeParse({ idConference: "c1", asyncRequest: { parameters } });

test.each([
  "apikey",
  "api_key",
  "X-Api-Key",
  "token",
  "access_token",
  "callToken",
  "jwt",
  "Authorization",
  "bearer",
])("%s is no query parameter", (name) => {
  const { error } = withQuery({ [name]: "x" });
  expect(error?.issues[0]?.path).toEqual(["asyncRequest", "parameters", name]);
});

test("a token is no value of one, whatever its name", () => {
  const { error } = withQuery({ subject: "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmVk" });
  expect(error?.issues[0]?.path).toEqual(["asyncRequest", "parameters", "subject"]);
  expect(JSON.stringify(error?.issues)).not.toContain("eyJ");
});

test.each(["idConference", "subject", "requestId", "keyword"])("%s is one", (name) => {
  expect(withQuery({ [name]: "17" }).success).toBe(true);
});

test.each(["emails", "before"])("more than 20 alert addresses are refused in %s", (member) => {
  const all = Array.from({ length: 21 }, (_, index) => `desk-${index}@example.com`);
  const alert = { processId: "desk", emails: ["a@example.com"], [member]: all };
  expect(checkInput(VerifyIdentityInput, { idConference: "c1", alert }).fields).toEqual([
    {
      path: `alert.${member}`,
      problem: "must have at most 20 entries: a limit of Trustflow, not of the provider",
    },
  ]);
});
