// Cancel, on-demand affidavit and affidavit download (P2 §4.1). The download's path and parameter are assumed: not shown.
import { zipSync } from "fflate";
import { bytesAnswer, jsonAnswer, type Answer } from "../../exchange/answer.js";
import type { Arrival, Call, Operation } from "../../exchange/operation.js";
import { isVisible } from "../../engine/visibility.js";
import { describeItem, UUID } from "../evi/item.js";
import { fieldsOf } from "../../exchange/checker.js";
import { postalPdf, type PostalService, type PostItem } from "./postal-service.js";
import { badField, refusal } from "./refusal.js";

export const splitList = (text: string | undefined): string[] =>
  (text ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");

export function itemOperations(postal: PostalService): Operation[] {
  const { items } = postal;
  const describeTarget = ({ body }: Arrival) => describeItem(items.get(fieldsOf(body)["UniqueId"]));

  /** The visible item of the body's id, if there is one. */
  function target(call: Call): { problem: Answer } | { item: PostItem | undefined } {
    const id = fieldsOf(call.body)["UniqueId"] ?? "";
    if (id === "") return { problem: badField("UniqueId", "Required", "is required") };
    if (typeof id !== "string" || !UUID.test(id)) {
      return { problem: badField("UniqueId", "InvalidUuid", "must be a UUID") };
    }
    const item = items.get(id);
    return { item: item && !item.hiddenQueries && isVisible(item) ? item : undefined };
  }

  function cancel(call: Call): Answer {
    const { account } = call;
    if (!account.canCancel) {
      return refusal(403, "Forbidden", "the account lacks the permission CanUseCancel");
    }
    const found = target(call);
    if ("problem" in found) return found.problem;
    const { item } = found;
    if (!item) return refusal(404, "NotFound", "no communication with that id");
    if (item.account !== account.username) {
      return refusal(401, "NotOwner", "the account is not the owner");
    }
    if (!postal.isCancellable(item)) {
      return badField("UniqueId", "NotCancellable", `is ${item.state}`);
    }
    postal.cancel(item, account, call.at);
    return jsonAnswer(200, { uniqueId: item.id });
  }

  function requestAffidavit(call: Call): Answer {
    const found = target(call);
    if ("problem" in found) return found.problem;
    for (const name of ["IncludeDocument", "IncludeEvents"]) {
      const value = fieldsOf(call.body)[name] ?? false;
      if (typeof value !== "boolean") return badField(name, "InvalidType", "must be a boolean");
    }
    const { item } = found;
    if (!item || item.site !== call.account.site.name) {
      return badField("UniqueId", "NotFound", "is not known");
    }
    if (!item.isOnDemandEnabled) {
      return badField("UniqueId", "NotEnabled", "was submitted without AffidavitsOnDemandEnabled");
    }
    return jsonAnswer(200, { requestId: postal.requestAffidavit(item, call.account, call.at) });
  }

  function download(call: Call): Answer {
    const ids = splitList(call.query["AffidavitIds"]);
    if (ids.length === 0) return badField("AffidavitIds", "Required", "is required");
    const files: Record<string, Buffer> = {};
    for (const id of new Set(ids)) {
      const found = items.affidavit(id);
      if (!found || found.item.site !== call.account.site.name) {
        return refusal(404, "NotFound", "no affidavit with that id");
      }
      files[`${found.affidavit.id}.pdf`] = postalPdf(found.item, found.affidavit);
    }
    return bytesAnswer("application/zip", Buffer.from(zipSync(files, { level: 0 })));
  }

  return [
    {
      name: "affidavitRequest",
      route: "POST /v1/EviPost/AffidavitRequest",
      describe: describeTarget,
      perform: requestAffidavit,
    },
    {
      name: "cancel",
      route: "POST /v1/EviPost/Cancel",
      describe: describeTarget,
      perform: cancel,
    },
    {
      name: "affidavitDownload",
      route: "GET /v1/Affidavits/Download",
      describe: (arrival) =>
        describeItem(items.affidavit(splitList(arrival.query["AffidavitIds"])[0] ?? "")?.item),
      perform: download,
    },
  ];
}
