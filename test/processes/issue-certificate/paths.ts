// Every way through `issueCertificate` (P1 §1.1, 4.1; docs/reading-the-specification.md §5).
import { expect } from "@jest/globals";
import type { CertificateHandle, IssueCertificateInput } from "../../../src/client.js";
import type { Decision } from "../../../src/contracts/shared/messages.js";
import {
  attentionOf,
  changePassword,
  decide,
  ends,
  idOf,
  isAbandoned,
  knowsNoAccount,
  refusesInput,
  resentWhenDue,
  shows,
  start,
  temporalHandle,
} from "../../harness/histories/walk.js";
import type { Path, PathsOf, Walk, Writing } from "../../harness/histories/walk.js";
import { assertionInput, codeFor, holderInput } from "./inputs.js";
import { answerLate } from "../../harness/stack/late-answer.js";

/** Long enough for what a path does before it, however busy the machine is. */
const soon = { holderDeadlineSeconds: 15 };

export const issueCertificatePaths: PathsOf = {
  process: "issueCertificate",
  activities: [
    "prepare",
    "checkData",
    "enroll",
    "sendOtp",
    "resendOtp",
    "validate",
    "isPast",
    "decide",
  ],
  speed: 1,
  accounts: ["access-mended", "still-in-attention"],
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
    issued: (walk) => enters(walk),
    unchecked: (walk) => enters(walk, "", { checkData: false }),
    "by-email": async (walk) => {
      const handle = await start(walk, "issueCertificate", { ...holder(walk), ...byEmail });
      await entersCode(walk, handle);
    },
    async "wrong-code"(walk) {
      const handle = await enrolled(walk);
      expect(await tries(walk, handle)).toEqual({ answer: "wrong", triesLeft: 4 });
      await entersCode(walk, handle);
    },
    async resent(walk) {
      const handle = await enrolled(walk);
      expect(await handle.resendOtp()).toEqual({ answer: "sent", resendsLeft: 2 });
      await entersCode(walk, handle, 1);
    },
    async "resent-when-due"(walk) {
      const handle = await enrolled(walk, "", { resendSpacingSeconds: 2 });
      await resentWhenDue(handle);
      await entersCode(walk, handle, 1);
    },
    async expired(walk) {
      await ends(await begin(walk, "", { holderDeadlineSeconds: 1 }), "expired");
    },
    async locked(walk) {
      const handle = await enrolled(walk, "", { otpTries: 1, otpResends: 0 });
      expect(await tries(walk, handle)).toEqual({ answer: "wrong", triesLeft: 0 });
      await ends(handle, "locked");
    },

    async "by-assertion"(walk) {
      const issuedAt = await now(walk);
      const input = eid(walk, assertion(walk, issuedAt));
      await entersCode(walk, await start(walk, "issueCertificate", input));
    },
    async "assertion-expired"(walk) {
      const handle = await withOldAssertion(walk);
      await renews(walk, handle);
      await entersCode(walk, handle);
    },
    async "assertion-refused-at-enrolment"(walk) {
      const handle = await withOldAssertion(walk, { checkData: false });
      await renews(walk, handle);
      await entersCode(walk, handle);
    },
    async "assertion-invalid"(walk) {
      const invalid = assertion(walk, await now(walk), { rp_name: "" });
      const input = eid(walk, invalid, { assertionTries: 2 });
      const handle = await start(walk, "issueCertificate", input);
      await awaitsAssertion(handle);
      expect(await handle.provideAssertion(invalid)).toEqual({ answer: "invalid" });
      await expect(handle.result()).rejects.toMatchObject({ code: "239" });
    },
    async "assertion-never-renewed"(walk) {
      const handle = await withOldAssertion(walk, { assertionDeadlineSeconds: 1 });
      await expect(handle.result()).rejects.toMatchObject({ code: "237" });
    },

    async "enrolment-happened"(walk) {
      const handle = await begin(walk, "enroll=cut-after-commit");
      await decide(walk, handle, "unknownOutcome", "happened", await idsOf(walk, handle));
      await awaitsCode(handle);
      expect(await handle.resendOtp()).toEqual({ answer: "sent", resendsLeft: 2 });
      await entersCode(walk, handle, 1);
    },
    async "enrolment-retried"(walk) {
      const handle = await begin(walk, "enroll=cut");
      await decide(walk, handle, "unknownOutcome", "retry");
      await entersCode(walk, handle);
    },
    async "enrolment-abandoned"(walk) {
      const handle = await begin(walk, "enroll=cut-after-commit");
      await decide(walk, handle, "unknownOutcome", "abandon");
      await isAbandoned(handle, "unknown");
    },
    async "enrolment-still-in-doubt"(walk) {
      await attentionOf(await begin(walk, "enroll=cut-after-commit"), "unknownOutcome");
    },
    async "code-unanswered"(walk) {
      await enters(walk, "sendOtp=cut-after-commit");
    },
    async "code-unanswered-resent"(walk) {
      const handle = await enrolled(walk, "sendOtp=cut");
      expect(await handle.resendOtp()).toEqual({ answer: "sent", resendsLeft: 2 });
      await entersCode(walk, handle);
    },
    async "code-refused-retried"(walk) {
      const handle = await begin(walk, "sendOtp=code-99");
      await decide(walk, handle, "protocol", "retry");
      await entersCode(walk, handle);
    },
    async "code-refused-abandoned"(walk) {
      const handle = await begin(walk, "sendOtp=code-99");
      await decide(walk, handle, "protocol", "abandon");
      await isAbandoned(handle, "exists");
    },

    async "try-unanswered"(walk) {
      const handle = await enrolled(walk, "validate=cut");
      expect(await tries(walk, handle)).toEqual({ answer: "unknown" });
      await entersCode(walk, handle);
    },
    async "try-accepted-late"(walk) {
      const handle = await leftOpen(walk, "validate=cut-after-commit");
      await answersLate(walk, "answered", {});
      await ends(handle, "issued");
    },
    async "try-wrong-late"(walk) {
      const handle = await leftOpen(walk, "validate=cut");
      await answersLate(walk, "refused", { code: "250", status: 500, fields: [] });
      await ends(handle, "expired");
    },
    async "try-happened"(walk) {
      const handle = await leftOpen(walk, "validate=cut-after-commit");
      await decide(walk, handle, "unknownOutcome", "happened");
      await ends(handle, "issued");
    },
    async "try-retried"(walk) {
      const handle = await leftOpen(walk, "validate=cut");
      await decide(walk, handle, "unknownOutcome", "retry");
      await entersCode(walk, handle);
    },

    "cancelled-before-enrolment": cancelled(withOldAssertion, "abandon", (_, handle) =>
      isAbandoned(handle, "none"),
    ),
    "cancel-withdrawn-before-enrolment": cancelled(
      withOldAssertion,
      "retry",
      async (walk, handle) => {
        await renews(walk, handle);
        await entersCode(walk, handle);
      },
    ),
    "cancelled-after-enrolment": cancelled(enrolled, "abandon", (_, handle) =>
      isAbandoned(handle, "exists"),
    ),
    "cancel-withdrawn-after-enrolment": cancelled(enrolled, "retry", (walk, handle) =>
      entersCode(walk, handle),
    ),
    async "cancel-withdrawn-in-doubt"(walk) {
      const asked = await begin(walk, "enroll=cut-after-commit");
      await attentionOf(asked, "unknownOutcome");
      await temporalHandle(walk).cancel();
      await decide(walk, asked, "cancelRequested", "retry");
      await attentionOf(asked, "unknownOutcome");
      await temporalHandle(walk).terminate();
      const handle = await begin(walk, "enroll=cut-after-commit");
      await decide(walk, handle, "unknownOutcome", "abandon");
      await isAbandoned(handle, "unknown");
      expect(await walk.system.effects(walk.intent)).toEqual({
        "disposable-certificate.enroll": 1,
      });
    },

    async "access-mended"(walk) {
      const { handle, mend } = await denied(walk);
      await mend();
      await entersCode(walk, handle);
    },
    async "not-accepted"(walk) {
      const handle = await begin(walk, "a-word-that-nobody-knows");
      await expect(handle.result()).rejects.toMatchObject({ code: "242" });
    },
    async "invalid-input"(walk) {
      const { disposableContacts: _, ...bad } = holder(walk) as unknown as Record<string, unknown>;
      await refusesInput(walk, bad);
    },
    "unknown-account": (walk) => knowsNoAccount(walk, holder(walk)),
    async "input-mismatch"(walk) {
      await enrolled(walk);
      await temporalHandle(walk).terminate();
      const handle = await start(walk, "issueCertificate", holder({ ...walk, intent: "another" }));
      await expect(handle.result()).rejects.toThrow(/another input/);
    },

    async terminated(walk) {
      await enrolled(walk);
      await temporalHandle(walk).terminate();
    },
    async "taken-up-again"(walk) {
      await enrolled(walk);
      await temporalHandle(walk).terminate();
      await enters(walk);
      expect(await walk.system.effects(walk.intent)).toEqual(once("enroll"));
    },
    async "taken-up-with-another-assertion"(walk) {
      await renews(walk, await withOldAssertion(walk));
      await temporalHandle(walk).terminate();
      const input = eid(walk, assertion(walk, await now(walk)));
      await entersCode(walk, await start(walk, "issueCertificate", input));
      expect(await walk.system.effects(walk.intent)).toEqual(
        once("enrollDisposableWitheIDAssertion"),
      );
    },
    async "still-open"(walk) {
      await enrolled(walk);
    },
    async "still-in-attention"(walk) {
      await denied(walk);
    },
  },
};

type Settings = NonNullable<IssueCertificateInput["settings"]>;

const byEmail = {
  disposableCertificate: { password: "pass", securityCode: "code", otpType: "EMAIL" },
  disposableContacts: { email: "ada@example.org" },
  smsOptions: undefined,
  emailOptions: { templateId: "welcome", language: "it" },
};

const once = (enrolment: string) =>
  Object.fromEntries(
    [enrolment, "sendOtp", "validate"].map((name) => [`disposable-certificate.${name}`, 1]),
  );

function holder({ intent }: Writing, words = "", settings: Settings = {}): IssueCertificateInput {
  const input = holderInput(intent, words);
  return { ...input, settings: { ...input.settings, ...settings } };
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
async function now({ system }: Walk): Promise<Date> {
  return new Date((await system.sandbox.clock()).now);
}

function begin(walk: Walk, words = "", settings: Settings = {}): Promise<CertificateHandle> {
  return start(walk, "issueCertificate", holder(walk, words, settings));
}

/** Until the holder is waited for. */
async function enrolled(walk: Walk, words = "", settings: Settings = {}) {
  const handle = await begin(walk, words, settings);
  await awaitsCode(handle);
  return handle;
}

async function awaitsCode(handle: CertificateHandle): Promise<void> {
  await shows(handle, ({ waitingFor }) => waitingFor === "the holder's code");
}

/** A code that is none, full of the author's words. */
function tries({ author }: Walk, handle: CertificateHandle) {
  return handle.submitOtp(author.secret("code", author.words("code")));
}

/** The holder's code, and with it the end; with `after`, one that came after so many others. */
async function entersCode(walk: Walk, handle: CertificateHandle, after = 0): Promise<void> {
  await awaitsCode(handle);
  const code = await codeFor(walk.system.sandbox, walk.intent, after);
  const answer = await handle.submitOtp(walk.author.secret("code", code));
  expect(answer).toEqual({ answer: "accepted" });
  await ends(handle, "issued");
}

async function enters(walk: Walk, words = "", settings: Settings = {}): Promise<void> {
  await entersCode(walk, await begin(walk, words, settings));
}

async function awaitsAssertion(handle: CertificateHandle): Promise<void> {
  await shows(handle, ({ waitingFor }) => waitingFor === "a fresh eID assertion");
}

async function withOldAssertion(walk: Walk, settings: Settings = {}) {
  const old = new Date((await now(walk)).getTime() - 3_600_000);
  const input = eid(walk, assertion(walk, old), settings);
  const handle = await start(walk, "issueCertificate", input);
  if (settings.assertionDeadlineSeconds === undefined) await awaitsAssertion(handle);
  return handle;
}

async function renews(walk: Walk, handle: CertificateHandle): Promise<void> {
  const fresh = assertion(walk, await now(walk));
  expect(await handle.provideAssertion(fresh)).toEqual({ answer: "accepted" });
}

/** What the provider knows of an enrolment whose answer was lost. */
async function idsOf({ system, author, intent }: Walk, handle: CertificateHandle) {
  await attentionOf(handle, "unknownOutcome");
  const [item] = (await system.sandbox.items({ intent })).items;
  const { deviceCode } = await system.sandbox.item(item?.id ?? "");
  return {
    certIdOtp: item?.id ?? "",
    deviceCode: author.secret("deviceCode", String(deviceCode)),
  };
}

/** The holder's code got no answer, and soon the holder's time is over. */
async function leftOpen(walk: Walk, words: string): Promise<CertificateHandle> {
  const handle = await enrolled(walk, words, soon);
  const code = await codeFor(walk.system.sandbox, walk.intent);
  const answer = await handle.submitOtp(walk.author.secret("code", code));
  expect(answer).toEqual({ answer: "unknown" });
  return handle;
}

/** What the call of the one try has brought after all. */
function answersLate(
  { system, of, id }: Walk,
  state: "answered" | "refused",
  answer: object,
): Promise<void> {
  const row = { workflowId: idOf({ of, id }), step: "validate" };
  return answerLate(system.stack, row, { state, answer });
}

/** Cancelled in the Web UI, and what a person makes of it. */
function cancelled(
  before: (walk: Walk) => Promise<CertificateHandle>,
  decision: Decision,
  after: (walk: Walk, handle: CertificateHandle) => Promise<void>,
): Path {
  return async (walk) => {
    const handle = await before(walk);
    await temporalHandle(walk).cancel();
    await decide(walk, handle, "cancelRequested", decision);
    await after(walk, handle);
  };
}

async function denied(walk: Walk) {
  const mend = await changePassword(walk);
  const input = { ...holder(walk), account: walk.account };
  const handle = await start(walk, "issueCertificate", input);
  await attentionOf(handle, "accessDenied");
  return { handle, mend };
}
