// What `trustflow doctor` says where an account does not know where the answers show what decides (P1 §2.7).
import { expect, test } from "vitest";
import { doctor, expectFinding } from "./doctor.js";

const check = "answers branch video-identification";
const keys = "TRUSTFLOW_ACCOUNTS__BRANCH__VIDEO_IDENTIFICATION";
const account = {
  [`${keys}__BASE_URL`]: "https://provider.example.test",
  [`${keys}__API_KEY`]: "x",
};

test("pointerMissing: without pointers.state a callback alone ends a call, and the doctor says what that costs", async () => {
  const report = await doctor(account);
  expectFinding(report, check, "pointerMissing", /^pointers\.state is none, .* a forged one too/);
  const nameless = await doctor({
    ...account,
    [`${keys}__POINTERS__STATE`]: "/state",
    [`${keys}__POINTERS__CONFERENCE`]: "none",
  });
  expectFinding(nameless, check, "pointerMissing", /^pointers\.conference is none/);
  const complete = await doctor({ ...account, [`${keys}__POINTERS__STATE`]: "/state" });
  expect(complete.checks.find((one) => one.check === check)?.state).toBe("ok");
});
