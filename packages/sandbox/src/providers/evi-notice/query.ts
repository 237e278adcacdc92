// Get and query of notices (P2 §2.7, §4.2, §8).
import type { SandboxParts } from "../../engine/parts.js";
import { isVisible } from "../../engine/visibility.js";
import { jsonAnswer, type Answer } from "../../exchange/answer.js";
import { Checker, isObject } from "../../exchange/checker.js";
import type { Call } from "../../exchange/operation.js";
import { joinedLookupKey, newestAffidavits, UUID } from "../evi/item.js";
import type { Refuser } from "../evi/refuser.js";
import type { NoticeAttachment, NoticeItem, NoticeService } from "./notice-service.js";

/** A cursor is the place of the next result; it is opaque to callers. */
export function cursorOf(place: number): string {
  return Buffer.from(`at ${place}`).toString("base64url");
}

/** Undefined for what is no cursor of ours. */
export function placeOf(cursor: unknown): number | undefined {
  if (cursor === undefined || cursor === null || cursor === "") return 0;
  if (typeof cursor !== "string") return undefined;
  const place = /^at (\d{1,12})$/.exec(Buffer.from(cursor, "base64url").toString())?.[1];
  return place === undefined ? undefined : Number(place);
}

export function queryNotices(
  call: Call,
  { items, parts }: NoticeService,
  { badRequest, badField, refuse }: Refuser,
): Answer {
  const { body = {}, account } = call;
  if (!isObject(body)) return refuse(400, "InvalidRequest", "the body must be a JSON object");
  const top = new Checker(body);
  const limit = top.whole("Limit", 1) ?? 100;
  if (limit > 100) top.fail("Limit", "OutOfRange", "must be at most 100");
  const [owner, state, outcome, linkedId] = ["Owner", "State", "Outcome", "LinkedId"].map((name) =>
    top.text(name),
  );
  const keys = top.list("LookupKeys");
  if (top.errors.length > 0) return badRequest(top.errors);
  const start = placeOf(body["Cursor"]);
  if (start === undefined) return badField("Cursor", "InvalidValue", "is no cursor of a response");
  const all = keys
    ? [...new Set(keys.flatMap((key) => items.withLookupKey(String(key))))]
    : items.save();
  const isWanted = (item: NoticeItem) =>
    item.site === account.site.name &&
    (!state || item.state === state) &&
    (!outcome || item.outcome === outcome) &&
    (!linkedId || item.batchId === linkedId) &&
    (!owner || parts.accounts.get(item.account)?.ownerEmail === owner);
  const found: NoticeItem[] = [];
  let next = start;
  for (; next < all.length && found.length < limit; next += 1) {
    const item = all[next]!;
    if (isWanted(item) && isVisible(item)) found.push(item);
  }
  return jsonAnswer(200, {
    Cursor: next < all.length ? cursorOf(next) : null,
    Results: found.map((item) => shown(item, parts)),
  });
}

/** The visible notice of the path's id. */
export function noticeOfPath(
  { params, account }: Pick<Call, "params" | "account">,
  { items }: NoticeService,
): NoticeItem | undefined {
  const item = items.get(params["Id"]);
  return item && item.site === account.site.name && isVisible(item) ? item : undefined;
}

export function getNotice(
  call: Call,
  service: NoticeService,
  { refuse, badField }: Refuser,
): Answer {
  if (!UUID.test(call.params["Id"] ?? "")) return badField("Id", "InvalidUuid", "must be a UUID");
  const item = noticeOfPath(call, service);
  if (!item) return refuse(404, "NotFound", "no notice with that id");
  const isSet = (name: string) => call.query[name]?.toLowerCase() === "true";
  return jsonAnswer(200, {
    ...shown(item, service.parts),
    SiteName: item.site,
    XmissionResult: item.state === "Failed" ? "Failed" : "Accepted",
    XmissionSummary: "handled by the sandbox",
    CustomLayoutLogoUrl: null,
    ...(isSet("IncludeAffidavits") && {
      Affidavits: newestAffidavits(item).map(({ id, at, description, kind }) => ({
        Id: id,
        Date: dateOf(at, service.parts),
        Description: description,
        Kind: kind,
      })),
    }),
    ...(isSet("IncludeAttachments") && { Attachments: item.attachments.map(shownAttachment) }),
  });
}

/** P2 §2.10. */
export function shownAttachment(attachment: NoticeAttachment): Record<string, unknown> {
  const { id, displayName, fileName, mimeType, size, contentEncoding, contentId } = attachment;
  return {
    Id: id,
    DisplayName: displayName ?? fileName,
    FileName: fileName,
    MimeType: mimeType,
    Size: size,
    ContentEncoding: contentEncoding ?? null,
    ContentId: contentId ?? null,
  };
}

/** The summary; its members beyond those of P2 §2.7 are assumed. */
function shown(item: NoticeItem, parts: SandboxParts): Record<string, unknown> {
  const lookupKey = joinedLookupKey(item);
  return {
    Id: item.id,
    State: item.state,
    Outcome: item.outcome,
    LookupKey: lookupKey === "" ? null : lookupKey,
    Subject: item.subject,
    RecipientAddress: item.to,
    CreationDate: dateOf(item.createdAt, parts),
    LastStateChangeDate: dateOf(item.stateAt, parts),
    ...(item.refusedAt !== undefined && { RefusedOn: dateOf(item.refusedAt, parts) }),
  };
}

export function dateOf(at: number, { options }: SandboxParts): string {
  const text = new Date(at).toISOString();
  return options.dates === "noOffset" ? text.slice(0, -1) : text;
}
