// The checks of a notice, rule by rule (P2 §2.6, §6.2, §7.2, §8).
import type { Account } from "../../engine/accounts.js";
import { Checker, isObject } from "../../exchange/checker.js";
import { checkAccessControl, checkCallback } from "../evi/checks.js";
import { affidavitKinds, type AffidavitKind } from "./lifecycle.js";

/** P2 §2.6. */
export const filterValues = [
  "Processed",
  "Dispatched",
  "Sent",
  "Delivered",
  "Received",
  "Read",
  "Replied",
  "Failed",
  "Closed",
  "AffidavitPublished",
];

const DEFAULT_TIME_TO_LIVE = 7 * 24 * 60;

export type CheckedNotice = NonNullable<ReturnType<typeof checkNotice>["checked"]>;

const texts = ["RecipientDisplayName", "RecipientLegalName", "IssuerLegalName", "LookupKey"];
const known = [
  ...texts,
  "Subject",
  "Body",
  "RecipientAddress",
  "CertificationLevel",
  "TimeToLive",
  "EnforceTrackingUntilTimeToLive",
  "DeliverySignMethod",
  "CommitmentChoice",
  "EvidenceAccessControlMethod",
  "EvidenceAccessControlChallenge",
  "EvidenceAccessControlChallengeResponse",
  "PushNotificationUrl",
  "PushNotificationFilter",
  "PushNotificationExtraData",
  "AffidavitKinds",
  // Their shape is not shown: assumed.
  "Attachments",
];

export function checkNotice(body: Record<string, unknown>, account: Account, maxBytes: number) {
  const top = new Checker(body);
  top.known(known);
  for (const name of texts) top.text(name);
  const subject = top.required("Subject");
  const html = top.required("Body");
  const to = top.required("RecipientAddress");
  if (to !== undefined && !isAddress(to))
    top.fail("RecipientAddress", "InvalidAddress", "must be an e-mail address or an E.164 number");
  checkLevel(top, account);
  top.oneOf("DeliverySignMethod", ["WebClick", "Challenge", "MobilePin", "EmailPin"]);
  const commitment = top.oneOf("CommitmentChoice", commitments) ?? "Disabled";
  checkAccessControl(top);
  const kinds = checkKinds(top);
  const isTrackedToTheEnd = top.flag("EnforceTrackingUntilTimeToLive");
  if (kinds?.includes("ContentDownload") !== true && isTrackedToTheEnd)
    top.fail("EnforceTrackingUntilTimeToLive", "NotPaired", "needs the affidavit ContentDownload");
  if (kinds?.includes("ContentDownload") && !isTrackedToTheEnd)
    top.fail("AffidavitKinds", "NotPaired", "ContentDownload needs EnforceTrackingUntilTimeToLive");
  const timeToLiveMinutes = checkTimeToLive(top);
  const callback = checkCallback(top, filterValues);
  const attachments = checkAttachments(top, maxBytes);
  const { errors, unknown: unknownFields } = top;
  if (errors.length > 0 || !subject || !html || !to) return { errors, unknownFields };
  const checked = {
    subject,
    body: html,
    to,
    displayName: top.text("RecipientDisplayName"),
    lookupKeys: lookupKeysOf(top.text("LookupKey")),
    commitment,
    isRefusalAllowed: true,
    timeToLiveMinutes,
    isTrackedToTheEnd,
    affidavitKinds: kinds ?? (["Closed"] as const),
    callback,
    attachments,
  };
  return { errors, unknownFields, checked };
}

export const commitments = ["Disabled", "Accept", "Reject", "AcceptOrReject"] as const;

/** An e-mail address, or a mobile number in E.164 format. */
export function isAddress(text: string): boolean {
  return /^[^\s@;]+@[^\s@;]+\.[^\s@;]+$/.test(text) || /^\+[1-9]\d{6,14}$/.test(text);
}

/** Several keys are joined with `::`, as the postal API does (P2 §2.4). */
export function lookupKeysOf(joined: string | undefined): string[] {
  return joined === undefined || joined === "" ? [] : joined.split("::");
}

export function checkLevel(top: Checker, account: Account): void {
  const level = top.text("CertificationLevel");
  if (level === undefined) return;
  if (!/^(Standard|Advanced|QERDS)(_[A-Za-z0-9]+)?$/.test(level))
    top.fail("CertificationLevel", "InvalidValue", "is not a certification level");
  else if (account.certificationLevels?.includes(level) === false)
    top.fail("CertificationLevel", "NotAvailable", "is not available to the account");
}

export function checkTimeToLive(top: Checker): number {
  const minutes = top.whole("TimeToLive", 60) ?? DEFAULT_TIME_TO_LIVE;
  if (minutes > 86_400) top.fail("TimeToLive", "OutOfRange", "must be at most 86400");
  return minutes;
}

export function checkKinds(top: Checker): AffidavitKind[] | undefined {
  const kinds = top.list("AffidavitKinds");
  if (kinds?.some((kind) => !(affidavitKinds as readonly unknown[]).includes(kind)))
    top.fail("AffidavitKinds", "InvalidValue", `may hold ${affidavitKinds.join(", ")} only`);
  return kinds as AffidavitKind[] | undefined;
}

function checkAttachments(top: Checker, maxBytes: number) {
  return (top.list("Attachments") ?? []).flatMap((entry, index) => {
    if (!isObject(entry)) {
      top.fail(`Attachments[${index}]`, "InvalidType", "must be an object");
      return [];
    }
    const one = top.at(entry, `Attachments[${index}].`);
    one.known(attachmentNames);
    const fileName = one.required("Filename") ?? "";
    const content = one.required("Content") ?? "";
    if (!/^[A-Za-z0-9+/]*={0,2}$/.test(content))
      one.fail("Content", "InvalidBase64", "must be base64");
    const bytes = Buffer.from(content, "base64");
    if (bytes.length > maxBytes)
      one.fail("Content", "AttachmentTooLarge", `must be at most ${maxBytes} bytes`);
    return [
      {
        fileName,
        bytes,
        mimeType: one.text("MimeType") ?? "application/octet-stream",
        displayName: one.text("DisplayName"),
        contentId: one.text("ContentId"),
        contentEncoding: one.text("ContentEncoding"),
        isOnAffidavits: one.flag("IncludeOnAffidavits"),
      },
    ];
  });
}

/** P2 §2.10. */
export const attachmentNames = [
  "Content",
  "DisplayName",
  "Filename",
  "ContentId",
  "MimeType",
  "ContentDescription",
  "ContentDisposition",
  "ContentLocation",
  "ContentEncoding",
  "IncludeOnAffidavits",
];
