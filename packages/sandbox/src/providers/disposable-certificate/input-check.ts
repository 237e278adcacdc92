// The checks of both inputs of the certificate service, rule by rule: the holder's data, and an eID assertion (P1 §2.1–2.3).
// Which members are mandatory is not shown: all that carry no condition are.
import { type Checker, fieldsOf, isObject } from "../../exchange/checker.js";

type Rule = (fields: Checker, name: string, isRequired?: boolean) => string | undefined;

const format =
  (fits: RegExp | ((text: string) => boolean), constraint: string): Rule =>
  (fields, name, isRequired = true) => {
    const text = isRequired ? fields.required(name) : fields.text(name);
    const isRight = text === undefined || (fits instanceof RegExp ? fits.test(text) : fits(text));
    return isRight ? text : fields.fail(name, "InvalidFormat", constraint);
  };

const isDate = (text: string) =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) &&
  !Number.isNaN(Date.parse(text)) &&
  new Date(text).toISOString().startsWith(text);
const required: Rule = (fields, name) => fields.required(name);
const date = format(isDate, "must be a date, YYYY-MM-DD");
const country = format(/^[A-Z]{2}$/, "must be an ISO 3166-1 alpha-2 code");
const mobile = format(/^\+[1-9]\d{6,14}$/, "must be an E.164 number");
const email = format(/^[^\s@]+@[^\s@]+\.[^\s@]+$/, "must be an e-mail address");
export const language = format(/^[A-Za-z]{2}$/, "must be a language code of two letters");
const oneOf =
  (...values: string[]): Rule =>
  (fields, name) =>
    fields.required(name) === undefined ? undefined : fields.oneOf(name, values);

/** A required object: what it may hold, each with its rule. */
function section(
  top: Checker,
  name: string,
  rules: Record<string, (fields: Checker, name: string) => unknown>,
): Checker {
  const given = top.object(name);
  if (given === undefined) top.fail(name, "Required", "is required");
  const fields = top.at(given, `${name}.`);
  fields.known(Object.keys(rules));
  for (const [member, rule] of Object.entries(rules)) rule(fields, member);
  return fields;
}

const certificate = (...otpTypes: string[]) => ({
  password: required,
  securityCode: required,
  type: oneOf("DISPOSABLE"),
  otpType: oneOf(...otpTypes),
});

/** What an enrollment needs of its input. */
export interface Person {
  intent: string;
  mobile?: string | undefined;
  email?: string | undefined;
}

export function checkHolder(top: Checker, hasEmailOtp: boolean): Person | undefined {
  top.known(["disposableHolder", "disposableDoc", "disposableCertificate", "disposableContacts"]);
  const holder = section(top, "disposableHolder", {
    firstName: required,
    lastName: required,
    identificationType: required,
    identificationCode: required,
    identificationCountry: country,
    birthDate: date,
    birthCity: required,
  });
  section(top, "disposableDoc", {
    documentType: required,
    documentNr: required,
    documentIssuer: required,
    documentIssuerDate: date,
    documentIssuerCountry: country,
    documentExpirationDate: date,
  });
  const chosen = section(top, "disposableCertificate", certificate("SMS", "EMAIL"));
  const otpType = chosen.text("otpType");
  if (otpType === "EMAIL" && !hasEmailOtp)
    chosen.fail("otpType", "NotEnabled", "EMAIL is not enabled for the LRA");
  const contacts = section(top, "disposableContacts", {
    mobile: (fields, name) => mobile(fields, name, otpType === "SMS"),
    email: (fields, name) => email(fields, name, otpType === "EMAIL"),
  });
  const intent = holder.required("identificationCode");
  if (top.errors.length > 0 || !intent) return undefined;
  return { intent, mobile: contacts.text("mobile"), email: contacts.text("email") };
}

export function checkAssertionInput(top: Checker) {
  top.known(["eidAssertionHolder", "contacts", "certificate"]);
  const holder = section(top, "eidAssertionHolder", {
    country,
    eIDType: required,
    assertion: required,
  });
  const contacts = section(top, "contacts", { mobile });
  section(top, "certificate", {
    fullData: (fields, name) => fields.requiredFlag(name),
    ...certificate("SMS"),
  });
  const eIDType = holder.required("eIDType");
  const assertion = holder.required("assertion");
  const number = contacts.required("mobile");
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
