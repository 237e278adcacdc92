// Error bodies of the notice API (P2 §7.2): problem documents. The specification lists no types; these are the sandbox's own.
import type { SeededIds } from "../../engine/seeded.js";
import { refuserOf, type Refuser } from "../evi/refuser.js";

const titles: Record<number, string> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  409: "Conflict",
};

export function noticeRefuser(ids: SeededIds): Refuser {
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
  // P2 §7.2 shows no list of fields: the detail names each.
  return refuserOf(refuse, (errors) =>
    refuse(
      400,
      errors[0]?.errorCode ?? "InvalidRequest",
      errors.map(({ message }) => message).join("; ") || "invalid request",
    ),
  );
}
