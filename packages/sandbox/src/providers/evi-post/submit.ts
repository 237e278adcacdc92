// POST Submit (P2 §4.1): checks, idempotency token, and the communication that comes of it.
import { jsonAnswer, type Answer } from "../../exchange/answer.js";
import type { FaultRule } from "../../engine/faults.js";
import type { IdempotencyTokens } from "../../engine/idempotency.js";
import type { Arrival, Call, Description, Operation } from "../../exchange/operation.js";
import type { SandboxParts } from "../../engine/parts.js";
import { fieldsOf, isObject } from "../../exchange/checker.js";
import { keyedBy } from "../evi/keyed-submit.js";
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

export function submitOperation(
  parts: SandboxParts,
  postal: PostalService,
  tokens: IdempotencyTokens,
): Operation {
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
    ...keyedBy(tokens, parts, "Options"),
    perform,
  };
}
