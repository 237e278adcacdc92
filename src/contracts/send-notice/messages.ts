// The update that `sendNotice` alone takes. The API cannot cancel a notice, so there is no update for it (P2 §4.2). No zod: the
// workflow imports this file.
import { defineUpdate } from "../shared/define.js";
import type { NoticeAffidavitRequest } from "./contract.js";

export type NoticeAffidavitAnswer =
  | { answer: "requested"; requestId: string }
  | { answer: "refused"; reason: string }
  | { answer: "limitReached" | "notEligible" | "unknown" | "unavailable" };
export const requestNoticeAffidavit = defineUpdate<NoticeAffidavitAnswer, [NoticeAffidavitRequest]>(
  "requestAffidavit",
);
