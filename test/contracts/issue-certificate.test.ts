// What an input of `issueCertificate` may be, and how a refusal names the field (P1 §2.1–2.3).
import { expect, test } from "vitest";
import { IssueCertificateInput } from "../../src/contracts/issue-certificate/contract.js";
import { checkInput } from "../../src/contracts/shared/problems.js";

const claims = {
  given_name: "Ada",
  family_name: "Rossi",
  person_identifier: "RSSDAA85",
  birth_date: "1985-12-01",
  doc_type: "CI",
  country: "IT",
  rp_name: "rp",
  rp_id: "1",
  original_assertion: "…",
  iat: 1_700_000_000,
};
const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64");
const smsOptions = { textSMS: "Your code: $OTP$" };
const secrets = { password: "p", securityCode: "s" };
const bySms = {
  disposableHolder: { firstName: "Ada", birthDate: "1985-12-01" },
  disposableCertificate: { ...secrets, otpType: "SMS" },
  disposableContacts: { mobile: "+393331234567" },
  smsOptions,
};
const byEmail = {
  ...bySms,
  disposableCertificate: { ...secrets, otpType: "EMAIL" },
  disposableContacts: { email: "ada@example.com" },
  smsOptions: undefined,
  emailOptions: { templateId: "t-1", language: "it" },
};
const byAssertion = {
  eidAssertionHolder: { country: "IT", eIDType: "EIDVENDOR", assertion: base64(claims) },
  contacts: { mobile: "+393331234567" },
  certificate: { ...secrets, fullData: true, otpType: "SMS" },
  smsOptions,
};

const problems = (input: object) =>
  checkInput(IssueCertificateInput, JSON.parse(JSON.stringify(input))).fields.map(
    ({ path, problem }) => `${path}: ${problem}`,
  );

test.each([
  ["by SMS", bySms],
  ["by SMS with a template", { ...bySms, smsOptions: byEmail.emailOptions }],
  ["by e-mail", byEmail],
  ["by an assertion", byAssertion],
])("an input %s is taken", (_, input) => {
  expect(problems(input)).toEqual([]);
});

const refused: [string, object, string][] = [
  [
    "SMS without a mobile",
    { ...bySms, disposableContacts: {} },
    "disposableContacts.mobile: is required when otpType is SMS (P1 §2.1)",
  ],
  [
    "a mobile that is not in E.164",
    { ...bySms, disposableContacts: { mobile: "0039 333" } },
    "disposableContacts.mobile: must be in E.164, as +34600000000",
  ],
  [
    "EMAIL without an address",
    { ...byEmail, disposableContacts: {} },
    "disposableContacts.email: is required when otpType is EMAIL (P1 §2.1)",
  ],
  [
    "a text without a place for the code",
    { ...bySms, smsOptions: { textSMS: "Your code" } },
    "smsOptions.textSMS: must contain $OTP$ (P1 §2.3)",
  ],
  [
    "an SMS template in a language of three letters",
    { ...bySms, smsOptions: { templateId: "t-1", language: "ita" } },
    "smsOptions.language: must be a language code of two letters",
  ],
  // The provider would say so only once the certificate is enrolled.
  [
    "an e-mail template in a language of three letters",
    { ...byEmail, emailOptions: { templateId: "t-1", language: "ita" } },
    "emailOptions.language: must be a language code of two letters",
  ],
  [
    "an assertion without a claim",
    {
      ...byAssertion,
      eidAssertionHolder: {
        ...byAssertion.eidAssertionHolder,
        assertion: base64({ ...claims, iat: undefined }),
      },
    },
    "eidAssertionHolder.assertion: lacks the claims iat (P1 §2.2)",
  ],
  ...[
    ["without its padding", "e30"],
    ["with padding that it does not need", "e30===="],
    ["with bits left over", "e31="],
    ["in base64url", base64({ "?": "ÿ?>" }).replaceAll("/", "_").replaceAll("+", "-")],
    ["in two lines", "e3\n0="],
  ].map(([how, assertion]): [string, object, string] => [
    `an assertion ${how}`,
    { ...byAssertion, eidAssertionHolder: { ...byAssertion.eidAssertionHolder, assertion } },
    "eidAssertionHolder.assertion: must be base64 of a JSON object (P1 §2.2)",
  ]),
];
test.each(refused)("%s is refused by the name of its field", (_, input, problem) => {
  expect(problems(input)).toEqual([problem]);
});

test("an input by an assertion of which nothing is right is told by its own fields", () => {
  const input = {
    eidAssertionHolder: { country: "Italy", eIDType: "", assertion: "?" },
    contacts: { mobile: "123" },
    certificate: { otpType: "EMAIL" },
  };
  const paths = problems(input).map((problem) => problem.split(":")[0]);
  expect(paths).toEqual([
    "eidAssertionHolder.country",
    "eidAssertionHolder.eIDType",
    "eidAssertionHolder.assertion",
    "contacts.mobile",
    "certificate.password",
    "certificate.securityCode",
    "certificate.fullData",
    "certificate.otpType",
    "smsOptions",
  ]);
});
