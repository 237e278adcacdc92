// Error bodies of the postal API (P2 §7.1). The specification lists no error codes; these are the sandbox's own.
import { jsonAnswer, type Answer } from "../../exchange/answer.js";
import type { FieldError } from "../../exchange/checker.js";

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

export function badRequest(errors: FieldError[]): Answer {
  const [first] = errors;
  return refusal(
    400,
    first?.errorCode ?? "InvalidRequest",
    first?.message ?? "invalid request",
    errors,
  );
}

export function badField(fieldName: string, errorCode: string, message: string): Answer {
  return badRequest([{ fieldName, errorCode, message: `${fieldName}: ${message}` }]);
}
