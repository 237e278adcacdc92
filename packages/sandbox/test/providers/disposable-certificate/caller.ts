// A bare caller of the simulated certificate service, for the sandbox's own tests.
import type { Sandbox } from "../../../src/sandbox.js";
import { loadFixtures } from "../../../../../test/harness/fixtures/fixtures.js";
import { basic } from "../../caller.js";
import { exchange, type Answered } from "../../exchange.js";

const fixtures = loadFixtures("test/fixtures/disposable-certificate");
const bodyOf = (file: string) =>
  structuredClone(fixtures.find((fixture) => fixture.file === file)!["request"].body);

/** What the specification's own enrollment looks like. */
export const holderBody = (firstName = "Ada", identificationCode = "RSSDAA85T41H501Z"): any => {
  const body = bodyOf("p1-2.5-enroll-200.json");
  Object.assign(body.disposableHolder, { firstName, identificationCode });
  return body;
};

export const assertionBody = (text: string): any => {
  const body = bodyOf("p1-2.5-enroll-eid-200.json");
  body.eidAssertionHolder.assertion = text;
  return body;
};

/** Base64 of the ten claims, issued now by the sandbox's clock. */
export function assertion(
  { clock }: Sandbox,
  { ageMinutes = 0, without = "", givenName = "Ada" } = {},
): string {
  const claims: Record<string, unknown> = {
    given_name: givenName,
    family_name: "Rossi",
    person_identifier: "RSSDAA85T41H501Z",
    birth_date: "1985-12-01",
    doc_type: "CI",
    country: "IT",
    rp_name: "Trustflow",
    rp_id: "rp-1",
    original_assertion: "signed by the issuer",
    iat: Math.floor(clock.now() / 1000) - ageMinutes * 60,
  };
  delete claims[without];
  return Buffer.from(JSON.stringify(claims)).toString("base64");
}

export function call(sandbox: Sandbox, path: string, body: unknown): Promise<Answered> {
  const headers = { authorization: basic(), "content-type": "application/json" };
  const whole = `/api/certificate/${path}`;
  return exchange(sandbox, { method: "POST", path: whole, headers, body, clientCertificate: true });
}

type Ids = Record<string, unknown>;

export async function enroll(
  sandbox: Sandbox,
  { otpType = "SMS", isByAssertion = false, firstName = "Ada", code = "RSSDAA85T41H501Z" } = {},
): Promise<Ids> {
  const holder = holderBody(firstName, code);
  holder.disposableCertificate.otpType = otpType;
  if (otpType === "EMAIL") holder.disposableContacts = { email: "ada@example.com" };
  const { status, body } = isByAssertion
    ? await call(
        sandbox,
        "lra-1/enrollDisposableWitheIDAssertion",
        assertionBody(assertion(sandbox)),
      )
    : await call(sandbox, "lra-1/enroll", holder);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body;
}

/** Sends a code and returns it, as the holder would read it. */
export async function sendOtp(sandbox: Sandbox, { certIdOtp, deviceCode }: Ids): Promise<string> {
  const smsOptions = { textSMS: "Your code is $OTP$" };
  const { status } = await call(sandbox, "sendOtp", { certIdOtp, deviceCode, smsOptions });
  if (status !== 200) throw new Error(`sendOtp: ${status}`);
  return sandbox.messages().at(-1)!.otp!;
}

export const validate = (sandbox: Sandbox, { certIdOtp, deviceCode }: Ids, otp: string) =>
  call(sandbox, "validate", { certIdOtp, deviceCode, otp });
