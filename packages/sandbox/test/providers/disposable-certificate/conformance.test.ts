// The sandbox against the fixtures transcribed from the specification (test/fixtures/disposable-certificate/README.md).
import { afterAll, beforeEach, expect, test } from "vitest";
import { sandboxControl } from "../../../src/control/client.js";
import { startSandbox } from "../../../src/sandbox.js";
import {
  fixturesOf,
  matches,
  type Fixture,
  type Values,
} from "../../../../../test/harness/fixtures/fixtures.js";
import { MINUTE } from "../../caller.js";
import { authorizationOf, differences } from "../../exchange.js";
import { assertion, enroll, sendOtp, validate } from "./caller.js";

const fixtures = fixturesOf("sandbox", "disposable-certificate");
const sandbox = await startSandbox({ speed: "manual" });
const control = sandboxControl(sandbox.url);
beforeEach(() => control.reset());
afterAll(() => sandbox.close());

/** Brings the sandbox into `given`, and learns its values. */
async function setUp({ given }: Fixture, values: Values): Promise<void> {
  await control.putAccount("sandbox", { lras: { "lra-1": {} } });
  if (given.enrollment) {
    const { otpType, isByAssertion, isSent, wrongTries = 0, ageMinutes = 0 } = given.enrollment;
    Object.assign(values, await enroll(sandbox, { otpType, isByAssertion }));
    if (isSent) values["otp"] = await sendOtp(sandbox, values);
    for (let count = 0; count < wrongTries; count += 1) await validate(sandbox, values, "wrong");
    await sandbox.clock.advance(ageMinutes * MINUTE);
  }
  if (given.lra) await control.putAccount("sandbox", { lras: { "lra-1": given.lra } });
  values["assertion"] = assertion(sandbox, given.assertion);
  values["basic"] = authorizationOf(given.account);
}

test.each(fixtures)("%s", async (_, fixture) => {
  const values: Values = {};
  await setUp(fixture, values);
  const before = sandbox.messages().length;
  expect(await differences(sandbox, fixture, values)).toEqual([]);
  const sent = sandbox.messages().slice(before);
  expect(sent).toHaveLength(fixture["sent"] ? 1 : 0);
  if (fixture["sent"]) expect(matches(fixture["sent"], sent[0], { extra: true })).toEqual([]);
});

test("a message of code 242 begins with the field (P1 §2.1)", () => {
  for (const [, { field, response }] of fixturesOf("sandbox", "disposable-certificate", "field")) {
    const message = `${field}: {{string:constraint}}`;
    expect(response.body).toEqual({ code: 242, message });
  }
});
