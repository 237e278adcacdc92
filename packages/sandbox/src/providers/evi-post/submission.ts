// The checks of a postal submission, rule by rule (P2 §2.1–2.4, §7.1, §8).
import type { Account } from "../../engine/accounts.js";
import { Checker } from "../../exchange/checker.js";
import { checkAccessControl, checkCallback } from "../evi/checks.js";

const serviceTypes = ["Registered", "Letter", "LetterLite"] as const;

export type ServiceType = (typeof serviceTypes)[number];

const affidavitProfiles = [
  "None",
  "Basic",
  "AdvancedContentOnSubmit",
  "AdvancedContentOnClose",
  "AdvancedContentOnSubmitAndOnClose",
] as const;

export type AffidavitProfile = (typeof affidavitProfiles)[number];

/** P2 §6.2. */
const filterValues = [
  "Processed",
  "Dispatched",
  "Sent",
  "Delivered",
  "Closed",
  "Cancelled",
  "Issued",
  "Disposed",
  "AffidavitPublished",
] as const;

const letterOnly = [
  "EnableDeliveryReceipt",
  "EnableDeliveryAttempts",
  "DeliveryAttemptsNumber",
  "DisposalDaysAmmount",
];
const optionTexts = [
  "PostServiceProfile",
  "NotaryProfile",
  "CostCentre",
  "Language",
  "PushNotificationExtraData",
];
const optionNames = [
  ...optionTexts,
  ...letterOnly,
  "PostServiceType",
  "CertificationLevel",
  "AffidavitProfile",
  "AffidavitsOnDemandEnabled",
  "OnlineRetentionPeriod",
  "NotaryRetentionPeriod",
  "EvidenceAccessControlMethod",
  "EvidenceAccessControlChallenge",
  "EvidenceAccessControlChallengeResponse",
  "CustomFields",
  "PushNotificationUrl",
  "PushNotificationFilter",
];

/** The data that the sandbox uses after the checks. */
export type CheckedSubmission = NonNullable<ReturnType<typeof checkSubmission>["checked"]>;

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
) {
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
  const text = (name: string) => top.text(name) || undefined;
  const lookupKey = text("LookupKey");
  const checked = {
    document,
    service,
    ...affidavits,
    ...letter,
    recipient: text("RecipientName") ?? text("RecipientLegalName") ?? address.StreetAddress,
    sender: text("IssuerName") ?? text("IssuerLegalName") ?? account.site.name,
    address,
    intent: lookupKey ?? null,
    lookupKeys: [...(lookupKey === undefined ? [] : [lookupKey]), ...custom],
    recipientName: text("RecipientName"),
    costCentre: options.text("CostCentre"),
    callback,
  };
  return { errors, unknownFields, checked };
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

export interface PostalAddress {
  StreetAddress: string;
  PostalCode: string;
  Locality: string;
  Region?: string;
  Country: string;
}

const addressNames = [
  "StreetAddress",
  "PostalCode",
  "Locality",
  "Region",
  "Country",
  "PostOfficeBoxAddress",
];
/** Balearic Islands, Las Palmas, Tenerife, Ceuta, Melilla: assumed to be what "mainland Spain" leaves out (P2 §2.3). */
const offMainland = ["07", "35", "38", "51", "52"];

/** P2 §2.2, and §8: destinations within Spain. */
function checkAddresses(
  top: Checker,
  body: Record<string, unknown>,
  account: Account,
  service: ServiceType,
): PostalAddress | undefined {
  const recipient = body["RecipientAddress"] ?? undefined;
  if (recipient === undefined) top.fail("RecipientAddress", "Required", "is required");
  const to = top.object("RecipientAddress") && checkAddress(top.at(recipient, "RecipientAddress."));
  const issuer = top.object("IssuerAddress");
  const from = issuer && checkAddress(top.at(issuer, "IssuerAddress."));
  if (to?.Country && to.Country !== "ES") {
    top.fail(
      "RecipientAddress.Country",
      "NotServed",
      "physical delivery is available within Spain only",
    );
  }
  if (service === "Registered") {
    if (to && !to.Region)
      top.fail("RecipientAddress.Region", "Required", "is required for Registered");
    if (!from?.Region && !account.site.region) {
      top.fail(
        "IssuerAddress.Region",
        "Required",
        "is required for Registered: the site address has none",
      );
    }
  }
  if (service === "LetterLite" && offMainland.includes((to?.PostalCode ?? "").slice(0, 2))) {
    top.fail("RecipientAddress.PostalCode", "NotServed", "LetterLite goes to mainland Spain only");
  }
  return to as PostalAddress | undefined;
}

function checkAddress(address: Checker): Partial<PostalAddress> {
  address.known(addressNames);
  address.text("PostOfficeBoxAddress");
  const Region = address.text("Region")?.trim();
  const country = address.required("Country");
  if (country !== undefined && !/^[A-Z]{2}$/.test(country)) {
    address.fail("Country", "InvalidCountry", "must be an ISO 3166-1 alpha-2 code");
  }
  const checked = {
    StreetAddress: address.required("StreetAddress"),
    PostalCode: address.required("PostalCode"),
    Locality: address.required("Locality"),
    Country: country,
    Region: Region === "" ? undefined : Region,
  };
  return Object.fromEntries(Object.entries(checked).filter(([, value]) => value !== undefined));
}

function checkService(options: Checker): ServiceType {
  options.known(optionNames);
  for (const name of optionTexts) options.text(name);
  return options.oneOf("PostServiceType", serviceTypes) ?? "Registered";
}

function checkLetterOptions(options: Checker, service: ServiceType, account: Account) {
  const flags = {
    EnableDeliveryReceipt: options.flag("EnableDeliveryReceipt"),
    EnableDeliveryAttempts: options.flag("EnableDeliveryAttempts"),
    DeliveryAttemptsNumber: options.whole("DeliveryAttemptsNumber", 1),
    DisposalDaysAmmount: options.whole("DisposalDaysAmmount", 1),
  };
  if (service === "Letter") {
    const profile = options.required("PostServiceProfile", "is required for Letter");
    if (profile !== undefined && account.postServiceProfiles?.includes(profile) === false) {
      options.fail("PostServiceProfile", "NotProvisioned", "is not provisioned for the account");
    }
  } else {
    for (const [name, value] of Object.entries(flags)) {
      if (value) options.fail(name, "LetterOnly", `is for Letter only, not for ${service}`);
    }
  }
  const { DisposalDaysAmmount: days } = flags;
  const hasTracking = flags.EnableDeliveryReceipt || flags.EnableDeliveryAttempts;
  return { hasTracking, disposalDays: days };
}

function checkCertification(options: Checker, account: Account) {
  const given = options.text("CertificationLevel");
  if (given !== undefined) {
    const isKnown = /^(Standard|Advanced)(_[A-Z]{2})?$/.test(given);
    const isAvailable = account.certificationLevels?.includes(given) !== false;
    if (given.startsWith("QERDS"))
      options.fail("CertificationLevel", "NotSupported", "QERDS levels are not supported");
    else if (!isKnown)
      options.fail("CertificationLevel", "InvalidValue", "is not a certification level");
    else if (!isAvailable)
      options.fail("CertificationLevel", "NotAvailable", "is not available to the account");
  }
  const isAdvanced = (given ?? account.certificationLevel).startsWith("Advanced");
  const named = options.oneOf("AffidavitProfile", affidavitProfiles);
  const profile: AffidavitProfile = named ?? (isAdvanced ? "AdvancedContentOnSubmit" : "Basic");
  // "Must agree" (P2 §2.3) is read as: no advanced content on a standard level, no `Basic` on an advanced one.
  if (given !== undefined && named !== undefined) {
    const disagrees = isAdvanced ? named === "Basic" : named.startsWith("Advanced");
    if (disagrees) options.fail("AffidavitProfile", "Disagrees", `does not agree with ${given}`);
  }
  const isOnDemandEnabled = options.flag("AffidavitsOnDemandEnabled");
  if (isOnDemandEnabled && !profile.startsWith("Advanced")) {
    options.fail(
      "AffidavitsOnDemandEnabled",
      "NeedsAdvancedProfile",
      "needs an advanced content profile",
    );
  }
  return { profile, isOnDemandEnabled };
}

function checkCustody(options: Checker): void {
  options.whole("OnlineRetentionPeriod", 1);
  const years = options.whole("NotaryRetentionPeriod", 0) ?? 0;
  if (years > 0)
    options.required("NotaryProfile", "is required when NotaryRetentionPeriod is above 0");
  checkAccessControl(options);
}

/** Returns the values that are lookup keys (P2 §2.4). */
function checkCustomFields(options: Checker): string[] {
  return (options.list("CustomFields") ?? []).flatMap((entry, index) => {
    const field = options.at(entry, `CustomFields[${index}].`);
    field.known(["Key", "Label", "Value", "IsLookupKey"]);
    const [, , value = ""] = ["Key", "Label", "Value"].map((name) => field.required(name));
    return field.flag("IsLookupKey") ? [value] : [];
  });
}
