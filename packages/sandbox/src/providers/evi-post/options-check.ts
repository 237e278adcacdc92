// The checks of `Options`, rule by rule (P2 §2.3–2.4).
import type { Account } from "../../engine/accounts.js";
import type { Checker } from "../../exchange/checker.js";
import { checkAccessControl } from "../evi/access-check.js";

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
export const filterValues = [
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

export function checkService(options: Checker): ServiceType {
  options.known(optionNames);
  for (const name of optionTexts) options.text(name);
  return options.oneOf("PostServiceType", serviceTypes) ?? "Registered";
}

export function checkLetterOptions(options: Checker, service: ServiceType, account: Account) {
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
  return { hasTracking, ...(days !== undefined && { disposalDays: days }) };
}

export function checkCertification(options: Checker, account: Account) {
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

export function checkCustody(options: Checker): void {
  options.whole("OnlineRetentionPeriod", 1);
  const years = options.whole("NotaryRetentionPeriod", 0) ?? 0;
  if (years > 0)
    options.required("NotaryProfile", "is required when NotaryRetentionPeriod is above 0");
  checkAccessControl(options);
}

/** P2 §2.4. */
export function checkCustomFields(
  options: Checker,
): { Key: string; Value: string; IsLookupKey: boolean }[] {
  return (options.list("CustomFields") ?? []).map((entry, index) => {
    const field = options.at(entry, `CustomFields[${index}].`);
    field.known(["Key", "Label", "Value", "IsLookupKey"]);
    const [Key = "", , Value = ""] = ["Key", "Label", "Value"].map((name) => field.required(name));
    return { Key, Value, IsLookupKey: field.flag("IsLookupKey") };
  });
}
