// The checks of the enrollment input of `checkData` and `enroll`, rule by rule (P1 §2.1). Which members are mandatory is
// not shown: all that carry no condition are.
import type { Checker } from "../../exchange/checker.js";
import { allowed, country, date, email, formatted, mobile, section } from "./formats.js";

/** What an enrollment needs of its input. */
export interface Person {
  intent: string;
  otpType: "SMS" | "EMAIL";
  mobile?: string | undefined;
  email?: string | undefined;
}

export function checkHolder(top: Checker, hasEmailOtp: boolean): Person | undefined {
  top.known(["disposableHolder", "disposableDoc", "disposableCertificate", "disposableContacts"]);
  const holder = section(top, "disposableHolder", [
    "firstName",
    "lastName",
    "identificationType",
    "identificationCode",
    "identificationCountry",
    "birthDate",
    "birthCity",
  ]);
  holder.required("firstName");
  holder.required("lastName");
  holder.required("identificationType");
  const intent = holder.required("identificationCode");
  formatted(holder, "identificationCountry", country);
  formatted(holder, "birthDate", date);
  holder.required("birthCity");
  checkDocument(top);
  const certificate = section(top, "disposableCertificate", [
    "password",
    "securityCode",
    "type",
    "otpType",
  ]);
  const otpType = checkCertificate(certificate, ["SMS", "EMAIL"]);
  if (otpType === "EMAIL" && !hasEmailOtp) {
    certificate.fail("otpType", "NotEnabled", "EMAIL is not enabled for the LRA");
  }
  const contacts = section(top, "disposableContacts", ["mobile", "email"]);
  const contact = {
    mobile: formatted(contacts, "mobile", mobile, otpType === "SMS"),
    email: formatted(contacts, "email", email, otpType === "EMAIL"),
  };
  if (top.errors.length > 0 || !intent || !otpType) return undefined;
  return { intent, otpType, ...contact };
}

function checkDocument(top: Checker): void {
  const document = section(top, "disposableDoc", [
    "documentType",
    "documentNr",
    "documentIssuer",
    "documentIssuerDate",
    "documentIssuerCountry",
    "documentExpirationDate",
  ]);
  document.required("documentType");
  document.required("documentNr");
  document.required("documentIssuer");
  formatted(document, "documentIssuerDate", date);
  formatted(document, "documentIssuerCountry", country);
  formatted(document, "documentExpirationDate", date);
}

/** The members that the certificate of both inputs has. */
export function checkCertificate<T extends string>(
  certificate: Checker,
  otpTypes: readonly T[],
): T | undefined {
  certificate.required("password");
  certificate.required("securityCode");
  allowed(certificate, "type", ["DISPOSABLE"]);
  return allowed(certificate, "otpType", otpTypes);
}
