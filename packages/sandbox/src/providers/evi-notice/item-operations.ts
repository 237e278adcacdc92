// Get, query, downloads and on-demand affidavits of a notice (P2 §4.2).
import { zipSync } from "fflate";
import type { IdempotencyTokens } from "../../engine/idempotency.js";
import { bytesAnswer, emptyAnswer, jsonAnswer, type Answer } from "../../exchange/answer.js";
import { fieldsOf } from "../../exchange/checker.js";
import type { Arrival, Call, Operation } from "../../exchange/operation.js";
import { isVisible } from "../../engine/visibility.js";
import { describeItem, newestAffidavits, UUID } from "../evi/item.js";
import type { Refuser } from "../evi/refuser.js";
import { noticePdf, type NoticeItem, type NoticeService } from "./notice-service.js";
import { getNotice, noticeOfPath, queryNotices } from "./query.js";

const ON_DEMAND_LIMIT = 3;

type Files = Record<string, Uint8Array>;

export function itemOperations(
  service: NoticeService,
  tokens: IdempotencyTokens,
  refuser: Refuser,
): Operation[] {
  const { items, parts } = service;
  const { refuse, badField } = refuser;
  const onPath = (name: string, path: string, perform: Operation["perform"]): Operation => ({
    name,
    route: `GET /v2/EviNotice/${path}`,
    describe: ({ params }) => describeItem(items.get(params["Id"])),
    perform,
  });
  const lookupKeys = ({ body }: Arrival): string[] => {
    const keys = fieldsOf(body)["LookupKeys"];
    return Array.isArray(keys) ? keys.map(String) : [];
  };

  const query: Operation = {
    name: "query",
    route: "POST /v2/EviNotice/Query",
    describe(arrival) {
      const keys = lookupKeys(arrival);
      const item = items.withLookupKey(keys[0] ?? "")[0];
      // The notices of a batch are also known by its intent.
      const ofBatch = item?.batchId !== undefined && item.intent !== null ? [item.intent] : [];
      return { ...describeItem(item), lookupKeys: [...keys, ...ofBatch] };
    },
    perform(call) {
      for (const key of lookupKeys(call)) tokens.lookedUp(key);
      return queryNotices(call, service, refuser);
    },
  };

  /** The files of the path's notice. */
  const download = (filesOf: (item: NoticeItem) => Files) => (call: Call) => {
    const item = noticeOfPath(call, service);
    if (!item) return refuse(404, "NotFound", "no notice with that id");
    const files = filesOf(item);
    if (Object.keys(files).length === 0) return emptyAnswer(204);
    return bytesAnswer("application/zip", Buffer.from(zipSync(files, { level: 0 })));
  };

  function attachments(item: NoticeItem): Files {
    const files: Files = {};
    for (const [index, { fileName, sha256 }] of item.attachments.entries()) {
      const name = fileName in files ? `${index + 1}-${fileName}` : fileName;
      files[name] = parts.documents.get(sha256);
    }
    return files;
  }

  const affidavits = (item: NoticeItem): Files =>
    Object.fromEntries(
      newestAffidavits(item).map((entry) => [`${entry.id}.pdf`, noticePdf(item, entry)]),
    );

  function affidavit({ params, account }: Call): Answer {
    const found = items.affidavit(params["Id"] ?? "");
    if (!found || found.item.site !== account.site.name)
      return refuse(404, "NotFound", "no affidavit with that id");
    return bytesAnswer("application/pdf", noticePdf(found.item, found.affidavit));
  }

  function requestAffidavit({ body, account, at }: Call): Answer {
    const fields = fieldsOf(body);
    const id = fields["Id"] ?? "";
    if (typeof id !== "string" || !UUID.test(id))
      return badField("Id", id === "" ? "Required" : "InvalidUuid", "must be a UUID");
    for (const name of ["IncludeBody", "IncludeAttachments", "IncludeEvents"])
      if (typeof (fields[name] ?? false) !== "boolean")
        return badField(name, "InvalidType", "must be a boolean");
    const item = items.get(id);
    if (!item || item.site !== account.site.name || !isVisible(item))
      return refuse(404, "NotFound", "no notice with that id");
    if (!item.affidavitKinds.includes("OnDemand"))
      return refuse(405, "NotRequested", "OnDemand was not requested at submission");
    if (item.state === "Draft" || item.state === "Closed")
      return refuse(405, "NotEligible", `the notice is ${item.state}`);
    if (
      fields["IncludeAttachments"] === true &&
      !item.attachments.some((one) => one.isOnAffidavits)
    )
      return badField("IncludeAttachments", "NotIncluded", "none has IncludeOnAffidavits");
    if (item.onDemandRequests >= (account.onDemandLimit ?? ON_DEMAND_LIMIT))
      return refuse(403, "LimitReached", "the limit of on-demand affidavits is reached");
    item.onDemandRequests += 1;
    return jsonAnswer(200, { RequestId: service.requestAffidavit(item, account, at) });
  }

  return [
    query,
    onPath("get", ":Id", (call) => getNotice(call, service, refuser)),
    onPath("attachments", ":Id/Attachments", download(attachments)),
    onPath("affidavits", ":Id/Affidavits", download(affidavits)),
    {
      name: "affidavit",
      route: "GET /v2/EviNotice/Affidavits/:Id",
      describe: ({ params }) => describeItem(items.affidavit(params["Id"] ?? "")?.item),
      perform: affidavit,
    },
    {
      name: "affidavitRequest",
      route: "POST /v2/EviNotice/Affidavits/Request",
      describe: ({ body }) => describeItem(items.get(fieldsOf(body)["Id"])),
      perform: requestAffidavit,
    },
  ];
}
