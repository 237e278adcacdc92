// The checks of a postal submission, rule by rule (P2 §2.1–2.4, §7.1, §8).
import type { Account } from "../../engine/accounts.js";
import { checkCallback, type CallbackSettings } from "../evi/callback-check.js";
import { checkAddresses, type PostalAddress } from "./address-check.js";
import { Checker, type FieldError } from "../../exchange/checker.js";
import {
  checkCertification,
  checkCustody,
  checkCustomFields,
  checkLetterOptions,
  checkService,
  filterValues,
  type AffidavitProfile,
  type ServiceType,
} from "./options-check.js";

/** The data that the sandbox uses after the checks. */
export interface CheckedSubmission {
  document: Buffer;
  service: ServiceType;
  profile: AffidavitProfile;
  isOnDemandEnabled: boolean;
  hasTracking: boolean;
  disposalDays?: number;
  recipientName?: string;
  recipient: string;
  sender: string;
  address: PostalAddress;
  lookupKey?: string;
  customLookupKeys: string[];
  customFields: { Key: string; Value: string }[];
  costCentre?: string;
  callback?: CallbackSettings;
}

export interface CheckResult {
  errors: FieldError[];
  unknownFields: string[];
  submission?: CheckedSubmission;
}

const bodyTexts = [
  "RecipientName",
  "RecipientLegalName",
  "RecipientPhone",
  "RecipientEmail",
  "IssuerName",
  "IssuerLegalName",
  "IssuerPhone",
  "IssuerEmail",
  "IssuerComments",
  "LookupKey",
];

export function checkSubmission(
  body: Record<string, unknown>,
  account: Account,
  maxDocumentBytes: number,
): CheckResult {
  const top = new Checker(body);
  top.known(["Document", "RecipientAddress", "IssuerAddress", "Options", ...bodyTexts]);
  for (const name of bodyTexts) top.text(name);
  const document = checkDocument(top, maxDocumentBytes);
  const options = top.at(top.object("Options"), "Options.");
  const service = checkService(options);
  const address = checkAddresses(top, body, account, service);
  const letter = checkLetterOptions(options, service, account);
  const affidavits = checkCertification(options, account);
  checkCustody(options);
  const custom = checkCustomFields(options);
  const callback = checkCallback(options, filterValues);
  const { errors, unknown: unknownFields } = top;
  if (errors.length > 0 || !document || !address) return { errors, unknownFields };
  const text = (name: string) =>
    typeof body[name] === "string" && body[name] !== "" ? body[name] : undefined;
  const submission: CheckedSubmission = {
    document,
    service,
    ...affidavits,
    ...letter,
    recipient: text("RecipientName") ?? text("RecipientLegalName") ?? address.StreetAddress,
    sender: text("IssuerName") ?? text("IssuerLegalName") ?? account.site.name,
    address,
    customLookupKeys: custom.filter((field) => field.IsLookupKey).map((field) => field.Value),
    customFields: custom,
  };
  const optional = {
    recipientName: text("RecipientName"),
    lookupKey: text("LookupKey"),
    costCentre: options.text("CostCentre"),
    callback,
  };
  for (const [name, value] of Object.entries(optional)) {
    if (value !== undefined) Object.assign(submission, { [name]: value });
  }
  return { errors, unknownFields, submission };
}

function checkDocument(top: Checker, maxBytes: number): Buffer | undefined {
  const text = top.required("Document");
  if (text === undefined) return undefined;
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) {
    return top.fail("Document", "InvalidBase64", "must be base64");
  }
  const bytes = Buffer.from(text, "base64");
  if (bytes.subarray(0, 5).toString("latin1") !== "%PDF-")
    return top.fail("Document", "NotPdf", "must be a PDF");
  if (bytes.length > maxBytes)
    return top.fail("Document", "DocumentTooLarge", `must be at most ${maxBytes} bytes`);
  return bytes;
}
