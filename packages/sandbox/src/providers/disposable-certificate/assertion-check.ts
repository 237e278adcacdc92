// The checks of the eID-assertion input, and of the assertion itself (P1 §2.2).
import { type Checker, fieldsOf, isObject } from "../../exchange/checker.js";
import { country, formatted, mobile, section } from "./formats.js";
import { checkCertificate } from "./holder-check.js";

export interface AssertionInput {
  eIDType: string;
  assertion: string;
  mobile: string;
}

export function checkAssertionInput(top: Checker): AssertionInput | undefined {
  top.known(["eidAssertionHolder", "contacts", "certificate"]);
  const holder = section(top, "eidAssertionHolder", ["country", "eIDType", "assertion"]);
  formatted(holder, "country", country);
  const eIDType = holder.required("eIDType");
  const assertion = holder.required("assertion");
  const contacts = section(top, "contacts", ["mobile"]);
  const number = formatted(contacts, "mobile", mobile);
  const certificate = section(top, "certificate", [
    "fullData",
    "otpType",
    "password",
    "securityCode",
    "type",
  ]);
  certificate.requiredFlag("fullData");
  checkCertificate(certificate, ["SMS"]);
  if (top.errors.length > 0 || !eIDType || !assertion || !number) return undefined;
  return { eIDType, assertion, mobile: number };
}

const claimNames = [
  "given_name",
  "family_name",
  "person_identifier",
  "birth_date",
  "doc_type",
  "country",
  "rp_name",
  "rp_id",
  "original_assertion",
  "iat",
];

/** The claims, where the text is base64 of a JSON object. */
export function decodeAssertion(assertion: unknown): Record<string, unknown> | undefined {
  if (typeof assertion !== "string") return undefined;
  const bytes = Buffer.from(assertion, "base64");
  // Node reads base64url, and what lacks its padding, too.
  if (bytes.toString("base64") !== assertion) return undefined;
  try {
    const claims: unknown = JSON.parse(bytes.toString("utf8"));
    return isObject(claims) ? claims : undefined;
  } catch {
    return undefined;
  }
}

/** Why the claims are not valid; undefined if they are. */
export function invalidClaims(claims: Record<string, unknown> | undefined): string | undefined {
  if (!claims) return "is not base64 of a JSON object";
  const missing = claimNames.filter((name) => (claims[name] ?? "") === "");
  if (missing.length > 0) return `lacks ${missing.join(", ")}`;
  return issuedAt(claims) === undefined ? "iat is no instant" : undefined;
}

/** Milliseconds; `iat` is in seconds, as in a JWT, or an ISO 8601 text: the unit is not shown. */
export function issuedAt({ iat }: Record<string, unknown>): number | undefined {
  const at = typeof iat === "number" ? iat * 1000 : Date.parse(String(iat));
  return Number.isFinite(at) ? at : undefined;
}

export const personOf = (body: unknown) => {
  const claims = decodeAssertion(fieldsOf(fieldsOf(body)["eidAssertionHolder"])["assertion"]);
  return { intent: claims?.["person_identifier"], name: claims?.["given_name"] };
};
