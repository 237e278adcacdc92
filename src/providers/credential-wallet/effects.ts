// The effect class of each operation of the credential wallet (P1 §4.6): nothing shows what exists, so none can be looked up.
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
