// Error bodies of the notice API (P2 §7.2): problem documents. The specification lists no types; these are the sandbox's own.
import type { SeededIds } from "../../engine/seeded.js";
import type { Answer } from "../../exchange/answer.js";
import type { FieldError } from "../../exchange/checker.js";

export interface Refuser {
  refuse(status: number, code: string, detail: string): Answer;
  /** P2 §7.2 shows no list of fields: the detail names each. */
  badRequest(errors: FieldError[]): Answer;
  badField(name: string, code: string, problem: string): Answer;
}

const titles: Record<number, string> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  409: "Conflict",
};

export function refuser(ids: SeededIds): Refuser {
  const refuse: Refuser["refuse"] = (status, code, detail) => ({
    status,
    headers: { "content-type": "application/problem+json" },
    body: Buffer.from(
      JSON.stringify({
        Status: status,
        Type: `https://problems.invalid/${code}`,
        Title: titles[status] ?? "Error",
        Detail: detail,
        RequestId: ids.uuid("evi-notice.problem"),
      }),
    ),
  });
  const badRequest: Refuser["badRequest"] = (errors) =>
    refuse(
      400,
      errors[0]?.errorCode ?? "InvalidRequest",
      errors.map(({ message }) => message).join("; ") || "invalid request",
    );
  return {
    refuse,
    badRequest,
    badField: (fieldName, errorCode, problem) =>
      badRequest([{ fieldName, errorCode, message: `${fieldName}: ${problem}` }]),
  };
}
