// Error bodies of the postal API (P2 §7.1). The specification lists no error codes; these are the sandbox's own.
import { jsonAnswer, type Answer } from "../../exchange/answer.js";
import type { FieldError } from "../../exchange/checker.js";
import { refuserOf } from "../evi/refuser.js";

export function refusal(
  status: number,
  errorCode: string,
  message: string,
  errors?: FieldError[],
): Answer {
  return jsonAnswer(status, {
    responseStatus: { errorCode, message, ...(status === 400 && { errors: errors ?? [] }) },
  });
}

export const refuser = refuserOf(refusal, (errors) =>
  refusal(
    400,
    errors[0]?.errorCode ?? "InvalidRequest",
    errors[0]?.message ?? "invalid request",
    errors,
  ),
);
export const { badField } = refuser;
