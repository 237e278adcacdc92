// Error bodies of the two hosts: not shown (P1 §7.3), so shapes and codes are the sandbox's own.
import { jsonAnswer, type Answer } from "../../exchange/answer.js";

export const caRefusal = (status: number, code: string, message: string): Answer =>
  jsonAnswer(status, { code, message });

export const envelopeRefusal = (status: number, ErrorId: string, Message: string): Answer =>
  jsonAnswer(status, { ErrorId, Message });
