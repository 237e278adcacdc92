// The checks of what PATCH sets (P2 §2.8, §6.1, §8).
import type { Account } from "../../engine/accounts.js";
import { Checker } from "../../exchange/checker.js";
import { checkCallback } from "../evi/checks.js";
import type { AffidavitKind } from "./lifecycle.js";
import {
  checkKinds,
  checkLevel,
  checkTimeToLive,
  commitments,
  filterValues,
} from "./submission.js";

const texts = [
  "IssuerName",
  "Subject",
  "Description",
  "From",
  "ReplyTo",
  "CostCentre",
  "Language",
  "AffidavitLanguage",
  "OwnerNotificationTemplate",
  "Channel",
];
const flags = [
  "DisableSenderHeader",
  "LtaStorage",
  "CommitmentCommentsAllowed",
  "RequireRejectReason",
  "RequireAcceptReason",
  "AllowRefusal",
];
const lists = ["RejectReasons", "AcceptReasons"];
const known = [
  ...texts,
  ...flags,
  ...lists,
  "ScheduledDate",
  "State",
  "TimeToLive",
  "CertificationLevel",
  "AffidavitKinds",
  "OnlineRetentionPeriod",
  "PushNotificationUrl",
  "BatchPushNotificationUrl",
  "PushNotificationFilter",
  "PushNotificationExtraData",
  "CommitmentOptions",
  "DeliveryAppearance",
];

export function checkSettings(body: Record<string, unknown>, account: Account): Checker {
  const top = new Checker(body);
  top.known(known);
  for (const name of texts) top.text(name);
  for (const name of flags) top.flag(name);
  for (const name of lists) top.list(name);
  const description = top.text("Description");
  if (description !== undefined && description.length > 255)
    top.fail("Description", "TooLong", "must have at most 255 characters");
  checkTimeToLive(top);
  checkLevel(top, account);
  if (checkKinds(top)?.includes("ContentDownload"))
    top.fail("AffidavitKinds", "NotPaired", "a batch has no EnforceTrackingUntilTimeToLive");
  top.whole("OnlineRetentionPeriod", 1);
  top.oneOf("CommitmentOptions", commitments);
  checkCallback(top, filterValues);
  const alias = top.text("BatchPushNotificationUrl");
  if (alias !== undefined && !/^https?:\/\//i.test(alias))
    top.fail("BatchPushNotificationUrl", "InvalidUrl", "must be an http or https URL");
  const date = top.text("ScheduledDate");
  if (date !== undefined && Number.isNaN(Date.parse(utc(date))))
    top.fail("ScheduledDate", "InvalidDate", "must be an ISO 8601 date");
  const state = top.text("State");
  if (state !== undefined && state !== "Submitted")
    top.fail("State", "InvalidValue", "may be set to Submitted only");
  return top;
}

/** Batch scheduling uses UTC (P2 §4.3). */
export function utc(date: string): string {
  return /(Z|[+-]\d{2}:?\d{2})$/i.test(date) ? date : `${date}Z`;
}

/** The template of the notices that come of the settings. */
export function templateOf(settings: Record<string, unknown>) {
  const given = new Checker(settings);
  // P2 §6.1: the two are aliases.
  const url = given.text("PushNotificationUrl") ?? given.text("BatchPushNotificationUrl");
  const callback = checkCallback(
    new Checker({ ...settings, PushNotificationUrl: url }),
    filterValues,
  );
  return {
    subject: given.text("Subject"),
    callback,
    commitment: given.text("CommitmentOptions") ?? "Disabled",
    isRefusalAllowed: given.flag("AllowRefusal"),
    timeToLiveMinutes: checkTimeToLive(given),
    isTrackedToTheEnd: false,
    affidavitKinds: (settings["AffidavitKinds"] ?? ["Closed"]) as AffidavitKind[],
  };
}
