import { expect, test } from "vitest";
import { PostalOptions, SendPostalInput } from "../../src/contracts/send-postal/contract.js";
import { checkInput } from "../../src/contracts/shared/problems.js";
import { recipientAddress } from "../processes/send-postal/inputs.js";

test.each([
  ["language", ["es", "ES", "pt-BR", "zh-Hant-TW", "cat"], ["", "Spanish", "pt_BR", "e", "es-"]],
  [
    "certificationLevel",
    ["Standard", "Advanced", "Standard_EU", "Advanced_EU", "Standard_CO", "Advanced_MX"],
    ["QERDS", "QERDS_ES", "Advanced-MX", "Advanced_MEX", ""],
  ],
])("of %s, %j are taken and %j are not (P2 §2.3)", (name, taken, refused) => {
  const isTaken = (value: string) => PostalOptions.safeParse({ [name]: value }).success;
  expect(taken.filter(isTaken)).toEqual(taken);
  expect(refused.filter(isTaken)).toEqual([]);
});

const letter = {
  document: { base64: "JVBERi0xLjQK", mediaType: "application/pdf" },
  recipientAddress,
};
const problemsOf = (options: object, address: object = {}) =>
  checkInput(SendPostalInput, {
    ...letter,
    recipientAddress: { ...letter.recipientAddress, ...address },
    options,
  }).fields;

test.each(["Standard", "Standard_EU"])(
  "affidavits on demand are refused with the level %s alone, which means the profile Basic (P2 §2.3)",
  (certificationLevel) => {
    const options = { affidavitsOnDemandEnabled: true, certificationLevel };
    expect(problemsOf(options)).toMatchObject([{ path: "options.affidavitsOnDemandEnabled" }]);
  },
);

test.each<[string, object]>([
  ["an advanced level", { certificationLevel: "Advanced" }],
  ["an advanced profile", { affidavitProfile: "AdvancedContentOnClose" }],
  ["neither level nor profile, where the account decides", {}],
])("affidavits on demand are taken with %s", (_, more) => {
  expect(problemsOf({ affidavitsOnDemandEnabled: true, ...more })).toEqual([]);
});

test.each(["07001", " 35001", "\t51001 "])(
  "LetterLite does not go to the postal code %j (P2 §2.3)",
  (postalCode) => {
    expect(problemsOf({ postServiceType: "LetterLite" }, { postalCode })).toMatchObject([
      { path: "recipientAddress.postalCode" },
    ]);
  },
);

test("an inline document must be a PDF (P2 §2.1)", () => {
  const document = { base64: "bm90IGEgUERG", mediaType: "application/pdf" };
  expect(checkInput(SendPostalInput, { ...letter, document }).fields).toEqual([
    { path: "document.base64", problem: "is not a PDF (P2 §2.1)" },
  ]);
});

test("LetterLite goes to Spain alone, whatever the account delivers to", () => {
  const [problem] = problemsOf({ postServiceType: "LetterLite" }, { country: "PT" });
  expect(problem?.path).toBe("recipientAddress.country");
  expect(problemsOf({ postServiceType: "Registered" }, { country: "PT" })).toEqual([]);
});

test("more than 50 custom fields are refused, by a limit that says whose it is", () => {
  const customFields = Array.from({ length: 51 }, () => ({ key: "k", label: "l", value: "v" }));
  expect(problemsOf({ customFields })).toEqual([
    {
      path: "options.customFields",
      problem: "must have at most 50 entries: a limit of Trustflow, not of the provider",
    },
  ]);
});
