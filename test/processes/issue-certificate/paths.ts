// The ways through `issueCertificate` whose histories differ (P1 §1.1, 4.1; docs/reading-the-specification.md §5).
import { expect } from "vitest";
import type { CertificateHandle, IssueCertificateInput } from "../../../src/client.js";
import {
  attentionOf,
  decide,
  decided,
  decidedBy,
  ends,
  endsAs,
  isAbandonedWith,
  mismatches,
  refusesInput,
  resentWhenDue,
  start,
  temporalHandle,
} from "../../harness/histories/path-run.js";
import type { PathRun, PathsOf, Writing } from "../../harness/histories/path-run.js";
import { awaits, cancelled, itemOf, mended, unbroken, waitingFor, waysOf } from "../ways.js";
import { assertionInput, codeFor, holderInput } from "./inputs.js";

/** Long enough for what a path does before it, however busy the machine is. */
const soon = { settings: { holderDeadlineSeconds: 15 } };
/** An update's answer is due before a slow call has one. */
const impatient = { settings: { holderDeadlineSeconds: 15, answerSeconds: 3 } };

const anAssertion = "a new eID assertion";
const theCode = "the holder's code";
const { opened: enrolled, denied } = waysOf(begin, waitingFor(theCode));

const doubted = decided(begin, "unknownOutcome");
const refused = decided(begin, "protocol");
const unheard = decided(leftOpen, "unknownOutcome");
const cancelledBefore = cancelled(unbroken((run) => withOldAssertion(run)));
const cancelledAfter = cancelled(unbroken((run) => enrolled(run)));

export const issueCertificatePaths: PathsOf = {
  process: "issueCertificate",
  speed: 1,
  accounts: ["access-mended"],
  kept: [
    "disposableCertificate.type",
    "certificate.type",
    "eidAssertionHolder.assertion",
    "emailOptions.language",
  ],
  inputs: {
    data: (writing) => holder(writing),
    email: (writing) => ({ ...holder(writing), ...byEmail }),
    assertion: (writing) => eid(writing, assertion(writing, new Date())),
  },
  paths: {
    async issued(run) {
      const handle = await begin(run);
      await entersCode(run, handle);
      expect(await handle.result()).toMatchObject({
        references: { certIdOtp: expect.stringMatching(/^\d+$/) },
        dates: { enrolledAt: expect.any(String), validatedAt: expect.any(String) },
        otpsSent: 1,
      });
      expect(await run.system.effects(run.intent)).toEqual(once);
    },
    "by-email": async (run) => {
      const handle = await start(run, "issueCertificate", { ...holder(run), ...byEmail });
      await entersCode(run, handle);
    },
    async "wrong-code"(run) {
      const handle = await enrolled(run);
      expect(await tries(run, handle)).toEqual({ answer: "wrong", triesLeft: 4 });
      await entersCode(run, handle);
    },
    async "resent-when-due"(run) {
      const handle = await enrolled(run, "", { settings: { resendSpacingSeconds: 2 } });
      await resentWhenDue(handle);
      await entersCode(run, handle, 1);
    },

    async "assertion-expired"(run) {
      const handle = await withOldAssertion(run);
      await renews(run, handle);
      await entersCode(run, handle);
    },
    async "assertion-refused-at-enrolment"(run) {
      const handle = await withOldAssertion(run, { checkData: false });
      await renews(run, handle);
      await entersCode(run, handle);
    },
    async "assertion-invalid"(run) {
      const invalid = assertion(run, await now(run), { rp_name: "" });
      const input = eid(run, invalid, { assertionTries: 2 });
      const handle = await start(run, "issueCertificate", input);
      await awaits(handle, anAssertion);
      expect(await handle.provideAssertion(invalid)).toEqual({ answer: "invalid" });
      await expect(handle.result()).rejects.toMatchObject({ details: { providerCode: "239" } });
    },
    async "assertion-never-renewed"(run) {
      const handle = await withOldAssertion(run, { assertionDeadlineSeconds: 1 });
      await expect(handle.result()).rejects.toMatchObject({ details: { providerCode: "237" } });
    },

    async "enrolment-happened"(run) {
      const handle = await begin(run, "enroll=cut-after-commit");
      const ids = await idsOf(run, handle);
      const { attention } = await handle.status();
      expect(attention).toMatchObject({
        step: "enroll",
        happenedNeeds: ["certIdOtp", "deviceCode"],
      });
      const decision = {
        ...decidedBy(run),
        attention: attention!.id,
        decision: "happened",
      } as const;
      await expect(
        handle.resolve({ ...decision, result: { ...ids, otpId: "no id" } }),
      ).rejects.toMatchObject({ fields: [{ path: "result.otpId" }] });
      await decide(run, handle, "unknownOutcome", "happened", ids);
      await awaits(handle, theCode);
      expect(await handle.resendOtp()).toEqual({ answer: "sent", resendsLeft: 2 });
      await entersCode(run, handle, 1);
    },
    "enrolment-retried": doubted("enroll=cut", "retry", entersCode),
    "enrolment-abandoned": doubted(
      "enroll=cut-after-commit",
      "abandon",
      isAbandonedWith("unknown"),
    ),
    "code-refused-retried": refused("sendOtp=code-99", "retry", entersCode),
    "code-refused-abandoned": refused("sendOtp=code-99", "abandon", isAbandonedWith("exists")),

    async "try-accepted-late"(run) {
      const handle = await enrolled(run, "validate=slow-answer-6000", impatient);
      const code = await codeFor(run.system.sandbox, run.intent);
      const answer = await handle.submitOtp(run.author.secret("code", code));
      expect(answer).toEqual({ answer: "unknown" });
      await ends(handle, "issued");
      expect(await run.system.effects(run.intent)).toEqual(once);
    },
    async "try-wrong-late"(run) {
      const handle = await enrolled(run, "validate=slow-answer-6000", impatient);
      expect(await tries(run, handle)).toEqual({ answer: "unknown" });
      await ends(handle, "expired");
    },
    "try-happened": unheard("validate=cut-after-commit", "happened", endsAs("issued")),
    "try-retried": unheard("validate=cut", "retry", entersCode),

    "cancelled-before-enrolment": cancelledBefore("abandon", isAbandonedWith("none")),
    "cancel-withdrawn-before-enrolment": cancelledBefore("retry", async (run, handle) => {
      await renews(run, handle);
      await entersCode(run, handle);
    }),
    "cancelled-after-enrolment": cancelledAfter("abandon", isAbandonedWith("exists")),
    "cancel-withdrawn-after-enrolment": cancelledAfter("retry", entersCode),

    "access-mended": mended(denied, entersCode),
    async "not-accepted"(run) {
      const handle = await begin(run, "a-word-that-nobody-knows");
      await expect(handle.result()).rejects.toMatchObject({ details: { providerCode: "242" } });
    },
    async "invalid-input"(run) {
      const { disposableContacts: _, ...bad } = holder(run) as unknown as Record<string, unknown>;
      await refusesInput(run, bad);
    },
    "input-mismatch": mismatches(
      (run) => enrolled(run),
      (run) => start(run, "issueCertificate", holder({ ...run, intent: "another" })),
    ),

    async "taken-up-again"(run) {
      await enrolled(run);
      await temporalHandle(run).terminate();
      await entersCode(run, await begin(run));
      expect(await run.system.effects(run.intent)).toEqual(once);
    },
  },
};

type Settings = NonNullable<IssueCertificateInput["settings"]>;
type More = Pick<IssueCertificateInput, "account" | "settings">;

const byEmail = {
  disposableCertificate: { password: "pass", securityCode: "code", otpType: "EMAIL" },
  disposableContacts: { email: "ada@example.org" },
  smsOptions: undefined,
  emailOptions: { templateId: "welcome", language: "it" },
};

const once = Object.fromEntries(
  ["enroll", "sendOtp", "validate"].map((name) => [`disposable-certificate.${name}`, 1]),
);

function holder(
  { intent }: Writing,
  words = "",
  { settings, ...more }: More = {},
): IssueCertificateInput {
  const input = holderInput(intent, words);
  return { ...input, settings: { ...input.settings, ...settings }, ...more };
}

function eid(
  { intent }: Writing,
  assertion: string,
  settings: Settings = {},
): IssueCertificateInput {
  const input = assertionInput(intent, new Date()) as Extract<
    IssueCertificateInput,
    { eidAssertionHolder: object }
  >;
  return {
    ...input,
    eidAssertionHolder: { ...input.eidAssertionHolder, assertion },
    settings: { ...input.settings, ...settings },
  };
}

/** With the author's words in each claim (P1 §2.2). */
function assertion({ author, intent }: Writing, issuedAt: Date, change: object = {}): string {
  const names = [
    "given_name",
    "family_name",
    "birth_date",
    "doc_type",
    "country",
    "rp_name",
    "rp_id",
    "original_assertion",
  ];
  const claims = {
    ...Object.fromEntries(names.map((name) => [name, author.words(`claim ${name}`)])),
    person_identifier: intent,
    iat: Math.floor(issuedAt.getTime() / 1_000),
    ...change,
  };
  return author.secret("assertion", Buffer.from(JSON.stringify(claims)).toString("base64"));
}

/** By the sandbox's clock, which other processes may have moved. */
async function now({ system }: PathRun): Promise<Date> {
  return new Date((await system.sandbox.clock()).now);
}

async function anHourAgo(run: PathRun): Promise<Date> {
  return new Date((await now(run)).getTime() - 3_600_000);
}

function begin(run: PathRun, words?: string, more?: More): Promise<CertificateHandle> {
  return start(run, "issueCertificate", holder(run, words, more));
}

/** A code that is none, full of the author's words. */
function tries({ author }: PathRun, handle: CertificateHandle) {
  return handle.submitOtp(author.secret("code", author.words("code")));
}

/** The holder's code, and with it the end; with `after`, one that came after so many others. */
async function entersCode(run: PathRun, handle: CertificateHandle, after = 0): Promise<void> {
  await awaits(handle, theCode);
  const code = await codeFor(run.system.sandbox, run.intent, after);
  const answer = await handle.submitOtp(run.author.secret("code", code));
  expect(answer).toEqual({ answer: "accepted" });
  await ends(handle, "issued");
}

async function withOldAssertion(run: PathRun, settings: Settings = {}) {
  const input = eid(run, assertion(run, await anHourAgo(run)), settings);
  const handle = await start(run, "issueCertificate", input);
  if (settings.assertionDeadlineSeconds === undefined) await awaits(handle, anAssertion);
  return handle;
}

async function renews(run: PathRun, handle: CertificateHandle): Promise<void> {
  const fresh = assertion(run, await now(run));
  expect(await handle.provideAssertion(fresh)).toEqual({ answer: "accepted" });
}

/** What the provider knows of an enrolment whose answer was lost. */
async function idsOf(run: PathRun, handle: CertificateHandle) {
  await attentionOf(handle, "unknownOutcome");
  const certIdOtp = await itemOf(run);
  const { deviceCode } = await run.system.sandbox.item(certIdOtp);
  return { certIdOtp, deviceCode: run.author.secret("deviceCode", String(deviceCode)) };
}

/** The holder's code got no answer, and soon the holder's time is over. */
async function leftOpen(run: PathRun, words: string): Promise<CertificateHandle> {
  const handle = await enrolled(run, words, soon);
  const code = await codeFor(run.system.sandbox, run.intent);
  const answer = await handle.submitOtp(run.author.secret("code", code));
  expect(answer).toEqual({ answer: "unknown" });
  return handle;
}
