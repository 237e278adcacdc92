// What `trustflow doctor` finds about callbacks: their addresses, their secrets, and what the answers show of them (docs/decisions/0020,
// docs/decisions/0033, P1 §2.7).
import { expect, test } from "vitest";
import { generateBoxRing } from "../../../src/crypto/sealed-box.js";
import { ofFile } from "../../harness/of-file.js";
import { testDatabase } from "../../harness/stack/postgres.js";
import { doctor, expectFinding } from "./doctor.js";
import type { Report } from "./doctor.js";

const database = ofFile(testDatabase);
const stateOf = ({ checks }: Report, check: string) =>
  checks.find((one) => one.check === check)?.state;
const account = (provider: string, keys: Record<string, string>) =>
  Object.fromEntries(
    Object.entries({ BASE_URL: "https://provider.example.test", ...keys }).map(([key, value]) => [
      `TRUSTFLOW_ACCOUNTS__BRANCH__${provider}__${key}`,
      value,
    ]),
  );
const video = (keys: Record<string, string> = {}) =>
  account("VIDEO_IDENTIFICATION", { API_KEY: "x", ...keys });

test("callbackFlood: the processes whose addresses brought more than they are told of are named", async () => {
  const env = { DATABASE_URL: database.url };
  expect(stateOf(await doctor(env), "callback floods")).toBe("ok");
  await database.pool.query(
    `insert into trustflow.callback_addresses (address, namespace, workflow_id, surplus, refused)
     values ('a', 'default', 'sendPostal/flooded', 30, 12), ('b', 'default', 'sendPostal/other', 0, 0)`,
  );
  const report = await doctor(env);
  expectFinding(report, "callback floods", "callbackFlood", /^sendPostal\/flooded \(42 more\)$/);
  await database.pool.query("update trustflow.callback_addresses set counted_on = counted_on - 2");
  expect(stateOf(await doctor(env), "callback floods")).toBe("ok");
});

test("cleanupOverdue: no clean-up has reached its end for two days", async () => {
  const env = { DATABASE_URL: database.url };
  const ended = (ago: string) =>
    database.pool.query(`update trustflow.cleanups set ended_at = now() - interval '${ago}'`);
  await ended("47 hours");
  expect(stateOf(await doctor(env), "clean-up")).toBe("ok");
  await ended("49 hours");
  const report = await doctor(env);
  expectFinding(report, "clean-up", "cleanupOverdue", /^last reached its end at 20\S+Z$/);
});

test("addressLifeShort: addresses that end before a letter may", async () => {
  const report = await doctor({ TRUSTFLOW_CALLBACKS__ADDRESS_DAYS: "150" });
  const detail = "150 days; a letter may take 127";
  expectFinding(report, "callback address life", "addressLifeShort", detail);
});

test("secretsPublicMissing: an account's callbacks carry a secret that a relay cannot keep", async () => {
  const check = "key ring secretsPublic";
  const finding = "secretsPublicMissing";
  expectFinding(await doctor(video()), check, finding, "branch video-identification");
  const { publicRing } = generateBoxRing("s1");
  const complete = await doctor({ ...video(), TRUSTFLOW_KEYS__SECRETS_PUBLIC: publicRing });
  expect(stateOf(complete, check)).toBe("ok");
  // The webhook of the one-shot service carries none.
  const other = await doctor(account("ONE_SHOT_SIGNATURE", { TOKEN: "x" }));
  expect(stateOf(other, check)).toBe("skip");
});

test("pointerMissing: without pointers.state a callback alone ends a call, and the doctor says what that costs", async () => {
  const check = "answers branch video-identification";
  const stateless = /^pointers\.state is none, .* a forged one too/;
  expectFinding(await doctor(video()), check, "pointerMissing", stateless);
  const state = { POINTERS__STATE: "/state" };
  const nameless = await doctor(video({ ...state, POINTERS__CONFERENCE: "none" }));
  expectFinding(nameless, check, "pointerMissing", /^pointers\.conference is none/);
  expect(stateOf(await doctor(video(state)), check)).toBe("ok");
});
