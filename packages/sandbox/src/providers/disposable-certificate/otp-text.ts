// What a `sendOtp` asks to be sent: a free SMS, an SMS by template, or an e-mail by template (P1 §2.3).
import type { Answer } from "../../exchange/answer.js";
import type { Checker } from "../../exchange/checker.js";
import { formatted, language } from "./formats.js";
import { badField, codes, problem } from "./problem.js";

export interface OtpText {
  channel: "SMS" | "EMAIL";
  /** With `$OTP$` where the code goes. */
  text: string;
}

export function allowedTextOf(top: Checker): OtpText | { problem: Answer } {
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
  const code = formatted(options, "language", language);
  return id && code && `[template ${id}, ${code}] $OTP$`;
}
