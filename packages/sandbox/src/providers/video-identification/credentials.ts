// Whose request it is (P1 §5.2): the key of an account, or the token of a call; each in a header and nowhere else.
import { header } from "../../exchange/credentials.js";
import type { Admission, Arrival } from "../../exchange/operation.js";
import type { ConferenceService } from "./conference-service.js";
import { PROVIDER, readId, type OperationName } from "./magic.js";
import { refusal, unauthorized } from "../../exchange/refusal.js";

const tokenOperations: readonly OperationName[] = [
  "conferenceData",
  "getAuditData",
  "deleteAuditData",
];
const JWT = /eyJ[\w-]+\.[\w-]+\.[\w-]+/;
const CREDENTIAL = /^(x-?)?(api-?key|jwt|token|authorization)$/i;

export type Credentials = ReturnType<typeof credentialsOf>;

export function credentialsOf({ conferences, parts, tokens }: ConferenceService) {
  const { accounts, clock, ledger } = parts;

  function authenticate(arrival: Arrival): Admission {
    noteOutsideHeader(arrival);
    const needsToken = tokenOperations.some((name) => arrival.operation === `${PROVIDER}.${name}`);
    const admission = needsToken ? byToken(arrival) : byKey(arrival);
    const { account, denial } = admission;
    if (!account || denial || account.provisioned) return admission;
    return { account, denial: refusal(403, "forbidden", "the account is not provisioned") };
  }

  /** The conference of the request's token, where it is good. */
  function conferenceOf(arrival: Arrival): string | undefined {
    const [, token] = /^Bearer (\S+)$/.exec(header(arrival, "authorization") ?? "") ?? [];
    return token === undefined ? undefined : tokens.conferenceOf(token);
  }

  function byKey(arrival: Arrival): Admission {
    const key = header(arrival, "apikey");
    if (key === undefined) return { denial: unauthorized("no apikey"), missing: "apikey" };
    const account = accounts.holding("apiKey", key);
    return account ? { account } : { denial: unauthorized("wrong apikey") };
  }

  function byToken(arrival: Arrival): Admission {
    if (header(arrival, "authorization") === undefined)
      return { denial: unauthorized("no token"), missing: "Authorization" };
    const id = conferenceOf(arrival);
    const { idConference: asked = id } = arrival.query;
    const conference = asked === id ? conferences.get(id) : undefined;
    const account = conference && accounts.get(conference.account);
    return account ? { account } : { denial: unauthorized("the token is not good for this call") };
  }

  /** P1 §5.2, rule 4. */
  function noteOutsideHeader({ operation, query, rawBody }: Arrival): void {
    const keys = accounts.list().map(({ apiKey }) => apiKey);
    const isCredential = (text: string) => JWT.test(text) || keys.some((key) => text.includes(key));
    const inQuery = Object.entries(query).some(
      ([name, value = ""]) => CREDENTIAL.test(name) || isCredential(value),
    );
    const inBody = isCredential(rawBody.toString("utf8"));
    if (!inQuery && !inBody) return;
    const id = query["idConference"];
    const intent = id === undefined ? null : readId(id).intent;
    const where = inQuery ? "in the query" : "in the body";
    ledger.violate({ operation, at: clock.now() }, "credentialOutsideHeader", intent, where);
  }

  return { authenticate, conferenceOf };
}
