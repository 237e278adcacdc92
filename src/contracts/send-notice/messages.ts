// The update that `sendNotice` alone takes. The API cannot cancel a notice, so there is no update for it (P2 §4.2). No zod: the
// workflow imports this file.
import { defineUpdate } from "../shared/define.js";
import type { AffidavitRequestAnswer } from "../shared/messages.js";
import type { NoticeAffidavitRequest } from "./contract.js";

export type NoticeAffidavitAnswer =
  | AffidavitRequestAnswer
  | { answer: "limitReached" | "notEligible" };
export const requestNoticeAffidavit = defineUpdate<NoticeAffidavitAnswer, [NoticeAffidavitRequest]>(
  "requestAffidavit",
);
