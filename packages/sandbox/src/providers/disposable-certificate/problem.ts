// The errors of the certificate service: HTTP 500, whatever they are, with code and message (P1 §2.6, 7.1).
import type { Account, LraOptions } from "../../engine/accounts.js";
import { jsonAnswer, type Answer } from "../../exchange/answer.js";

/** P1 §7.1. */
export const codes = {
  field: 242,
  denied: 11002,
  unknownCertIdOtp: 62,
  wrongDeviceCode: 249,
  emptySmsOptions: 99,
  assertionExpired: 237,
  assertionInvalid: 239,
  eIDTypeDenied: 244,
} as const;

export function problem(code: number, message: string): Answer {
  return jsonAnswer(500, { code, message });
}

export function badField(name: string, constraint: string): Answer {
  return problem(codes.field, `${name}: ${constraint}`);
}

/** A fault without a code is no application's answer, so it has no error object either. */
export function refuse(status: number, code: number | string, message: string): Answer {
  if (typeof code === "number") return problem(code, message);
  if (code === "InvalidRequest") return problem(codes.field, message);
  return { status, headers: { "content-type": "text/plain" }, body: Buffer.from(message) };
}

/** What an account may do for an LRA, by operation (P1 §5.1). */
export function lraOf(
  account: Account,
  lraId: string,
  operation: string,
): LraOptions | { problem: Answer } {
  const lra = Object.hasOwn(account.lras, lraId) ? account.lras[lraId] : undefined;
  if (lra && (lra.methods?.includes(operation) ?? true)) return lra;
  const why = `the user is not authorized for the method ${operation} or the LRA ${lraId}`;
  return { problem: problem(codes.denied, why) };
}
