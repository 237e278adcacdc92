// The input of `verifyIdentity`: the query of an asynchronous request holds no credential (P1 §5.2, rule 4), and alert addresses.
import { expect, test } from "vitest";
import { checkInput } from "../../src/contracts/shared/problems.js";
import { VerifyIdentityInput } from "../../src/contracts/verify-identity/contract.js";

const pathsOf = (parameters: Record<string, string>) =>
  checkInput(VerifyIdentityInput, { idConference: "c1", asyncRequest: { parameters } }).fields.map(
    ({ path }) => path,
  );

test("a credential is no query parameter, by its name or by its value", () => {
  const credentials = ["apikey", "api_key", "X-Api-Key", "token", "access_token", "callToken"];
  for (const name of [...credentials, "jwt", "Authorization", "bearer"])
    expect(pathsOf({ [name]: "x" })).toEqual([`asyncRequest.parameters.${name}`]);
  expect(pathsOf({ subject: "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmVk" })).toEqual([
    "asyncRequest.parameters.subject",
  ]);
  expect(pathsOf({ idConference: "17", subject: "a", requestId: "b", keyword: "c" })).toEqual([]);
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
