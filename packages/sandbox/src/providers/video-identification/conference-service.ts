// What happens to conferences: made when an operation first names them, closed after a while or rejected; each end posts the
// call-closing event, and failed callbacks are told to the registered addresses (P1 §1.2, 4.2, 6.1).
import type { Account } from "../../engine/accounts.js";
import type { CallbackEvent } from "../../callbacks/callbacks.js";
import type { SandboxParts } from "../../engine/parts.js";
import { auditAt } from "./audit.js";
import { postEvent } from "../../callbacks/webhook.js";
import { Shelf } from "../../exchange/kept.js";
import { alertId, verdictOf } from "./conference.js";
import type { AlertRegistration, Conference, ConferenceState } from "./conference.js";
import { PROVIDER, readId } from "./magic.js";
import type { OperationName } from "./magic.js";
import { createHmac, timingSafeEqual } from "node:crypto";

const MINUTE = 60_000;
const CALL_MS = 5 * MINUTE;
const ASYNC_MS = 10 * MINUTE;

export class ConferenceService {
  readonly parts: SandboxParts;
  readonly tokens: CallTokens;
  readonly conferences = new Shelf<Conference>(PROVIDER, (conference) => ({
    outcome: verdictOf(conference) ?? "None",
  }));
  readonly alerts = new Shelf<AlertRegistration>(PROVIDER, (registration) => ({
    id: alertId(registration),
    intent: registration.processId,
    state: "registered",
    createdAt: registration.at,
  }));

  constructor(parts: SandboxParts) {
    this.parts = parts;
    this.tokens = new CallTokens(parts);
    parts.clock.on(`${PROVIDER}.close`, ({ id }: { id: string }, at) => {
      const conference = this.conferences.get(id);
      if (conference) this.end(conference, "closed", at);
    });
    // Nothing happens then, but a clock that jumps from event to event has to stop there.
    parts.clock.on(`${PROVIDER}.audit`, () => {});
    parts.callbacks.onDropped(PROVIDER, (event, at) => this.#alert(event, at));
  }

  /** Nothing in the specification creates a conference: it is there once the key of an account names it. Undefined: another's. */
  named(id: string, { username }: Account, at: number): Conference | undefined {
    const known = this.conferences.get(id);
    if (known) return known.account === username ? known : undefined;
    const { intent, processId, words, magicKey } = readId(id);
    if (words.includes("unknown")) return undefined;
    const conference: Conference = {
      id,
      intent,
      processId,
      words,
      magicKey,
      account: username,
      state: "open",
      createdAt: at,
    };
    this.conferences.add(conference);
    if (!words.includes("open"))
      this.parts.clock.schedule(at + CALL_MS, `${PROVIDER}.close`, { id });
    this.parts.changed();
    return conference;
  }

  end(conference: Conference, state: Exclude<ConferenceState, "open">, at: number): void {
    if (conference.state !== "open") return;
    Object.assign(conference, { state, closedAt: at });
    const audit = auditAt(conference);
    if (audit !== undefined) this.parts.clock.schedule(audit, `${PROVIDER}.audit`, {});
    this.#postCloseEvent(conference, at);
    this.parts.changed();
  }

  /** Undefined where there was no asynchronous request. */
  asyncStatus({ words, createdAt }: Conference, at: number): "running" | "done" | undefined {
    if (words.includes("async-stalled")) return "running";
    if (!words.includes("async")) return undefined;
    return at < createdAt + ASYNC_MS ? "running" : "done";
  }

  /** P1 §4.2, rules 1–3: what was registered before is replaced; nothing removes it. */
  register(registration: AlertRegistration): void {
    const id = alertId(registration);
    if (registration.emails.length > 0) this.alerts.add(registration);
    else this.alerts.delete(registration);
    const { processId, account, at } = registration;
    const operation = `${PROVIDER}.registerAlertEmail`;
    const about = { intent: processId, itemId: id, part: processId };
    this.parts.ledger.record({ operation, ...about, account, at });
  }

  effect(name: OperationName, { intent, id, account }: Conference, at: number): void {
    const part = name === "deleteAuditData" ? id : undefined;
    const operation = `${PROVIDER}.${name}`;
    this.parts.ledger.record({ operation, intent, itemId: id, account, at, part });
  }

  /** P1 §6.1: to the URL that is configured for the account, where there is one; all but the token is assumed. */
  #postCloseEvent(conference: Conference, at: number): void {
    const { id: idConference, words, account } = conference;
    const url = this.parts.accounts.get(account)?.closeEventUrl;
    if (url === undefined) return;
    const kind = "callClosed";
    const date = new Date(at).toISOString();
    const token = this.#tokenMembers(conference, at);
    const rest = words.includes("token-alone") ? {} : { event: kind, idConference, date };
    const body = { ...rest, ...token };
    postEvent(this.parts, conference, { provider: PROVIDER, kind, url, body, at });
  }

  /** P1 §6.1: the "payload parameter `message.token`", in each form that the words may mean. */
  #tokenMembers({ id, intent, words, account }: Conference, at: number): object {
    if (words.includes("token-none")) return {};
    const owner = this.parts.accounts.get(account);
    const isForeign = words.includes("token-foreign") && owner !== undefined;
    const of = isForeign ? this.named(`${intent}-of-another-call`, owner, at)?.id : id;
    const isExpired = words.includes("token-expired");
    const token = this.tokens.mint(of ?? id, { isExpired });
    if (words.includes("token-flat")) return { "message.token": token };
    return words.includes("token-short") ? { token } : { message: { token } };
  }

  /** P1 §4.2, rule 4. */
  #alert({ itemId, intent }: CallbackEvent, at: number): void {
    const conference = this.conferences.get(itemId);
    if (!conference) return;
    for (const to of this.alerts.get(alertId(conference))?.emails ?? [])
      this.parts.outbox.add({
        at: new Date(at).toISOString(),
        provider: PROVIDER,
        intent,
        channel: "EMAIL",
        to,
        text: `A callback about the conference ${itemId} failed`,
      });
    this.parts.changed();
  }
}

// The JWTs of calls (P1 §5.2): scoped to one conference, good for a limited time. Nothing but the sandbox can read or make them.

const base64url = (value: string) => Buffer.from(value, "utf8").toString("base64url");
const HEADER = base64url(JSON.stringify({ alg: "HS256", typ: "JWT" }));

interface Claims {
  conf: string;
  /** Seconds, by `personTime`. */
  exp: number;
}

class CallTokens {
  readonly #key: string;
  readonly #lifetimeMs: number;
  readonly #now: () => number;

  constructor({ options, personNow }: SandboxParts) {
    this.#key = `${options.seed}/video-identification.call-token`;
    this.#lifetimeMs = options.callTokenLifetimeMs;
    this.#now = personNow;
  }

  /** `isExpired`: one that was never good. */
  mint(conf: string, { isExpired = false } = {}): string {
    const endsAt = this.#now() + (isExpired ? -1_000 : this.#lifetimeMs);
    const claims: Claims = { conf, exp: Math.floor(endsAt / 1_000) };
    const signed = `${HEADER}.${base64url(JSON.stringify(claims))}`;
    return `${signed}.${this.#signature(signed)}`;
  }

  /** The conference that a token is for; undefined for what is no token of ours, and for one that is too old. */
  conferenceOf(token: string): string | undefined {
    const [header, claims = "", signature = "", ...more] = token.split(".");
    if (header !== HEADER || more.length > 0) return undefined;
    const expected = Buffer.from(this.#signature(`${header}.${claims}`));
    const given = Buffer.from(signature);
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
    const { conf, exp } = JSON.parse(Buffer.from(claims, "base64url").toString("utf8")) as Claims;
    return this.#now() < exp * 1_000 ? conf : undefined;
  }

  #signature(signed: string): string {
    return createHmac("sha256", this.#key).update(signed).digest("base64url");
  }
}
