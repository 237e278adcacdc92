import { expect, test } from "@jest/globals";
import { readAddress } from "../../../src/callbacks/address.js";
import { KeyRing, generateKeyRing } from "../../../src/crypto/key-ring.js";
import { commandLine } from "../in-process.js";

const keys = generateKeyRing();
const env = {
  TRUSTFLOW_KEYS__CALLBACK: keys,
  TRUSTFLOW_CALLBACKS__PUBLIC_URL: "https://callbacks.example.com",
  TRUSTFLOW_ACCOUNTS__BRANCH__ONE_SHOT_SIGNATURE__BASE_URL: "https://sign.example.com",
  TRUSTFLOW_ACCOUNTS__BRANCH__ONE_SHOT_SIGNATURE__TOKEN: "t",
  TRUSTFLOW_ACCOUNTS__DEFAULT__MESSAGING_GATEWAY__BASE_URL: "https://send.example.com",
  TRUSTFLOW_ACCOUNTS__DEFAULT__MESSAGING_GATEWAY__USERNAME: "u",
  TRUSTFLOW_ACCOUNTS__DEFAULT__MESSAGING_GATEWAY__PASSWORD: "p",
  TRUSTFLOW_ACCOUNTS__DEFAULT__MESSAGING_GATEWAY__API_KEY: "k",
};
const address = (...args: string[]) =>
  commandLine(["callbacks", "address", "one-shot-signature", ...args], { env });

test("callbacks address prints the URL of the account, and nothing else anywhere", async () => {
  const { code, stdout, stderr } = await address("--account", "branch");
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(/^https:\/\/callbacks\.example\.com\/callbacks\/[\w.-]+\n$/);
  const segment = stdout.trim().split("/").at(-1) ?? "";
  expect(readAddress(KeyRing.parse(keys), segment)?.subject).toEqual({
    provider: "one-shot-signature",
    account: "branch",
  });
  const json = await address("--account", "branch", "--json");
  expect(JSON.parse(json.stdout)).toEqual({ url: stdout.trim() });
});

test("callbacks address knows only configured accounts of the provider: another one would collect callbacks without a process", async () => {
  for (const account of ["default", "mistyped"]) {
    const { code, stdout, stderr } = await address("--account", account);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(`accounts.${account}.one-shot-signature is not configured`);
  }
});
