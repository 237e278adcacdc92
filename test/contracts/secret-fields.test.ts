import { expect, test } from "vitest";
import { contracts } from "../../src/contracts/index.js";
import { updatesOf } from "../../src/contracts/registry.js";
import { secretNames, withSecrets } from "../../src/contracts/definition/secret-fields.js";

const changed = (secret: string) => `<${secret}>`;

test("the secrets of docs/reading-the-specification.md §8 that a caller brings are known by the contracts", () => {
  const ofInputs = Object.values(contracts).flatMap(({ input }) => secretNames(input));
  expect(new Set(ofInputs)).toEqual(
    new Set(["password", "securityCode", "assertion", "evidenceAccessControlChallengeResponse"]),
  );
  const ofUpdates = updatesOf("issueCertificate").flatMap(({ argument }) =>
    argument ? secretNames(argument) : [],
  );
  expect(ofUpdates).toEqual(["code", "assertion"]);
});

test("each secret is changed, and nothing else, in both variants of a certificate", () => {
  const { input } = contracts.issueCertificate;
  const holder = { password: "p", securityCode: "s", type: "t" };
  expect(
    withSecrets(input, { disposableCertificate: holder, password: "not one" }, changed),
  ).toEqual({
    disposableCertificate: { password: "<p>", securityCode: "<s>", type: "t" },
    password: "not one",
  });
  const eid = { certificate: holder, eidAssertionHolder: { assertion: "a", country: "ES" } };
  expect(withSecrets(input, eid, changed)).toEqual({
    certificate: { password: "<p>", securityCode: "<s>", type: "t" },
    eidAssertionHolder: { assertion: "<a>", country: "ES" },
  });
});

test.each([undefined, null, 7, "text", ["x"], { disposableCertificate: 7 }])(
  "an input of another shape stays as it is: %j",
  (input) => {
    expect(withSecrets(contracts.issueCertificate.input, input, changed)).toEqual(input);
  },
);
