// What an account may do for an LRA, by method (P1 §5.1).
import type { Account, LraOptions } from "../../engine/accounts.js";
import type { Answer } from "../../exchange/answer.js";
import { codes, problem } from "./problem.js";

export function lraOf(
  account: Account,
  lraId: string,
  method: string,
): LraOptions | { problem: Answer } {
  const lra = Object.hasOwn(account.lras, lraId) ? account.lras[lraId] : undefined;
  if (lra && (lra.methods?.includes(method) ?? true)) return lra;
  const why = `the user is not authorized for the method ${method} or the LRA ${lraId}`;
  return { problem: problem(codes.denied, why) };
}
