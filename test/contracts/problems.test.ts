// For every error of an input the caller gets each field by name, once, in a plain sentence: every field of an input of each
// process, left out, null, misspelt, or of another type.
import { describe, expect, test } from "vitest";
import { contracts } from "../../src/contracts/index.js";
import { processes } from "../../src/contracts/registry.js";
import { checkInput } from "../../src/contracts/shared/problems.js";
import { brought } from "../processes/index.js";
import { assertionInput } from "../processes/issue-certificate/inputs.js";
import { letterInput, recipientAddress } from "../processes/send-postal/inputs.js";
import { signerInput, videoInput } from "../processes/sign-one-shot/inputs.js";

type Path = (string | number)[];
type Tree = Record<string | number, unknown>;
interface Problem {
  path: string;
  problem: string;
}

const stored = {
  uri: `document:${"0".repeat(32)}`,
  sha256: "0".repeat(64),
  size: 1,
  mediaType: "application/pdf",
};
const letter = letterInput("order-7", "delivered", {
  account: "second-office",
  recipientEmail: "ada@example.org",
  issuerAddress: recipientAddress,
  options: {
    postServiceType: "Letter",
    postServiceProfile: "Profile",
    certificationLevel: "Standard",
    affidavitProfile: "Basic",
    notaryRetentionPeriod: 5,
    notaryProfile: "Notary",
    evidenceAccessControlMethod: "Challenge",
    evidenceAccessControlChallenge: "Where?",
    evidenceAccessControlChallengeResponse: "Here",
    customFields: [{ key: "k", label: "l", value: "v", isLookupKey: true }],
    language: "es",
    enableDeliveryReceipt: true,
    deliveryAttemptsNumber: 2,
    disposalDaysAmmount: 3,
  },
});

const inputs: [string, (typeof contracts)[keyof typeof contracts]["input"], object][] = [
  ...processes.map((name): (typeof inputs)[number] => [
    name,
    contracts[name].input,
    brought[name].input("order-7"),
  ]),
  ["sendPostal (every option)", contracts.sendPostal.input, letter],
  ["sendPostal (stored)", contracts.sendPostal.input, { ...letter, document: stored }],
  [
    "issueCertificate (eID)",
    contracts.issueCertificate.input,
    assertionInput("order-7", new Date()),
  ],
  ["signOneShot (video)", contracts.signOneShot.input, videoInput("order-7")],
];

/** Each field of an input but those that are the provider's alone. */
function fieldsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null || path.at(-1) === "providerFields") return [];
  return Object.entries(value).flatMap(([key, part]: [string, unknown]) => {
    const here = [...path, Array.isArray(value) ? Number(key) : key];
    return [here, ...fieldsOf(part, here)];
  });
}

/** A copy in which `change` was done to what holds the last key of the path. */
function changed(input: object, path: Path, change: (parent: Tree, key: string | number) => void) {
  const copy = JSON.parse(JSON.stringify(input)) as Tree;
  const parent = path.slice(0, -1).reduce<unknown>((at, key) => (at as Tree)[key], copy);
  change(parent as Tree, path.at(-1) ?? "");
  return copy;
}

function valueAt(input: object, path: Path): unknown {
  return path.reduce<unknown>((at, key) => (at as Tree)[key], input);
}

/** What goes behind the field's name: plain, without the words of a library, and naming the field not again. */
function expectPlain(problems: Problem[]) {
  for (const { path, problem } of problems) {
    expect([path, problem]).toEqual([
      path,
      expect.stringMatching(/^(is|must|has|does not|lacks|needs|belongs|stands|reaches) /),
    ]);
    expect(problem).not.toMatch(/received|expected|undefined|Invalid|NaN/);
    expect(problem).not.toContain(path.split(".").at(-1));
  }
  expect(new Set(problems.map(({ path }) => path)).size).toBe(problems.length);
}

describe.each(inputs)("%s", (_, contract, input) => {
  const check = (given: unknown): Problem[] => {
    const { fields } = checkInput(contract, given);
    expectPlain(fields);
    return fields;
  };
  const fields = fieldsOf(input);

  test("is right as it stands, and its every field was looked at", () => {
    expect(check(input)).toEqual([]);
    expect(fields.length).toBeGreaterThan(0);
  });

  test("a field that is left out is required, or may be", () => {
    for (const path of fields.filter((each) => typeof each.at(-1) === "string")) {
      const problems = check(changed(input, path, (parent, key) => delete parent[key]));
      const named = problems.filter((each) => each.path === path.join("."));
      const isOptional = problems.length === 0;
      if (!isOptional && named.length > 0) expect(named[0]?.problem).toMatch(/^is required/);
      // Without it another field may be the one that is required, or too much.
      if (!isOptional && named.length === 0) expect(otherRules).toContain(path.at(-1));
    }
  });

  test.each<[string, unknown]>([
    ["null", null],
    ["a number", 7.5],
    ["text", "some text"],
    ["true", true],
    ["a list", [7]],
    ["an object", { unheard: 7 }],
  ])("%s where it does not belong is refused by the field's name", (kind, wrong) => {
    for (const path of fields) {
      if (fitsThere(valueAt(input, path), wrong)) continue;
      const problems = check(changed(input, path, (parent, key) => (parent[key] = wrong)));
      const at = path.join(".");
      expect([at, kind, problems]).toEqual([
        at,
        kind,
        expect.arrayContaining([
          { path: expect.stringMatching(startOf(at)), problem: expect.any(String) },
        ]),
      ]);
    }
  });

  test("a misspelt field is not known", () => {
    for (const path of fields.filter((each) => typeof each.at(-1) === "string")) {
      const misspelt = changed(input, path, (parent, key) => {
        parent[`${key}z`] = parent[key];
        delete parent[key];
      });
      expect(check(misspelt)).toContainEqual({
        path: `${path.join(".")}z`,
        problem: "is not known",
      });
    }
  });

  test.each([undefined, null, 7, "text", [], {}])("%j is no input", (given) => {
    expect(check(given).length).toBeGreaterThan(0);
  });
});

/** Those without which a rule wants another one. */
const otherRules = ["postServiceType", "variant", "otpType"];

/** Text where text belongs may be right, or break a pattern. */
function fitsThere(right: unknown, wrong: unknown): boolean {
  if (Array.isArray(wrong)) return false;
  return wrong !== null && typeof right === typeof wrong && !Array.isArray(right);
}

/** The field itself, or one inside of it. */
function startOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(".", "\\.")}(\\.|$)`);
}

const { region: _, ...noRegion } = recipientAddress;

test.each<[string, Problem[], keyof typeof contracts, object]>([
  [
    "a letter",
    [
      { path: "recipientAddress.locality", problem: "is required" },
      { path: "extra", problem: "is not known" },
      { path: "document.mediaType", problem: "must be application/pdf (P2 §2.1)" },
      { path: "recipientAddress.region", problem: "is required for Registered (P2 §2.2)" },
      {
        path: "options.notaryProfile",
        problem: "is required when notaryRetentionPeriod is above 0 (P2 §2.3)",
      },
    ],
    "sendPostal",
    {
      document: { base64: "JVBERi0x", mediaType: "text/plain" },
      recipientAddress: { ...noRegion, locality: undefined },
      options: { notaryRetentionPeriod: 1 },
      extra: 1,
    },
  ],
  [
    "a signature",
    [
      { path: "documents.1", problem: "must be an object" },
      { path: "settings.otpTries", problem: "must be at least 1" },
      { path: "documents.0.sha256", problem: "is for the variant hash only (P1 §1.4)" },
      { path: "documents.3.name", problem: "is already the name of another document" },
    ],
    "signOneShot",
    {
      ...signerInput("order-7"),
      documents: [
        { name: "a.pdf", sha256: "0".repeat(64) },
        7,
        { name: "\u00e9.pdf", document: stored },
        { name: "e\u0301.pdf", document: stored },
      ],
      settings: { otpTries: 0 },
    },
  ],
  [
    "a message",
    [{ path: "providerFields", problem: "must hold the message" }],
    "sendMessage",
    { providerFields: {} },
  ],
])("%s: the rules over several fields are reported together with the rest", (...each) => {
  const [, problems, processName, input] = each;
  expect(checkInput(contracts[processName].input, input).fields).toEqual(problems);
});
