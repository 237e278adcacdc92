// `alert-emails`: the addresses go to the provider as they are given, and only when the command means it (P1 §4.2, rules 1–4).
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { startSandbox, type Sandbox } from "../../../src/sandbox/sandbox.js";
import { trustflow } from "../run.js";

let sandbox: Sandbox;
let env: Record<string, string>;
beforeAll(async () => {
  sandbox = await startSandbox();
  env = {
    TRUSTFLOW_ENVIRONMENT: "sandbox",
    TRUSTFLOW_ACCOUNTS__DEFAULT__VIDEO_IDENTIFICATION__BASE_URL: sandbox.url,
    TRUSTFLOW_ACCOUNTS__DEFAULT__VIDEO_IDENTIFICATION__API_KEY: "sandbox-api-key",
  };
});
afterAll(() => sandbox?.close());

const set = (...args: string[]) => trustflow(["alert-emails", ...args], { env });
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
  const { code, stderr } = await trustflow(["alert-emails", "desk", "a@example.com"], {
    env: wrong,
  });
  expect(code).toBe(4);
  expect(stderr).toContain("401");
  expect(stderr).not.toContain("a-wrong-key");
});
