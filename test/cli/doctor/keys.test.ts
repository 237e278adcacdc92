// What `trustflow doctor` finds about the rings of a relay (docs/decisions/0033).
import { expect, test } from "vitest";
import { generateBoxRing } from "../../../src/crypto/sealed-box.js";
import { doctor, expectFinding } from "./doctor.js";

const check = "key ring secretsPublic";
const { publicRing } = generateBoxRing("s1");
const account = (provider: string, key: string) => ({
  [`TRUSTFLOW_ACCOUNTS__BRANCH__${provider}__BASE_URL`]: "https://provider.example.test",
  [`TRUSTFLOW_ACCOUNTS__BRANCH__${provider}__${key}`]: "x",
});

test("secretsPublicMissing: an account's callbacks carry a secret that a relay cannot keep", async () => {
  const env = account("VIDEO_IDENTIFICATION", "API_KEY");
  expectFinding(await doctor(env), check, "secretsPublicMissing", "branch video-identification");
  const complete = await doctor({ ...env, TRUSTFLOW_KEYS__SECRETS_PUBLIC: publicRing });
  expect(complete.checks.find((one) => one.check === check)?.state).toBe("ok");
  // The webhook of the one-shot service carries none.
  const other = await doctor(account("ONE_SHOT_SIGNATURE", "TOKEN"));
  expect(other.checks.find((one) => one.check === check)?.state).toBe("skip");
});
