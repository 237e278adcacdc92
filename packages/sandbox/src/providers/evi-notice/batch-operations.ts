// The operations about a batch itself (P2 §2.8, §3.4, §4.3).
import type { SandboxParts } from "../../engine/parts.js";
import { describeIntent } from "../../exchange/description.js";
import { emptyAnswer, jsonAnswer, type Answer } from "../../exchange/answer.js";
import { Checker, fieldsOf, isObject } from "../../exchange/checker.js";
import type { Arrival, Call, Description, Operation } from "../../exchange/operation.js";
import { checkSettings } from "./batch-settings.js";
import { batchWords, type BatchRun } from "./batch-run.js";
import { batchIntent, batchStates, type Batch, type Batches } from "./batch.js";
import { cursorOf, dateOf, placeOf } from "./query.js";
import type { Refuser } from "../evi/refuser.js";

const PATH = "/v2/EviNotice/Batches";
const BODY_DELAY_MS = 5000;
const EMPTY_UUID = "00000000-0000-0000-0000-000000000000";

/** What the operations of a batch work with. */
export interface BatchContext {
  parts: SandboxParts;
  batches: Batches;
  run: BatchRun;
  refuser: Refuser;
  /** Answers about the batch of the path, where it is the caller's; `onDraft`: where it has not been started either. */
  onBatch(perform: (batch: Batch, call: Call) => Answer): (call: Call) => Answer;
  onDraft(perform: (batch: Batch, call: Call) => Answer): (call: Call) => Answer;
  describe(arrival: Arrival): Description;
  effect(operation: string, batch: Batch, call: Call, part?: string): void;
}

export function batchContext(
  parts: SandboxParts,
  batches: Batches,
  run: BatchRun,
  refuser: Refuser,
): BatchContext {
  const onBatch: BatchContext["onBatch"] = (perform) => (call) => {
    const id = call.params["BatchId"] ?? "";
    if (id === "" || id === EMPTY_UUID)
      return refuser.badField("BatchId", "Required", "must be the id of a batch");
    const batch = batches.get(id);
    if (batch?.site !== call.account.site.name)
      return refuser.refuse(404, "NotFound", "no batch with that id");
    return perform(batch, call);
  };
  return {
    parts,
    batches,
    run,
    refuser,
    onBatch,
    onDraft: (perform) =>
      onBatch((batch, call) =>
        batch.state === "Draft" || batch.state === "Scheduled"
          ? perform(batch, call)
          : refuser.refuse(400, "Started", `the batch is ${batch.state}`),
      ),
    describe({ params }) {
      return describedAs(batches.get(params["BatchId"] ?? "")?.description);
    },
    effect(operation, batch, { account, at }, part) {
      parts.ledger.record({
        operation: `evi-notice.${operation}`,
        intent: batchIntent(batch.description),
        itemId: batch.id,
        at,
        account: account.username,
        part,
      });
      batch.updatedAt = at;
    },
  };
}

function describedAs(description: string | undefined): Description {
  return describeIntent(description === undefined ? null : batchIntent(description));
}

export function batchOperations(context: BatchContext): Operation[] {
  const { parts, batches, run, onBatch, onDraft, describe } = context;
  const { refuse, badRequest, badField } = context.refuser;
  const one = `${PATH}/:BatchId`;

  function create(call: Call): Answer {
    const { account, at, body } = call;
    const top = new Checker(fieldsOf(body));
    const description = top.required("Description");
    if (description !== undefined && description.length > 255)
      top.fail("Description", "TooLong", "must have at most 255 characters");
    if (description === undefined || top.errors.length > 0) return badRequest(top.errors);
    const batch: Batch = {
      id: parts.ids.uuid("evi-notice.batch"),
      account: account.username,
      site: account.site.name,
      description,
      state: "Draft",
      createdAt: at,
      updatedAt: at,
      settings: {},
      lists: [],
      attachments: [],
      sent: 0,
      failed: 0,
      noticeIds: [],
    };
    batches.add(batch);
    context.effect("createBatch", batch, call);
    return jsonAnswer(200, { BatchId: batch.id });
  }

  function query({ body = {}, account }: Call): Answer {
    if (!isObject(body)) return refuse(400, "InvalidRequest", "the body must be a JSON object");
    const top = new Checker(body);
    const limit = top.whole("Limit", 1);
    if (limit === undefined) top.fail("Limit", "Required", "is required, 1 to 100");
    else if (limit > 100) top.fail("Limit", "OutOfRange", "must be at most 100");
    const states = top.list("States");
    if (states?.some((state) => !(batchStates as readonly unknown[]).includes(state)))
      top.fail("States", "InvalidValue", `may hold ${batchStates.join(", ")} only`);
    const sortBy = top.oneOf("SortBy", ["LastUpdated", "ScheduledFor", "StartedOn"]);
    const isDescending = top.oneOf("SortOrder", ["Ascending", "Descending"]) === "Descending";
    const isBackward = top.oneOf("Direction", ["Forward", "Backward"]) === "Backward";
    const search = top.text("TextSearch")?.toLowerCase() ?? "";
    const start = placeOf(body["Cursor"]);
    if (start === undefined) top.fail("Cursor", "InvalidValue", "is no cursor of a response");
    if (top.errors.length > 0 || limit === undefined || start === undefined)
      return badRequest(top.errors);
    const keyOf = (batch: Batch) => {
      if (sortBy === "ScheduledFor")
        return Date.parse(String(batch.settings["ScheduledDate"])) || 0;
      return sortBy === "StartedOn" ? (batch.startedAt ?? 0) : batch.updatedAt;
    };
    const sign = isDescending === isBackward ? 1 : -1;
    const isBlind = search !== "" && parts.options.lookupKeyMatching === "none";
    const found = (isBlind ? [] : batches.save())
      .filter(({ site, state }) => site === account.site.name && (states?.includes(state) ?? true))
      .filter(({ description }) => description.toLowerCase().includes(search))
      .toSorted((a, b) => sign * (keyOf(a) - keyOf(b)));
    const next = start + limit;
    return jsonAnswer(200, {
      Cursor: next < found.length ? cursorOf(next) : null,
      HasMoreResults: next < found.length,
      Results: found.slice(start, next).map((batch) => shown(batch, context)),
    });
  }

  const get = (batch: Batch) => jsonAnswer(200, shown(batch, context));

  function update(batch: Batch, call: Call): Answer {
    const { body, account, at } = call;
    if (!isObject(body)) return refuse(400, "InvalidRequest", "the body must be a JSON object");
    const checked = checkSettings(body, account);
    for (const field of checked.unknown)
      parts.ledger.violate(call, "unknownField", batchIntent(batch.description), field);
    const magic = checked.text("CostCentre") ?? "";
    if (magic.startsWith("sandbox:") && !batchWords.includes(magic))
      checked.fail("CostCentre", "SandboxMagic", "unknown magic value");
    if (checked.errors.length > 0) return badRequest(checked.errors);
    if (batch.state !== "Draft") return refuse(400, "Started", `the batch is ${batch.state}`);
    const { State, Description, ...settings } = body;
    const changed: Batch = { ...batch, settings: { ...batch.settings, ...settings } };
    const why = State === undefined ? undefined : run.notReady(changed, at);
    if (why !== undefined) return badField("State", "NotReady", why);
    batch.settings = changed.settings;
    if (typeof Description === "string") batch.description = Description;
    batch.updatedAt = at;
    if (State !== undefined) run.start(batch, account, at);
    parts.changed();
    return emptyAnswer(200);
  }

  function remove(batch: Batch, call: Call): Answer {
    batches.delete(batch);
    context.effect("deleteBatch", batch, call);
    return emptyAnswer(204);
  }

  function setBody(batch: Batch, call: Call): Answer {
    const { rawBody, headers, at } = call;
    const isHtml = /^text\/html\s*(;|$)/i.test(String(headers["content-type"]));
    if (!isHtml) return refuse(400, "InvalidContentType", "the body must be text/html");
    if (rawBody.toString("utf8").trim() === "")
      return refuse(400, "Required", "the body must hold HTML");
    batch.bodySha256 = parts.documents.put(rawBody);
    batch.bodyReadyAt = at + BODY_DELAY_MS;
    batch.updatedAt = at;
    parts.changed();
    return emptyAnswer(202);
  }

  const described = ({ body }: Arrival): Description => {
    const { Description, TextSearch } = fieldsOf(body);
    return describedAs(
      [Description, TextSearch].find((text): text is string => typeof text === "string"),
    );
  };
  return [
    { name: "createBatch", route: `POST ${PATH}`, describe: described, perform: create },
    { name: "queryBatches", route: `QUERY ${PATH}`, describe: described, perform: query },
    { name: "getBatch", route: `GET ${one}`, describe, perform: onBatch(get) },
    {
      name: "updateBatch",
      route: `PATCH ${one}`,
      other: { name: "startBatch", is: (body) => fieldsOf(body)["State"] !== undefined },
      describe,
      perform: onBatch(update),
    },
    { name: "deleteBatch", route: `DELETE ${one}`, describe, perform: onDraft(remove) },
    { name: "setBody", route: `PUT ${one}/Body`, describe, perform: onDraft(setBody) },
  ];
}

/** Its members beyond those of P2 §2.8 are assumed. */
function shown(batch: Batch, { parts, batches }: BatchContext): Record<string, unknown> {
  const { id, state, description, sent, failed, settings } = batch;
  const { Subject, ...rest } = settings;
  const size = batches.sizeOf(batch);
  return {
    BatchId: id,
    State: state,
    Description: description,
    ...rest,
    SentCount: sent,
    FailedCount: failed,
    ProgressPercentage: size === 0 ? 0 : Math.floor((100 * (sent + failed)) / size),
    LastUpdated: dateOf(batch.updatedAt, parts),
    ...(batch.startedAt !== undefined && { StartedOn: dateOf(batch.startedAt, parts) }),
    EviNotice: {
      Subject: Subject ?? null,
      Body:
        batch.bodySha256 !== undefined && (batch.bodyReadyAt ?? 0) <= parts.clock.now()
          ? parts.documents.get(batch.bodySha256).toString("utf8")
          : null,
    },
  };
}
