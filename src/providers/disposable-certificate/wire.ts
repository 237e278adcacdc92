// The disposable certificate service as it travels (P1 §2.1–2.6, §4.1, §7.1). Its names are camelCase already. Requests
// carry the members named here alone; answers are read loosely, so that no certificate is lost over a member we do not use.
import { z } from "zod";

/** P1 §4.1; all of them are POST, and `{lraId}` is filled in. */
export const paths = {
  checkData: "/api/certificate/{lraId}/checkData",
  checkDataWitheIDAssertion: "/api/certificate/{lraId}/checkDataWitheIDAssertion",
  enroll: "/api/certificate/{lraId}/enroll",
  enrollDisposableWitheIDAssertion: "/api/certificate/{lraId}/enrollDisposableWitheIDAssertion",
  sendOtp: "/api/certificate/sendOtp",
  validate: "/api/certificate/validate",
} as const;

/** P1 §2.1. */
export const enrolmentFields = {
  disposableHolder: [
    "firstName",
    "lastName",
    "identificationType",
    "identificationCode",
    "identificationCountry",
    "birthDate",
    "birthCity",
  ],
  disposableDoc: [
    "documentType",
    "documentNr",
    "documentIssuer",
    "documentIssuerDate",
    "documentIssuerCountry",
    "documentExpirationDate",
  ],
  disposableCertificate: ["password", "securityCode", "type", "otpType"],
  disposableContacts: ["mobile", "email"],
} as const;

/** P1 §2.2. */
export const eidEnrolmentFields = {
  eidAssertionHolder: ["country", "eIDType", "assertion"],
  contacts: ["mobile"],
  certificate: ["fullData", "otpType", "password", "securityCode", "type"],
} as const;

/** Which of them are mandatory is not shown. */
type Given<Fields extends Record<string, readonly string[]>> = {
  [Member in keyof Fields]?:
    | { [Field in Fields[Member][number]]?: FieldValue<Field> | undefined }
    | undefined;
};
type FieldValue<Field> = Field extends "fullData" ? boolean : string;

export type Enrolment = Given<typeof enrolmentFields>;
export type EidEnrolment = Given<typeof eidEnrolmentFields>;

/** P1 §2.3: by SMS with a text that holds `$OTP$` or with a template, or by e-mail with a template. */
export interface OtpMessage {
  smsOptions?:
    | {
        textSMS?: string | undefined;
        templateId?: string | undefined;
        language?: string | undefined;
      }
    | undefined;
  emailOptions?: { templateId?: string | undefined; language?: string | undefined } | undefined;
}

/** The members that the specification names, where they are given. */
export function specifiedMembers(
  fields: Record<string, readonly string[]>,
  given: Record<string, object | undefined>,
): Record<string, object> {
  const members: Record<string, object> = {};
  for (const [member, names] of Object.entries(fields)) {
    const values = given[member];
    if (!values) continue;
    const specified = Object.entries(values).filter(([name]) => names.includes(name));
    members[member] = Object.fromEntries(specified);
  }
  return members;
}

/** P1 §2.5. `otpId` is assumed. */
export const IssuedAnswer = z.object({
  certIdOtp: z.int(),
  deviceCode: z.string().min(1),
  otpId: z
    .union([z.string().min(1), z.number().transform(String)])
    .optional()
    .catch(undefined),
});

/** P1 §2.6. */
export const ErrorAnswer = z.looseObject({
  code: z.int(),
  message: z.string().optional().catch(undefined),
});

/** P1 §4.1: the body of the 200 of `checkData` and `validate` is not shown; the error object says no, whatever the status. */
export const OpenAnswer = z
  .unknown()
  .refine((body) => !ErrorAnswer.safeParse(body).data?.code, "is an error object");
