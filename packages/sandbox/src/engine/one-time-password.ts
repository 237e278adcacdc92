// One-time passwords: six digits from the seed, sent to a person only through the outbox, and valid for a number of minutes.
import type { OutboxMessage } from "./outbox.js";
import type { SandboxParts } from "./parts.js";

const DIGITS = 6;
const TRIES = 5;

export interface OneTimePassword {
  code: string;
  expiresAt: number;
  triesLeft: number;
}

/** Replaces the previous code; `text` contains `$OTP$` in place of the code. */
export function sendOneTimePassword(
  { ids, options, outbox, personNow, changed }: SandboxParts,
  message: Omit<OutboxMessage, "at" | "otp">,
  at: number,
): OneTimePassword {
  const code = ids.digits(`${message.provider}.otp`, DIGITS);
  const text = message.text.replaceAll("$OTP$", code);
  outbox.add({ ...message, text, at: new Date(at).toISOString(), otp: code });
  changed();
  return { code, expiresAt: personNow() + options.otpLifetimeMs, triesLeft: TRIES };
}

/** One that was tried wrongly too often is expired. */
export function tryOneTimePassword(
  { personNow }: SandboxParts,
  password: OneTimePassword,
  given: string,
): "right" | "wrong" | "expired" {
  if (personNow() >= password.expiresAt || password.triesLeft === 0) return "expired";
  if (given === password.code) return "right";
  password.triesLeft -= 1;
  return "wrong";
}
