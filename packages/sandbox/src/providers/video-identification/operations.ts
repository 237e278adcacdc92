// The seven operations (P1 §4.2; queries, bodies and answers are assumed where that section shows none).
import { emptyAnswer, jsonAnswer, type Answer } from "../../exchange/answer.js";
import { isObject } from "../../exchange/checker.js";
import type { FaultRule } from "../../engine/faults.js";
import type { Arrival, Call, Description, Operation } from "../../exchange/operation.js";
import { hide, isVisible } from "../../engine/visibility.js";
import { auditAnswer, auditAt } from "./audit.js";
import { verdictOf, type Conference } from "./conference.js";
import type { ConferenceService } from "./conference-service.js";
import type { Credentials } from "./credentials.js";
import { PROVIDER, readId, type OperationName } from "./magic.js";
import { invalid, notFound, refusal } from "../../exchange/refusal.js";

const nobody: Description = { intent: null, lookupKeys: [] };

function describeId(id: string | undefined): Description {
  if (id === undefined || id === "") return nobody;
  const { intent, magicKey, faults } = readId(id);
  return { intent, lookupKeys: [intent], magicKey, magicFaults: faults };
}

const refusedWords = (id: string): Answer | undefined => {
  const { unknown } = readId(id);
  return unknown === undefined ? undefined : refusal(400, "SandboxMagic", unknown);
};

export function videoOperations(service: ConferenceService, credentials: Credentials): Operation[] {
  const { tokens, parts } = service;
  parts.ledger.allowRepeats(`${PROVIDER}.registerAlertEmail`);

  /** By the account's key: the query names the conference. */
  function byKey(
    name: OperationName,
    route: Operation["route"],
    perform: (conference: Conference, call: Call, faults: FaultRule[]) => Answer,
  ): Operation {
    return {
      name,
      route,
      describe: ({ query }) => describeId(query["idConference"]),
      perform(call, faults) {
        const { idConference: id = "" } = call.query;
        if (id === "") return invalid("idConference: is required");
        const refused = refusedWords(id);
        if (refused) return refused;
        const conference = service.named(id, call.account, call.at);
        return conference ? perform(conference, call, faults) : notFound("conference");
      },
    };
  }

  /** By the token of a call: it names the conference, and a query may do so too. */
  function byToken(
    name: OperationName,
    route: Operation["route"],
    perform: (conference: Conference, call: Call) => Answer,
  ): Operation {
    return {
      name,
      route,
      describe: (arrival) => describeId(conferenceIn(arrival)),
      perform(call) {
        const conference = service.conferences.get(conferenceIn(call));
        return conference ? perform(conference, call) : notFound("conference");
      },
    };
  }

  const conferenceIn = (arrival: Arrival) =>
    credentials.conferenceOf(arrival) ?? arrival.query["idConference"];

  function genAPIToken(conference: Conference, _call: Call, faults: FaultRule[]): Answer {
    hide(conference, faults);
    return jsonAnswer(200, { token: tokens.mint(conference.id) });
  }

  function rejectCall(conference: Conference, { at, body, rawBody }: Call): Answer {
    if (rawBody.length > 0 && !isObject(body)) return invalid("the body must be a JSON object");
    if (conference.state !== "open")
      return refusal(409, "wrong_state", `the call is ${conference.state}`);
    service.effect("rejectCall", conference, at);
    service.end(conference, "rejected", at);
    return jsonAnswer(200, {});
  }

  function getAsyncRequestInfo(conference: Conference, { at }: Call): Answer {
    const status = service.asyncStatus(conference, at);
    if (status === undefined) return notFound("asynchronous request");
    return jsonAnswer(200, { idConference: conference.id, status });
  }

  function registerAlertEmail({ body, account, at }: Call): Answer {
    if (!isObject(body)) return invalid("the body must be a JSON object");
    const { processId, email } = body;
    if (typeof processId !== "string" || processId === "")
      return invalid("processId: must be a string");
    if (typeof email !== "string") return invalid("email: must be a string");
    const refused = refusedWords(processId);
    if (refused) return refused;
    const emails = email === "" ? [] : email.split(",").map((one) => one.trim());
    if (emails.some((one) => !/^[^@\s]+@[^@\s]+$/.test(one)))
      return invalid("email: must be addresses, separated by commas");
    const { intent } = readId(processId);
    service.register({ processId: intent, account: account.username, emails, at });
    return jsonAnswer(200, {});
  }

  function conferenceData(conference: Conference): Answer {
    if (!isVisible(conference)) return notFound("conference");
    const { id, state, createdAt, closedAt } = conference;
    const verdict = verdictOf(conference);
    return jsonAnswer(200, {
      idConference: id,
      state,
      ...(verdict !== undefined && { verdict }),
      startedAt: new Date(createdAt).toISOString(),
      ...(closedAt !== undefined && { closedAt: new Date(closedAt).toISOString() }),
    });
  }

  const hasAudit = (conference: Conference, at: number) => {
    const since = auditAt(conference);
    return since !== undefined && at >= since && !conference.isAuditDeleted;
  };

  function getAuditData(conference: Conference, { at }: Call): Answer {
    return hasAudit(conference, at) ? auditAnswer(conference) : notFound("audit data");
  }

  function deleteAuditData(conference: Conference, { at }: Call): Answer {
    if (!hasAudit(conference, at)) return notFound("audit data");
    conference.isAuditDeleted = true;
    service.effect("deleteAuditData", conference, at);
    return emptyAnswer(204);
  }

  return [
    byKey("genAPIToken", "GET /api/authenticate/genAPIToken", genAPIToken),
    byKey("rejectCall", "PATCH /api/v2/rejectCall", rejectCall),
    byKey("getAsyncRequestInfo", "GET /api/v2/getAsyncRequestInfo", getAsyncRequestInfo),
    {
      name: "registerAlertEmail",
      route: "POST /api/v2/registerAlertEmail",
      describe({ body }) {
        const processId = isObject(body) ? body["processId"] : undefined;
        return describeId(typeof processId === "string" ? processId : undefined);
      },
      perform: registerAlertEmail,
    },
    byToken("conferenceData", "GET /api/v2/conferenceData", conferenceData),
    byToken("getAuditData", "GET /api/v2/getAuditData", getAuditData),
    byToken("deleteAuditData", "DELETE /api/v2/deleteAuditData", deleteAuditData),
  ];
}
