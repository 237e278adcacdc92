// GET Query (P2 §2.5, §4.1, §8).
import type { Answer } from "../../exchange/answer.js";
import { jsonAnswer } from "../../exchange/answer.js";
import type { Call } from "../../exchange/operation.js";
import type { SandboxParts } from "../../engine/parts.js";
import { isVisible } from "../../engine/visibility.js";
import { joinedLookupKey, newestAffidavits, type EviItems } from "../evi/item.js";
import { splitList } from "./item-operations.js";
import { postalPdf, type PostItem } from "./postal-service.js";
import { badField } from "./refusal.js";

interface Includes {
  document: boolean;
  affidavits: boolean;
  blobs: boolean;
}

const list = (text: string | undefined) =>
  text === undefined || text === "" ? undefined : splitList(text);

export function queryItems(call: Call, items: EviItems<PostItem>, parts: SandboxParts): Answer {
  const { query } = call;
  const isSet = (name: string) => query[name]?.toLowerCase() === "true";
  const includes = {
    document: isSet("IncludeDocumentOnResult"),
    affidavits: isSet("IncludeAffidavitsOnResult"),
    blobs: isSet("IncludeAffidavitsOnResult") && isSet("IncludeAffidavitBlobsOnResult"),
  };
  for (const name of ["Limit", "Offset"]) {
    if (query[name] !== undefined && !/^\d{1,9}$/.test(query[name])) {
      return badField(name, "InvalidValue", "must be a whole number");
    }
  }
  if (query["OrderResultsBy"] !== undefined && query["OrderResultsBy"] !== "CreationDate") {
    return badField("OrderResultsBy", "InvalidValue", "must be CreationDate");
  }
  const found = select(call, items).filter(isVisible);
  if (includes.blobs && found.length > 1) {
    const field =
      query["WithUniqueIds"] === undefined && query["WithLookupKeys"]
        ? "WithLookupKeys"
        : "WithUniqueIds";
    return badField(
      field,
      "OneCommunication",
      "a query with blobs is limited to one communication",
    );
  }
  const offset = Number(query["Offset"] ?? 0);
  const limit = Number(query["Limit"] ?? (includes.affidavits ? 25 : 100));
  const page = found.slice(offset, offset + limit);
  return jsonAnswer(200, {
    results: page.map((item) => resultItem(item, includes, parts)),
    totalMatches: found.length,
  });
}

/** All filters must hold; a caller sees the items of its site. */
function select(call: Call, items: EviItems<PostItem>): PostItem[] {
  const { query, account } = call;
  const ids = list(query["WithUniqueIds"]);
  const keys = list(query["WithLookupKeys"]);
  let found: PostItem[];
  if (ids) {
    const named = ids.map((id) => items.get(id)).filter((item) => item !== undefined);
    const keyed = keys && new Set(keys.flatMap((key) => items.withLookupKey(key)));
    found = [...new Set(named)].filter((item) => !keyed || keyed.has(item));
  } else if (keys) {
    found = [...new Set(keys.flatMap((key) => items.withLookupKey(key)))];
  } else {
    found = items.save();
  }
  const { OnState: state, WithOutcome: outcome } = query;
  return found
    .filter((item) => item.site === account.site.name)
    .filter((item) => (!state || item.state === state) && (!outcome || item.outcome === outcome))
    .toSorted((a, b) => a.createdAt - b.createdAt);
}

function resultItem(
  item: PostItem,
  includes: Includes,
  parts: SandboxParts,
): Record<string, unknown> {
  const date = (at: number | undefined): string | undefined => {
    const text = at === undefined ? undefined : new Date(at).toISOString();
    return parts.options.dates === "noOffset" ? text?.slice(0, -1) : text;
  };
  const lookupKey = joinedLookupKey(item);
  const { StreetAddress, PostalCode, Locality, Region, Country } = item.address;
  return {
    evidenceId: item.id,
    lookupKey: lookupKey === "" ? undefined : lookupKey,
    recipientName: item.recipientName,
    address: {
      streetAddress: StreetAddress,
      postalCode: PostalCode,
      locality: Locality,
      region: Region,
      country: Country,
    },
    state: item.state,
    stateDate: date(item.stateAt),
    lastStateChangeDate: date(item.stateAt),
    outcome: item.outcome,
    outcomeDate: date(item.outcomeAt),
    creationDate: date(item.createdAt),
    submittedOn: date(item.createdAt),
    processedOn: date(item.processedAt),
    sentOn: date(item.sentAt),
    timeToLive: 60,
    costCentre: item.costCentre,
    // The member's name is assumed: the specification does not show it.
    ...(includes.document && {
      document: parts.documents.get(item.documentSha256).toString("base64"),
    }),
    ...(includes.affidavits && {
      affidavits: newestAffidavits(item).map((affidavit) => ({
        uniqueId: affidavit.id,
        date: date(affidavit.at),
        evidenceUniqueId: item.id,
        description: affidavit.description,
        ...(includes.blobs && { bytes: postalPdf(item, affidavit).toString("base64") }),
      })),
    }),
  };
}
