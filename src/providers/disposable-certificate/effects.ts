// P1 §4.1.
import type { EffectClasses } from "../effect-classes.js";

export const effects = {
  checkData: "read",
  checkDataWitheIDAssertion: "read",
  enroll: "once",
  enrollDisposableWitheIDAssertion: "once",
  sendOtp: "once",
  validate: "once",
} as const satisfies EffectClasses;

export type CertificateOperation = keyof typeof effects;
