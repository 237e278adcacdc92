// `alert-emails`: the addresses go to the provider as they are given, and only when the command means it (P1 §4.2, rules 1–4).
import { beforeAll, expect, test } from "vitest";
import { startSandbox } from "../../../packages/sandbox/src/sandbox.js";
import { ofFile } from "../../harness/of-file.js";
import { Operators } from "../../harness/stack/operators.js";
import { commandLine } from "../in-process.js";

const sandbox = ofFile(startSandbox);
let env: Record<string, string>;
beforeAll(() => {
  env = {
    TRUSTFLOW_ENVIRONMENT: "sandbox",
    TRUSTFLOW_ACCOUNTS__DEFAULT__VIDEO_IDENTIFICATION__BASE_URL: sandbox.url,
    TRUSTFLOW_ACCOUNTS__DEFAULT__VIDEO_IDENTIFICATION__API_KEY: "sandbox-api-key",
  };
});

const operators = new Operators("ana", "ben");
const set = (...args: string[]) => commandLine(["alert-emails", ...args], { env });
const sent = () => sandbox.ledger("desk").byIntent["desk"] ?? {};

test("addresses are registered, and removed when that is said", async () => {
  const given = await set("desk", "desk@example.com", "night@example.com");
  expect(given).toEqual({
    code: 0,
    stdout: "desk  desk@example.com, night@example.com\n",
    stderr: "",
  });
  expect(sent()).toEqual({ "video-identification.registerAlertEmail": 1 });
  const removed = await set("desk", "--remove", "--json");
  expect(JSON.parse(removed.stdout)).toEqual({ processId: "desk", emails: [] });
  expect(sent()).toEqual({ "video-identification.registerAlertEmail": 2 });
});

test.each([
  [["", "a@example.com"], 2, "process-id: must be 1 to 200 visible ASCII characters"],
  [["desk"], 2, "email: give addresses, or --remove and none"],
  [["desk", "a@example.com", "--remove"], 2, "email: give addresses, or --remove and none"],
  [["desk", "a@example.com,b@example.com"], 2, "is not an e-mail address"],
  [["desk", "a@example.com", "--account", "other"], 2, "account: accounts.other"],
])("%j is refused, and nothing is sent", async (args, code, message) => {
  const before = sent();
  const refused = await set(...args);
  expect(refused.code).toBe(code);
  expect(refused.stderr).toContain(message);
  expect(sent()).toEqual(before);
});

test("a provider that is away, and a key that it refuses, are told without the key", async () => {
  const key = "TRUSTFLOW_ACCOUNTS__DEFAULT__VIDEO_IDENTIFICATION__API_KEY";
  const wrong = { ...env, [key]: "a-wrong-key" };
  const { code, stderr } = await commandLine(["alert-emails", "desk", "a@example.com"], {
    env: wrong,
  });
  expect(code).toBe(4);
  expect(stderr).toContain("401");
  expect(stderr).not.toContain("a-wrong-key");
});

test("where decisions must be signed, only the key of an operator who may do so sends anything", async () => {
  const rules = {
    ...env,
    ...operators.env,
    TRUSTFLOW_DECISIONS__SIGNED: "required",
    TRUSTFLOW_OPERATORS__BEN__MAY: "resolve,erase",
  };
  const setAs = (key: Record<string, string>) =>
    commandLine(["alert-emails", "desk", "a@example.com"], { env: { ...rules, ...key } });
  const before = sent();
  for (const [key, problem] of [
    [{}, 'keys.operator: is required: decisions.signed is "required"'],
    [operators.keyOf("ana", "ben"), 'is not the key of a configured operator "ben"'],
    [operators.keyOf("ana", "eve"), 'is not the key of a configured operator "eve"'],
    [operators.keyOf("ben"), "ben may not alertEmails"],
  ] as const)
    expect(await setAs(key)).toMatchObject({ code: 2, stderr: expect.stringContaining(problem) });
  expect(sent()).toEqual(before);
  expect(await setAs(operators.keyOf("ana"))).toMatchObject({
    code: 0,
    stdout: "desk  a@example.com (operator ana)\n",
  });
});
