// Error bodies where the specification shows none (P1 §7.3): shape and codes are the sandbox's own.
import { jsonAnswer, type Answer } from "./answer.js";

export const refusal = (status: number, code: string, message: string): Answer =>
  jsonAnswer(status, { code, message });

export const invalid = (message: string): Answer => refusal(400, "invalid", message);
export const unauthorized = (message: string): Answer => refusal(401, "unauthorized", message);
export const notFound = (what: string): Answer => refusal(404, "not_found", `no such ${what}`);
export const wrongState = (message: string): Answer => refusal(409, "wrong_state", message);
