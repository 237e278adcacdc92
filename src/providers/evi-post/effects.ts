// P2 §4.1.
import type { EffectClasses } from "../effect-classes.js";

export const effects = {
  submit: "keyed",
  query: "read",
  requestAffidavit: "once",
  cancel: "lookup",
  downloadAffidavits: "read",
} as const satisfies EffectClasses;

export type PostalOperation = keyof typeof effects;
