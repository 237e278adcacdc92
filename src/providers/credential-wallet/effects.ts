// P1 §4.6. Nothing shows what exists, so no operation can be looked up.
import type { EffectClasses } from "../effect-classes.js";

export const effects = {
  createOperator: "once",
  createTemplate: "once",
  createIssuanceService: "once",
  initIssuance: "once",
  createVerificationTemplate: "once",
  createPresentationService: "once",
  initPresentation: "once",
} as const satisfies EffectClasses;

export type WalletOperation = keyof typeof effects;
