// `sendOtp` and `validate` (P1 §2.3–2.4, 4.1); the body of `validate`, and what a wrong code answers, are not shown.
import { emptyAnswer, jsonAnswer, type Answer } from "../../exchange/answer.js";
import { Checker, fieldsOf } from "../../exchange/checker.js";
import { describeIntent } from "../../exchange/description.js";
import {
  sendOneTimePassword,
  tryOneTimePassword,
  type OneTimePassword,
} from "../../engine/one-time-password.js";
import type { Arrival, Call, Description, Operation } from "../../exchange/operation.js";
import type { SandboxParts } from "../../engine/parts.js";
import { language } from "./input-check.js";
import { badField, codes, lraOf, problem } from "./problem.js";

const NAME = "disposable-certificate";

export interface Enrollment {
  certIdOtp: number;
  deviceCode: string;
  otpId?: number;
  operation: string;
  account: string;
  lraId: string;
  intent: string;
  magicKey?: string | undefined;
  mobile?: string | undefined;
  email?: string | undefined;
  createdAt: number;
  state: "enrolled" | "otpSent" | "validated";
  otp?: OneTimePassword;
}

interface OtpText {
  channel: "SMS" | "EMAIL";
  /** With `$OTP$` where the code goes. */
  text: string;
}

export function otpOperations(
  parts: SandboxParts,
  find: (certIdOtp: unknown) => Enrollment | undefined,
): Operation[] {
  const { ledger, options } = parts;

  function describe({ body }: Arrival): Description {
    const enrollment = find(fieldsOf(body)["certIdOtp"]);
    return describeIntent(enrollment?.intent ?? null, enrollment?.magicKey);
  }

  function record(call: Call, { intent, certIdOtp }: Enrollment): void {
    const { operation, account, at } = call;
    ledger.record({ operation, intent, itemId: String(certIdOtp), at, account: account.username });
  }

  function noteUnknown(call: Call, { unknown }: Checker): void {
    for (const field of unknown) ledger.violate(call, "unknownField", describe(call).intent, field);
  }

  /** The enrollment that the body names, and that this account may go on with. */
  function target(call: Call, name: string, top: Checker): Enrollment | { problem: Answer } {
    const certIdOtp = top.whole("certIdOtp", 0);
    if (certIdOtp === undefined) top.fail("certIdOtp", "Required", "is required");
    const deviceCode = top.required("deviceCode");
    const [first] = top.errors;
    if (first) return { problem: problem(codes.field, first.message) };
    const enrollment = find(certIdOtp);
    if (!enrollment) {
      return { problem: problem(codes.unknownCertIdOtp, `certIdOtp ${certIdOtp} not found`) };
    }
    const lra = lraOf(call.account, enrollment.lraId, name);
    if ("problem" in lra) return lra;
    if (deviceCode !== enrollment.deviceCode) {
      return { problem: problem(codes.wrongDeviceCode, "deviceCode is not valid") };
    }
    return enrollment;
  }

  function sendOtp(call: Call): Answer {
    const top = new Checker(fieldsOf(call.body));
    top.known(["certIdOtp", "deviceCode", "smsOptions", "emailOptions"]);
    const enrollment = target(call, "sendOtp", top);
    const asked = allowedTextOf(top);
    noteUnknown(call, top);
    if ("problem" in enrollment) return enrollment.problem;
    if ("problem" in asked) return asked.problem;
    const { channel, text } = asked;
    const { hasEmailOtp = true } = call.account.lras[enrollment.lraId] ?? {};
    if (channel === "EMAIL" && !hasEmailOtp)
      return badField("emailOptions", "EMAIL is not enabled for the LRA");
    const to = channel === "SMS" ? enrollment.mobile : enrollment.email;
    if (to === undefined) {
      return badField(
        channel === "SMS" ? "smsOptions" : "emailOptions",
        "the holder has no address for it",
      );
    }
    const message = { provider: NAME, intent: enrollment.intent, channel, to, text };
    enrollment.otp = sendOneTimePassword(parts, message, call.at);
    if (enrollment.state === "enrolled") enrollment.state = "otpSent";
    record(call, enrollment);
    return emptyAnswer(200);
  }

  function validate(call: Call): Answer {
    const top = new Checker(fieldsOf(call.body));
    top.known(["certIdOtp", "deviceCode", "otp"]);
    const otp = top.required("otp");
    const enrollment = target(call, "validate", top);
    noteUnknown(call, top);
    if ("problem" in enrollment) return enrollment.problem;
    const verdict = enrollment.otp ? tryOneTimePassword(parts, enrollment.otp, otp ?? "") : "wrong";
    if (verdict === "wrong") return problem(options.wrongOtpCode, "the OTP is wrong");
    if (verdict === "expired") {
      return problem(options.expiredOtpCode, "the OTP is expired or locked");
    }
    // The code is not used up, so that a second validation shows in the ledger.
    enrollment.state = "validated";
    record(call, enrollment);
    return jsonAnswer(200, {});
  }

  const operation = (name: string, perform: (call: Call) => Answer): Operation => ({
    name,
    route: `POST /api/certificate/${name}`,
    needsClientCertificate: true,
    describe,
    perform,
  });
  return [operation("sendOtp", sendOtp), operation("validate", validate)];
}

/** What a `sendOtp` asks to be sent: a free SMS, an SMS by template, or an e-mail by template (P1 §2.3). */
function allowedTextOf(top: Checker): OtpText | { problem: Answer } {
  const sms = top.object("smsOptions");
  const email = top.object("emailOptions");
  const text = sms ? smsText(top.at(sms, "smsOptions."), sms) : undefined;
  if (sms && Object.keys(sms).length === 0) {
    return { problem: problem(codes.emptySmsOptions, "OTP not sent: smsOptions is empty") };
  }
  const mail = email && mailText(top.at(email, "emailOptions."));
  const [first] = top.errors;
  if (first) return { problem: problem(codes.field, first.message) };
  if (sms && email)
    return { problem: badField("emailOptions", "must not stand beside smsOptions") };
  if (text !== undefined) return { channel: "SMS", text };
  if (mail !== undefined) return { channel: "EMAIL", text: mail };
  return { problem: badField("smsOptions", "is required, or emailOptions") };
}

function smsText(options: Checker, given: Record<string, unknown>): string | undefined {
  options.known(["textSMS", "templateId", "language"]);
  if (given["textSMS"] === undefined) return template(options);
  for (const name of ["templateId", "language"]) {
    if (given[name] !== undefined)
      options.fail(name, "Alternative", "is an alternative to textSMS");
  }
  const text = options.required("textSMS");
  if (text === undefined || text.includes("$OTP$")) return text;
  return options.fail("textSMS", "NoPlace", "must contain $OTP$");
}

function mailText(options: Checker): string | undefined {
  options.known(["templateId", "language"]);
  return template(options);
}

function template(options: Checker): string | undefined {
  const id = options.required("templateId");
  const code = language(options, "language");
  return id && code && `[template ${id}, ${code}] $OTP$`;
}
