// P1 §4.2.
import type { EffectClasses } from "../effect-classes.js";

export const effects = {
  genAPIToken: "read",
  rejectCall: "once",
  getAsyncRequestInfo: "read",
  registerAlertEmail: "repeatable",
  conferenceData: "read",
  getAuditData: "read",
  deleteAuditData: "repeatable",
} as const satisfies EffectClasses;

export type VideoOperation = keyof typeof effects;
