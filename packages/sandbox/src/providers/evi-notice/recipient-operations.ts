// The recipients of a batch (P2 §2.9, §4.3, §8).
import { emptyAnswer, jsonAnswer, type Answer } from "../../exchange/answer.js";
import { Checker, isObject } from "../../exchange/checker.js";
import type { Call, Operation } from "../../exchange/operation.js";
import type { BatchContext } from "./batch-operations.js";
import type { Batch } from "./batch.js";
import { cursorOf, placeOf } from "./query.js";
import type { Recipient } from "./recipient-list.js";
import { RecipientList } from "./recipient-list.js";
import { isAddress } from "./submission.js";

const PATH = "/v2/EviNotice/Batches/:BatchId/Recipients";
const MOST = 1000;

export function recipientOperations(context: BatchContext): Operation[] {
  const { parts, batches, onBatch, onDraft, describe } = context;
  const { refuse, badRequest } = context.refuser;

  function add(batch: Batch, call: Call): Answer {
    const { rawBody, headers } = call;
    if (!/^text\/csv\s*(;|$)/i.test(String(headers["content-type"])))
      return refuse(400, "InvalidContentType", "the list must be text/csv");
    if (rawBody.length === 0) return refuse(400, "Required", "the list is empty");
    const list = new RecipientList(rawBody);
    const problem = list.problem(isAddress);
    if (problem !== undefined) return refuse(409, "InvalidList", problem);
    for (const column of list.unknownColumns())
      parts.ledger.violate(call, "unknownField", batch.description, column);
    const sha256 = batches.keep(list);
    const isAdded = parts.options.recipientLists === "append";
    batch.lists = isAdded ? [...batch.lists, sha256] : [sha256];
    context.effect("addRecipients", batch, call, sha256);
    return emptyAnswer(200);
  }

  function query(batch: Batch, call: Call): Answer {
    const { body = {} } = call;
    if (!isObject(body)) return refuse(400, "InvalidRequest", "the body must be a JSON object");
    const top = new Checker(body);
    const limit = top.whole("Limit", 1) ?? MOST;
    if (limit > MOST) top.fail("Limit", "OutOfRange", `must be at most ${MOST}`);
    const direction = top.oneOf("SortDirection", ["Ascending", "Descending"]);
    const start = placeOf(body["Cursor"]);
    if (start === undefined) top.fail("Cursor", "InvalidValue", "is no cursor of a response");
    if (top.errors.length > 0 || start === undefined) return badRequest(top.errors);
    const size = batches.sizeOf(batch);
    const end = Math.min(start + limit, size);
    const results: Record<string, unknown>[] = [];
    for (let place = start; place < end; place += 1) {
      const row = direction === "Descending" ? size - 1 - place : place;
      results.push(shown(recipientAt(batch, row), batch.noticeIds[row]));
    }
    return jsonAnswer(200, { Cursor: end < size ? cursorOf(end) : null, Results: results });
  }

  function recipientAt(batch: Batch, row: number): Recipient {
    let first = 0;
    for (const list of batches.listsOf(batch)) {
      if (row < first + list.size) return list.at(row - first);
      first += list.size;
    }
    throw new RangeError(`no recipient ${row}`);
  }

  function remove(batch: Batch, call: Call): Answer {
    batch.lists = [];
    context.effect("deleteRecipients", batch, call);
    return emptyAnswer(204);
  }

  return [
    { name: "addRecipients", route: `POST ${PATH}`, describe, perform: onDraft(add) },
    { name: "queryRecipients", route: `QUERY ${PATH}`, describe, perform: onBatch(query) },
    { name: "deleteRecipients", route: `DELETE ${PATH}`, describe, perform: onDraft(remove) },
  ];
}

/** The columns in PascalCase are assumed; the answers to challenges are never shown. */
function shown(
  { address, legalname, columns, extraFields }: Recipient,
  noticeId = "",
): Record<string, unknown> {
  return {
    Address: address,
    LegalName: legalname,
    LookupKey: columns["lookupkey"] ?? null,
    DisplayName: columns["displayname"] ?? null,
    ExtraFields: extraFields,
    EvidenceUniqueId: noticeId === "" ? null : noticeId,
  };
}
