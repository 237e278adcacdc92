// The update that `issueCertificate` alone takes, and what its assertion looks like. No zod: the workflow imports this file.
import { defineUpdate } from "@temporalio/workflow";

/** What an eID assertion looks like (P1 §2.2): base64 as its writers write it, padded and with no bit left over. */
export const assertionPattern =
  /^(?=.)(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$/;

/** `pending`: it was taken, and the provider has not answered in time; `notAwaited`: no assertion is missing. */
export interface AssertionAnswer {
  answer: "accepted" | "expired" | "invalid" | "pending" | "notAwaited";
}
export const provideAssertion = defineUpdate<AssertionAnswer, [{ assertion: string }]>(
  "provideAssertion",
);
