// The messaging gateway as a provider of the sandbox (P1 §1.3, 4.3, 5.3, 7.2). Payload and answer are not shown: any JSON
// object is taken, and the answer is the sandbox's own.
import { jsonAnswer, type Answer } from "../../exchange/answer.js";
import { isObject } from "../../exchange/checker.js";
import { basicAccount, header, isJson } from "../../exchange/credentials.js";
import { describePayload } from "../../exchange/description.js";
import { Shelf } from "../../exchange/kept.js";
import { readMagicMember, unknownWords } from "../../exchange/magic.js";
import type { Admission, Arrival, Call, SandboxProvider } from "../../exchange/operation.js";
import type { SandboxParts } from "../../engine/parts.js";

const NAME = "messaging-gateway";
const acceptedRoles = ["USER", "ADMIN"];
const vocabulary = { provider: NAME, operations: ["send"], words: [] };

interface Message {
  id: string;
  intent: string | null;
  account: string;
  createdAt: string;
}

function problem(status: number, type: string, code: number, message: string): Answer {
  return jsonAnswer(status, { type, code, message });
}

export function messagingGateway(parts: SandboxParts): SandboxProvider {
  const messages = new Shelf<Message>(NAME, () => ({ state: "accepted" }));

  /** P1 §5.3, 7.2: the credentials first, then the key, then the role. */
  function authenticate(arrival: Arrival): Admission {
    const account = basicAccount(parts.accounts, arrival);
    if (!account) {
      const why = "Basic credentials invalid for the environment";
      const denial = problem(401, "AuthenticationFailedException", 1, why);
      const hasNone = header(arrival, "authorization") === undefined;
      return { denial, ...(hasNone && { missing: "Authorization" }) };
    }
    const key = header(arrival, "x-api-key");
    if (key === undefined) {
      const denial = problem(401, "MissingApiKeyException", 9, "header X-Api-Key is absent");
      return { account, denial, missing: "X-Api-Key" };
    }
    if (key !== account.apiKey) {
      return { account, denial: problem(401, "InvalidApiKeyException", 9, "X-Api-Key is invalid") };
    }
    const roles = account.provisioned ? account.roles : [];
    if (roles.some((role) => acceptedRoles.includes(role))) return { account };
    const why = `role ${roles.join(", ") || "none"}, required ${acceptedRoles.join(", ")}`;
    return { account, denial: problem(403, "ForbiddenException", 6, why) };
  }

  const invalid = (why: string) => problem(400, "InvalidRequestException", 2, why);

  const describe = (arrival: Arrival) => describePayload(arrival, "clientReference", vocabulary);

  function send(call: Call): Answer {
    const { body, operation } = call;
    const { intent } = describe(call);
    if (!isJson(call)) {
      const given = header(call, "content-type") ?? "none";
      parts.ledger.violate(call, "wrongContentType", intent, given);
      return invalid("Content-Type: must be application/json");
    }
    if (!isObject(body)) return invalid("the body must be a JSON object");
    const unknown = unknownWords(readMagicMember(body, vocabulary));
    if (unknown !== undefined) return invalid(`sandbox: ${unknown}`);
    const id = parts.ids.uuid(`${NAME}/message`);
    const at = new Date(call.at).toISOString();
    const account = call.account.username;
    messages.add({ id, intent, account, createdAt: at });
    parts.ledger.record({ operation, intent, itemId: id, at: call.at, account });
    const { to, text } = body;
    const address = typeof to === "string" ? to : "";
    parts.outbox.add({
      at,
      provider: NAME,
      intent,
      channel: address.includes("@") ? "EMAIL" : "SMS",
      to: address,
      text: typeof text === "string" ? text : JSON.stringify(body),
    });
    return jsonAnswer(200, { id });
  }

  return {
    name: NAME,
    operations: [{ name: "send", route: "POST /api/services/send", describe, perform: send }],
    authenticate,
    refuse: (status, code, message) =>
      code === "InvalidRequest"
        ? invalid(message)
        : problem(status, "SandboxException", code === "Sandbox" ? 0 : code, message),
    kept: messages,
  };
}
