// P1 §4.5.
import type { EffectClasses } from "../effect-classes.js";

export const effects = {
  esawoneshot: "once",
  uploadFile: "repeatable",
  sendEnvelope: "once",
} as const satisfies EffectClasses;

export type EnvelopeOperation = keyof typeof effects;
