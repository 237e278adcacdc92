// The update that `sendNotice` alone takes. The API cannot cancel a notice, so there is no update for it (P2 §4.2). No zod: the
// workflow imports this file.
import { defineUpdate } from "../shared/define.js";
import type { NoticeAffidavitRequest } from "./contract.js";

/**
 * P2 §4.2 On-demand affidavit; `requestId` where it was requested, `reason` where the provider refused. `limitReached`: the notice
 * has had as many as its provider makes; `notEligible`: `OnDemand` was not requested, or the notice is `Draft` or `Closed`.
 */
export type NoticeAffidavitAnswer =
  | { answer: "requested"; requestId: string }
  | { answer: "refused"; reason: string }
  | { answer: "limitReached" | "notEligible" | "unknown" | "unavailable" };
export const requestNoticeAffidavit = defineUpdate<NoticeAffidavitAnswer, [NoticeAffidavitRequest]>(
  "requestAffidavit",
);
