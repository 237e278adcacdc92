// The operators of a configuration, as the check of each decision takes them (docs/design.md §6).
import { afterEach, beforeEach, expect, test } from "vitest";
import { commandLine } from "../cli/in-process.js";
import { ConfigurationError, loadConfig, ringOf } from "../../src/config/config.js";
import {
  generateOperatorKey,
  isSignatureOf,
  signDecision,
} from "../../src/crypto/decision-signature.js";
import { decisionRulesOf } from "../../src/config/decision-rules.js";

const { publicKey } = generateOperatorKey();
const { publicKey: another } = generateOperatorKey();
const before = { ...process.env };
beforeEach(() => {
  process.env["TRUSTFLOW_CONFIG"] = "/dev/null";
});
afterEach(() => {
  process.env = { ...before };
});

function rules(env: Record<string, string>) {
  Object.assign(process.env, env);
  return decisionRulesOf(loadConfig());
}

/** The problems of a configuration that is refused. */
function problemsOf(env: Record<string, string>): string[] {
  try {
    rules(env);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
  return [];
}

test("without operators each decision is recorded as it comes", () => {
  expect(rules({})).toEqual({ isRequired: false, secondPerson: new Set(), operators: new Map() });
});

test("an operator has a name with dashes, one key or two, and all rights or some", () => {
  const { isRequired, operators } = rules({
    TRUSTFLOW_DECISIONS__SIGNED: "required",
    TRUSTFLOW_OPERATORS__ANA_RUIZ__PUBLIC_KEYS: `${publicKey},${another}`,
    TRUSTFLOW_OPERATORS__ANA_RUIZ__MAY: "acceptContract",
  });
  expect(isRequired).toBe(true);
  expect(operators).toEqual(
    new Map([
      [
        "ana-ruiz",
        {
          publicKeys: [Buffer.from(publicKey, "base64"), Buffer.from(another, "base64")],
          may: new Set(["acceptContract"]),
        },
      ],
    ]),
  );
});

test.each<[string, Record<string, string>, RegExp]>([
  [
    "signatures of nobody",
    { TRUSTFLOW_DECISIONS__SIGNED: "required" },
    /^operators: .*at least one operator/,
  ],
  [
    "a second person where there is one",
    {
      TRUSTFLOW_DECISIONS__SIGNED: "required",
      TRUSTFLOW_DECISIONS__SECOND_PERSON: "abandon",
      TRUSTFLOW_OPERATORS__ANA__PUBLIC_KEYS: publicKey,
      TRUSTFLOW_OPERATORS__PORTAL__PUBLIC_KEYS: another,
      TRUSTFLOW_OPERATORS__PORTAL__MAY: "acceptContract",
    },
    /^decisions\.secondPerson: requires .* two operators/,
  ],
  [
    "a second person without signatures",
    {
      TRUSTFLOW_DECISIONS__SECOND_PERSON: "happened",
      TRUSTFLOW_OPERATORS__ANA__PUBLIC_KEYS: publicKey,
      TRUSTFLOW_OPERATORS__BEN__PUBLIC_KEYS: another,
    },
    /^decisions\.secondPerson: requires decisions\.signed = "required"/,
  ],
  ["another word", { TRUSTFLOW_DECISIONS__SIGNED: "maybe" }, /^decisions\.signed: must be one of/],
  [
    "a short key",
    { TRUSTFLOW_OPERATORS__ANA__PUBLIC_KEYS: "c2hvcnQ=" },
    /^operators\.ana\.publicKeys\.0: must be/,
  ],
  [
    "no key",
    { TRUSTFLOW_OPERATORS__ANA__MAY: "resolve" },
    /^operators\.ana\.publicKeys is required/,
  ],
  [
    "one key of two operators",
    {
      TRUSTFLOW_OPERATORS__ANA__PUBLIC_KEYS: publicKey,
      TRUSTFLOW_OPERATORS__BEN__PUBLIC_KEYS: publicKey,
    },
    /^operators\.ben\.publicKeys: the key already belongs to operators\.ana/,
  ],
])("a start with %s is refused, and the key is named", (_, env, problem) => {
  expect(problemsOf(env)).toEqual([expect.stringMatching(problem)]);
});

test("what `keys operator` prints is a pair: one line signs, the other one proves it", async () => {
  const { stdout } = await commandLine(["keys", "operator", "ana-ruiz", "--json"]);
  Object.assign(process.env, JSON.parse(stdout));
  const config = loadConfig();
  const { id, bytes } = ringOf(config, "operator").active;
  expect(id).toBe("ana-ruiz");
  const decision = {
    namespace: "default",
    workflowId: "sendPostal/order-7",
    update: "cancel",
    updateId: "u-1",
    operator: id,
    at: "2026-11-22T08:00:00.000Z",
    argument: {},
  };
  const [key = Buffer.of()] = decisionRulesOf(config).operators.get(id)?.publicKeys ?? [];
  expect(isSignatureOf(key, decision, signDecision(bytes, decision))).toBe(true);
});

test("an operator's name that no variable could carry is refused", async () => {
  const { code, stderr } = await commandLine(["keys", "operator", "Ana"]);
  expect([code, stderr]).toEqual([2, expect.stringContaining("name: must be")]);
});
