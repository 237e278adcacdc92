// Error bodies of the envelope host: not shown (P1 §7.3), so shape and codes are the sandbox's own.
import { jsonAnswer, type Answer } from "../../exchange/answer.js";

export const envelopeRefusal = (status: number, ErrorId: string, Message: string): Answer =>
  jsonAnswer(status, { ErrorId, Message });
