// The idempotency token of a submit (P2 §4.1, §4.2): an earlier 200 is replayed as a 202, anything else runs again.
import { createHash } from "node:crypto";
import type { IdempotencyTokens } from "../../engine/idempotency.js";
import type { SandboxParts } from "../../engine/parts.js";
import { jsonAnswer } from "../../exchange/answer.js";
import { fieldsOf } from "../../exchange/checker.js";
import type { Call, Operation } from "../../exchange/operation.js";

type Fields = Record<string, unknown>;

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

export function keyedBy(
  tokens: IdempotencyTokens,
  { ledger }: SandboxParts,
  callbackMember?: string,
): Required<Pick<Operation, "begin" | "end">> {
  return {
    begin(call, { intent }) {
      const token = tokenOf(call);
      if (token === undefined) return undefined;
      const digest = digestOf(call.body, callbackMember);
      const { replay, violations } = tokens.begin(token, digest, call.at);
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
        at: call.at,
      });
    },
  };
}
