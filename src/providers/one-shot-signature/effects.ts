// P1 §4.4.
import type { EffectClasses } from "../effect-classes.js";

export const effects = {
  listTokens: "read",
  createToken: "once",
  create: "once",
  uploadDocument: "lookup",
  uploadHash: "lookup",
  contract: "read",
  otp: "once",
  sign: "once",
  retrieve: "read",
  deleteDocuments: "repeatable",
  createVideo: "once",
  uploadEvidences: "once",
  uploadVideo: "once",
  approveVideo: "once",
  cancelVideo: "once",
  getVideo: "read",
  updateVideo: "once",
} as const satisfies EffectClasses;

export type OneShotOperation = keyof typeof effects;
