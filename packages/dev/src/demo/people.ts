// The demo's scenarios with people: certificates, messages, signatures and envelopes (P1 §1.1, 1.3–1.5). Holder and signer read their
// codes in the sandbox's outbox.
import { setTimeout as delay } from "node:timers/promises";
import type { CertificateHandle, IssueCertificateInput, OneShotHandle } from "trustflow-client";
import { pdf } from "trustflow-sandbox";
import type { Scenario, ScenarioContext } from "./scenario.js";

const enroll = "disposable-certificate.enroll";
const secrets = { password: "chosen by the holder", securityCode: "chosen by the holder" };
const smsOptions = { textSMS: "Your code is $OTP$" };
const settings = { resendSpacingSeconds: 0, pollIntervalSeconds: 5, askIntervalSeconds: 1 };
const { pollIntervalSeconds: _poll, askIntervalSeconds: _ask, ...otpSettings } = settings;
const HOUR_MS = 3_600_000;

function holder(intent: string, firstName = "Ada"): IssueCertificateInput {
  return {
    disposableHolder: {
      firstName,
      lastName: "Byron",
      identificationType: "ITALIAN_TAX_CODE",
      identificationCode: intent,
      identificationCountry: "IT",
      birthDate: "1990-12-10",
      birthCity: "Roma",
    },
    disposableDoc: {
      documentType: "CI",
      documentNr: "AX1234567",
      documentIssuer: "Comune di Roma",
      documentIssuerDate: "2020-01-01",
      documentIssuerCountry: "IT",
      documentExpirationDate: "2099-01-01",
    },
    disposableCertificate: { ...secrets, type: "DISPOSABLE", otpType: "SMS" },
    disposableContacts: { mobile: "+390612345678" },
    smsOptions,
    settings: otpSettings,
  };
}

/** An eID assertion of the moment `at`, in base64 (P1 §2.2). */
function assertionOf(intent: string, at: Date): string {
  const claims = {
    given_name: "Ada",
    family_name: "Byron",
    person_identifier: intent,
    birth_date: "1990-12-10",
    doc_type: "CI",
    country: "IT",
    rp_name: "Trustflow demonstration",
    rp_id: "demo",
    original_assertion: "b3JpZ2luYWw=",
    iat: Math.floor(at.getTime() / 1_000),
  };
  return Buffer.from(JSON.stringify(claims)).toString("base64");
}

type Coded = Pick<CertificateHandle | OneShotHandle, "submitOtp">;

/** Enters the newest of at least `count` codes. */
async function enterCode(handle: Coded, { sandbox }: ScenarioContext, intent: string, count = 1) {
  const code = await eventually(async () => {
    const messages = await sandbox.messages(intent);
    return messages.length >= count ? messages.at(-1)?.otp : undefined;
  });
  await eventually(async () => {
    const { answer } = await handle.submitOtp(code);
    return answer === "unavailable" ? undefined : answer;
  });
}

async function eventually<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const seen = await look().catch(() => undefined);
    if (seen !== undefined) return seen;
    await delay(200);
  }
}

async function waitsFor(handle: Pick<CertificateHandle, "status">, what: string): Promise<void> {
  await eventually(async () => {
    const { waitingFor } = await handle.status();
    return waitingFor?.includes(what) ? true : undefined;
  });
}

export const peopleScenarios: Scenario[] = [
  {
    process: "issueCertificate",
    name: "wrong-code",
    title: "A wrong code, a new code, the right code",
    expected: "issued",
    effect: enroll,
    async play(stage, intent) {
      const handle = await stage.client.issueCertificate("wrong-code", holder(intent));
      const meanwhile = async () => {
        await waitsFor(handle, "code");
        await handle.submitOtp("000000");
        await handle.resendOtp();
        await enterCode(handle, stage, intent, 2);
      };
      return { handle, meanwhile: meanwhile() };
    },
  },
  {
    process: "issueCertificate",
    name: "assertion-renewed",
    title: "A new eID assertion replaces an expired one",
    expected: "issued",
    effect: "disposable-certificate.enrollDisposableWitheIDAssertion",
    async play(stage, intent) {
      const old = assertionOf(intent, new Date(Date.now() - HOUR_MS));
      const handle = await stage.client.issueCertificate("assertion-renewed", {
        eidAssertionHolder: { country: "IT", eIDType: "EIDVENDOR", assertion: old },
        contacts: { mobile: "+390612345678" },
        certificate: { ...secrets, fullData: true, otpType: "SMS", type: "DISPOSABLE" },
        smsOptions,
        settings: otpSettings,
      });
      const meanwhile = async () => {
        await waitsFor(handle, "assertion");
        await handle.provideAssertion(assertionOf(intent, new Date()));
        await enterCode(handle, stage, intent);
      };
      return { handle, meanwhile: meanwhile() };
    },
  },
  {
    process: "issueCertificate",
    name: "enroll-cut-off",
    title: "The enrolment's answer is lost; an operator supplies its IDs",
    expected: "issued",
    effect: enroll,
    async play(stage, intent) {
      const input = holder(intent, "sandbox:enroll=cut-after-commit");
      const handle = await stage.client.issueCertificate("enroll-cut-off", input);
      const meanwhile = async () => {
        const attention = await eventually(async () => (await handle.status()).attention);
        const [item] = (await stage.sandbox.items({ intent })).items;
        const { deviceCode } = await stage.sandbox.item(item?.id ?? "");
        await handle.resolve({
          attention: attention.id,
          decision: "happened",
          by: "an operator of the demo",
          note: "seen at the provider",
          result: { certIdOtp: item?.id, deviceCode },
        });
        await enterCode(handle, stage, intent);
      };
      return { handle, meanwhile: meanwhile() };
    },
  },
  {
    process: "sendMessage",
    name: "message",
    title: "A message",
    expected: "accepted",
    effect: "messaging-gateway.send",
    async play(stage, intent) {
      const providerFields = { clientReference: intent, to: "+390612345678", text: "Hello" };
      return { handle: await stage.client.sendMessage("message", { providerFields }) };
    },
  },
  {
    process: "signEnvelope",
    name: "envelope",
    title: "An envelope with a one-shot signature",
    expected: "sent",
    effect: "envelope-signature.send",
    async play({ client }, intent) {
      const document = await client.documents.put(pdf(["An agreement"]), "application/pdf");
      const handle = await client.signEnvelope("envelope", {
        request: { providerFields: { reference: intent } },
        documents: [{ name: `${intent}--agreement.pdf`, document }],
      });
      return { handle };
    },
  },
  {
    process: "signOneShot",
    name: "video-signature",
    title: "A signature after a video identification",
    expected: "signed",
    effect: "one-shot-signature.sign",
    async play(stage, intent) {
      const put = (text: string) => stage.client.documents.put(pdf([text]), "application/pdf");
      const handle = await stage.client.signOneShot("video-signature", {
        variant: "videoIdentification",
        providerFields: { reference: intent, mobile: "+390612345678", identityVideo: true },
        documents: [{ name: "agreement.pdf", document: await put("An agreement") }],
        identityVideo: {
          evidences: [{ name: "identity-card.pdf", document: await put("An identity card") }],
          video: { name: "video.pdf", document: await put("Stands for a video") },
        },
        settings,
      });
      const meanwhile = async () => {
        await waitsFor(handle, "identity video");
        await handle.decideVideo("approve");
        await enterCode(handle, stage, intent);
      };
      return { handle, meanwhile: meanwhile() };
    },
  },
];
