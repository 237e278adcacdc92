// No zod: the workflow imports this file.
import { defineUpdate } from "../shared/define.js";

/** An eID assertion is base64 with padding and no unused bits (P1 §2.2). */
export const assertionPattern =
  /^(?=.)(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$/;

export interface AssertionAnswer {
  answer: "accepted" | "expired" | "invalid" | "pending" | "notAwaited";
}
export const provideAssertion = defineUpdate<AssertionAnswer, [{ assertion: string }]>(
  "provideAssertion",
);
