// POST Submit (P2 §4.1): checks, idempotency token, and the communication that comes of it.
import { createHash } from "node:crypto";
import { jsonAnswer, type Answer } from "../../exchange/answer.js";
import type { FaultRule } from "../../engine/faults.js";
import type { IdempotencyTokens } from "../../engine/idempotency.js";
import type { Arrival, Call, Description, Ending, Operation } from "../../exchange/operation.js";
import type { SandboxParts } from "../../engine/parts.js";
import { fieldsOf, isObject } from "../../exchange/checker.js";
import { impossibleEnding } from "./lifecycle.js";
import { magicKeyOf, readPostalMagic } from "./magic.js";
import type { PostalService } from "./postal-service.js";
import { badField, badRequest, refusal } from "./refusal.js";
import { checkSubmission } from "./submission.js";

type Fields = Record<string, unknown>;

function customFields(body: Fields): Fields[] {
  const fields = fieldsOf(body["Options"])["CustomFields"];
  return Array.isArray(fields) ? fields.filter(isObject) : [];
}

function magicOf(body: Fields) {
  const values = customFields(body).filter((field) => field["Key"] === "sandbox");
  return readPostalMagic([body["RecipientName"], ...values.map((field) => field["Value"])]);
}

function describe(arrival: Arrival): Description {
  const body = fieldsOf(arrival.body);
  const lookupKey = typeof body["LookupKey"] === "string" ? body["LookupKey"] : undefined;
  const custom = customFields(body)
    .filter((field) => field["IsLookupKey"] === true)
    .map((field) => String(field["Value"]));
  const magic = magicOf(body);
  return {
    intent: lookupKey ?? null,
    lookupKeys: [...(lookupKey === undefined ? [] : [lookupKey]), ...custom],
    ...(magic && { magicKey: magicKeyOf(body), magicFaults: magic.faults }),
  };
}

/** The callback address is left out: it may change with a key rotation, and is no part of what is sent. */
function digestOf(body: unknown): string {
  const options: Fields = { ...fieldsOf(fieldsOf(body)["Options"]) };
  delete options["PushNotificationUrl"];
  delete options["PushNotificationExtraData"];
  const rest = { ...fieldsOf(body), Options: options };
  return createHash("sha256").update(JSON.stringify(rest)).digest("hex");
}

function tokenOf(call: Call): string | undefined {
  const token = call.headers["x-evi-idempotencytoken"];
  return typeof token === "string" && token !== ""
    ? `${call.account.username}/${token}`
    : undefined;
}

export function submitOperation(
  parts: SandboxParts,
  postal: PostalService,
  tokens: IdempotencyTokens,
): Operation {
  function begin(call: Call, { intent }: Description): Answer | undefined {
    const token = tokenOf(call);
    if (token === undefined) return undefined;
    const { replay, violations } = tokens.begin(token, digestOf(call.body), call.at);
    for (const kind of violations) parts.ledger.violate(call, kind, intent, token);
    return replay === undefined
      ? undefined
      : { ...jsonAnswer(202, null), body: Buffer.from(replay) };
  }

  function end(
    call: Call,
    { lookupKeys }: Description,
    answer: Answer | undefined,
    { status, isCached }: Ending,
  ): void {
    const token = tokenOf(call);
    if (token === undefined) return;
    const isKept = answer?.status === 200 && isCached;
    const isUnclearStatus = status === undefined || status >= 500 || [408, 409].includes(status);
    tokens.end(token, digestOf(call.body), answer !== undefined, {
      body: isKept ? answer.body.toString("utf8") : undefined,
      isUnclear: !isKept && isUnclearStatus,
      lookupKeys,
      at: call.at,
    });
  }

  function perform(call: Call, faults: FaultRule[]): Answer {
    const { account, body } = call;
    if (!isObject(body)) return refusal(400, "InvalidRequest", "the body must be a JSON object");
    const checked = checkSubmission(body, account, parts.options.maxDocumentBytes);
    for (const field of checked.unknownFields) {
      parts.ledger.violate(call, "unknownField", describe(call).intent, field);
    }
    const { submission } = checked;
    if (!submission) return badRequest(checked.errors);
    const magic = magicOf(body);
    if (magic && magic.unknown.length > 0) {
      const words = magic.unknown.join(", ");
      return badField("RecipientName", "SandboxMagic", `unknown magic value: ${words}`);
    }
    const why =
      magic &&
      impossibleEnding({ ...submission, ending: magic.ending, modifiers: magic.modifiers });
    if (why) return badField("RecipientName", "SandboxMagic", `${magic.ending}: ${why}`);
    const magicKey = magic && magicKeyOf(body);
    const item = postal.accept(submission, account, call.at, { magic, magicKey, faults });
    return jsonAnswer(200, { uniqueId: item.id });
  }

  return {
    name: "submit",
    method: "POST",
    path: "/v1/EviPost/Submit",
    describe,
    begin,
    perform,
    end,
  };
}
