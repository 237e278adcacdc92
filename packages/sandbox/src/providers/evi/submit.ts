// POST Submit of a notification service (P2 §4.1, §4.2): its checks, and its idempotency token, by which an earlier 200 is
// replayed as a 202; anything else runs again.
import { createHash } from "node:crypto";
import type { Account } from "../../engine/accounts.js";
import type { IdempotencyTokens } from "../../engine/idempotency.js";
import type { SandboxParts } from "../../engine/parts.js";
import { jsonAnswer, type Answer } from "../../exchange/answer.js";
import { fieldsOf, isObject, type FieldError } from "../../exchange/checker.js";
import { magicKey, unknownWords } from "../../exchange/magic.js";
import type { Arrival, Call, Description, Operation } from "../../exchange/operation.js";
import type { EviMagic } from "./magic.js";
import type { Refuser } from "./refuser.js";
import type { Origin } from "./service.js";

type Fields = Record<string, unknown>;

/** What the submits of the services differ in. */
export interface Submit<Checked, Magic extends EviMagic<string, string>> {
  provider: string;
  route: Operation["route"];
  /** The member that holds the callback settings; absent: they stand in the body itself. */
  callbackMember?: string;
  /** The members with the magic words, and with what is sent. */
  magicMember: string;
  contentMember: string;
  subject(body: Fields): Pick<Description, "intent" | "lookupKeys">;
  magicOf(body: Fields): Magic | undefined;
  check(
    body: Fields,
    account: Account,
  ): { errors: FieldError[]; unknownFields: string[]; checked?: Checked };
  /** Why it cannot end as the magic words say; undefined if it can. */
  impossible(checked: Checked, magic: Magic): string | undefined;
  accept(checked: Checked, call: Call, origin: Origin<Magic>): Answer;
}

export function submitOperation<Checked, Magic extends EviMagic<string, string>>(
  parts: SandboxParts,
  tokens: IdempotencyTokens,
  { refuse, badRequest, badField }: Refuser,
  submit: Submit<Checked, Magic>,
): Operation {
  const { provider, route, magicMember, contentMember } = submit;

  function magicKeyOf(body: Fields): string {
    const named = [body["LookupKey"], body[magicMember]];
    const isKeyed = typeof body["LookupKey"] === "string";
    const rest = isKeyed ? [] : [body["RecipientAddress"], body[contentMember]];
    return magicKey(provider, ...named, ...rest);
  }

  function describe(arrival: Arrival): Description {
    const body = fieldsOf(arrival.body);
    const magic = submit.magicOf(body);
    return {
      ...submit.subject(body),
      ...(magic && { magicKey: magicKeyOf(body), magicFaults: magic.faults }),
    };
  }

  return {
    name: "submit",
    route,
    describe,
    ...keyedBy(tokens, parts, submit.callbackMember),
    perform(call, faults) {
      const { account, body } = call;
      if (!isObject(body)) return refuse(400, "InvalidRequest", "the body must be a JSON object");
      const { errors, unknownFields, checked } = submit.check(body, account);
      for (const field of unknownFields)
        parts.ledger.violate(call, "unknownField", submit.subject(body).intent, field);
      if (!checked) return badRequest(errors);
      const magic = submit.magicOf(body);
      const unknown = unknownWords(magic);
      if (unknown !== undefined) return badField(magicMember, "SandboxMagic", unknown);
      const why = magic && submit.impossible(checked, magic);
      if (why) return badField(magicMember, "SandboxMagic", `${magic.ending}: ${why}`);
      const key = magic && magicKeyOf(body);
      return submit.accept(checked, call, { account, at: call.at, magic, magicKey: key, faults });
    },
  };
}

function tokenOf(call: Call): string | undefined {
  const token = call.headers["x-evi-idempotencytoken"];
  return typeof token === "string" && token !== ""
    ? `${call.account.username}/${token}`
    : undefined;
}

/** The callback address is left out: it may change with a key rotation, and is no part of what is sent. */
function withoutAddress(fields: Fields): Fields {
  const rest = { ...fields };
  delete rest["PushNotificationUrl"];
  delete rest["PushNotificationExtraData"];
  return rest;
}

/** `callbackMember`: the member that holds the callback settings; undefined: they stand in the body itself. */
function digestOf(body: unknown, callbackMember: string | undefined): string {
  const fields = fieldsOf(body);
  const rest =
    callbackMember === undefined
      ? withoutAddress(fields)
      : { ...fields, [callbackMember]: withoutAddress(fieldsOf(fields[callbackMember])) };
  return createHash("sha256").update(JSON.stringify(rest)).digest("hex");
}

function keyedBy(
  tokens: IdempotencyTokens,
  { ledger }: SandboxParts,
  callbackMember?: string,
): Required<Pick<Operation, "begin" | "end">> {
  return {
    begin(call, { intent }) {
      const token = tokenOf(call);
      if (token === undefined) return undefined;
      const digest = digestOf(call.body, callbackMember);
      const { replay, violations } = tokens.begin(token, digest);
      for (const kind of violations) ledger.violate(call, kind, intent, token);
      return replay === undefined
        ? undefined
        : { ...jsonAnswer(202, null), body: Buffer.from(replay) };
    },
    end(call, { lookupKeys }, answer, { status, isCached }) {
      const token = tokenOf(call);
      if (token === undefined) return;
      const isKept = answer?.status === 200 && isCached;
      const isUnclearStatus = status === undefined || status >= 500 || [408, 409].includes(status);
      tokens.end(token, digestOf(call.body, callbackMember), answer !== undefined, {
        body: isKept ? answer.body.toString("utf8") : undefined,
        isUnclear: !isKept && isUnclearStatus,
        lookupKeys,
      });
    },
  };
}
