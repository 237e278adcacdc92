// What `trustflow doctor` says of the operators and of the key that signs decisions.
import { expect, test } from "vitest";
import { type Checked, runCheck } from "../../../src/cli/doctor/check.js";
import { type FindingName, findings } from "../../../src/cli/doctor/findings.js";
import { decisionRules, operatorKey } from "../../../src/cli/doctor/operators.js";
import { loadWithAccounts } from "../../../src/providers/accounts.js";
import { operatorPublicKey } from "../../../src/crypto/decision-signature.js";
import { Operators } from "../../harness/stack/operators.js";
import { doctor } from "./doctor.js";

const people = new Operators("ana", "ben");
const stranger = new Operators("ana");
const publicKey = operatorPublicKey(people.privateKey("ana"));
const before = process.env;

/** Both checks under an environment. */
async function said(env: Record<string, string>): Promise<{ rules: Checked; key: Checked }> {
  process.env = { TRUSTFLOW_CONFIG: "/dev/null", ...env };
  try {
    const config = loadWithAccounts();
    return {
      rules: await runCheck("operators", () => decisionRules(config)),
      key: await runCheck("key operator", () => operatorKey(config)),
    };
  } finally {
    process.env = before;
  }
}

const found = (finding: FindingName, detail: string | RegExp) => ({
  finding,
  ...findings[finding],
  detail: expect.stringMatching(detail),
});

const key = (text: string) => ({ TRUSTFLOW_KEYS__OPERATOR: text });
const withTwo = {
  TRUSTFLOW_DECISIONS__SIGNED: "required",
  TRUSTFLOW_DECISIONS__SECOND_PERSON: "abandon",
};

test("the command says who may decide, and as whom this key signs; it shows no private key", async () => {
  const { checks, stdout } = await doctor({
    TRUSTFLOW_CONFIG: "/dev/null",
    ...people.env,
    ...people.keyOf("ana"),
    ...withTwo,
    TRUSTFLOW_OPERATORS__BEN__MAY: "resolve",
  });
  expect(checks).toContainEqual({
    check: "operators",
    state: "ok",
    detail: "ana, ben; each decision must be signed; abandon needs two operators",
  });
  expect(checks).toContainEqual({
    check: "key operator",
    state: "ok",
    detail:
      "signs as ana: resolve, cancel, acceptContract, decideVideo, updateVideo, rejectCall, erase, alertEmails",
  });
  expect(stdout).not.toContain(people.privateKey("ana").toString("base64"));
});

test("where there is nothing to compare, that is said", async () => {
  const skipped = (detail: string) => ({ state: "skip", detail: expect.stringContaining(detail) });
  const none = await said({});
  expect(none.rules).toMatchObject(skipped("no operator is configured here"));
  expect(none.key).toMatchObject(skipped("keys.operator is not set"));
  const alone = await said(people.keyOf("ana"));
  expect(alone.key).toMatchObject(skipped(`must know ana by the public key ${publicKey}`));
});

test("configurationInvalid: a second person, and one operator alone who may resolve", async () => {
  const { rules } = await said({
    ...people.env,
    ...withTwo,
    TRUSTFLOW_OPERATORS__BEN__MAY: "acceptContract",
  });
  expect(rules).toMatchObject(
    found("configurationInvalid", /decisions\.secondPerson: requires .* two operators/),
  );
});

test.each([
  ["a file that is not there", { TRUSTFLOW_KEYS__OPERATOR__FILE: "/nonexistent/ana.key" }, /exist/],
  ["half a key", key("ana:c2hvcnQ="), /keys\.operator.*"ana".*5 bytes instead of 32/],
  ["a key without a name", key(publicKey), /keys\.operator.*expected <id>/],
  [
    "a name that no operator can have",
    key(`Ana:${publicKey}`),
    /"Ana" is not a valid operator name/,
  ],
])("operatorKeyMalformed: %s", async (_, env, detail) => {
  const { key: checked } = await said({ ...people.env, ...env });
  expect(checked).toMatchObject(found("operatorKeyMalformed", detail));
  expect(checked.detail).not.toMatch(/c2hvcnQ=|[A-Za-z0-9+/]{43}=/);
});

test.each([
  ["an operator who is not configured", people.keyOf("ana", "cid"), /names cid, .* operators\.ana/],
  ["a name of JavaScript's", stranger.keyOf("ana", "constructor"), /operators\.constructor is not/],
  ["the key of another one", people.keyOf("ana", "ben"), /names ben, .* belongs to operators\.ana/],
  ["another key", stranger.keyOf("ana"), /not in operators\.ana\.publicKeys/],
  ["the public key", key(`ana:${publicKey}`), /is the public key of ana; use the private key/],
])("operatorKeyUnknown: %s", async (_, env, detail) => {
  const { key: checked } = await said({ ...people.env, ...env });
  expect(checked).toMatchObject(found("operatorKeyUnknown", detail));
});
