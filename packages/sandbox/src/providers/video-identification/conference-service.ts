// What happens to conferences: made when an operation first names them, closed after a while or rejected; each end posts the
// call-closing event, and failed callbacks are told to the registered addresses (P1 §1.2, 4.2, 6.1).
import type { Account } from "../../engine/accounts.js";
import type { CallbackEvent } from "../../callbacks/callbacks.js";
import type { SandboxParts } from "../../engine/parts.js";
import { auditAt } from "./audit.js";
import { CallTokens } from "./call-tokens.js";
import {
  alertId,
  type AlertRegistration,
  type Conference,
  type ConferenceState,
} from "./conference.js";
import { PROVIDER, readId, type OperationName } from "./magic.js";

const MINUTE = 60_000;
const CALL_MS = 5 * MINUTE;
const ASYNC_MS = 10 * MINUTE;

/** The specification shows no retries of the event (P1 §6.1): these are the sandbox's own. */
const retryDelaysMs = [MINUTE, 5 * MINUTE, 15 * MINUTE];

export interface VideoState {
  conferences: Conference[];
  alerts: AlertRegistration[];
}

export class ConferenceService {
  readonly parts: SandboxParts;
  readonly tokens: CallTokens;
  readonly #conferences = new Map<string, Conference>();
  readonly #alerts = new Map<string, AlertRegistration>();

  constructor(parts: SandboxParts) {
    this.parts = parts;
    this.tokens = new CallTokens(parts);
    parts.clock.on(`${PROVIDER}.close`, ({ id }: { id: string }, at) => {
      const conference = this.#conferences.get(id);
      if (conference) this.end(conference, "closed", at);
    });
    // Nothing happens then, but a clock that jumps from event to event has to stop there.
    parts.clock.on(`${PROVIDER}.audit`, () => {});
    parts.callbacks.onDropped(PROVIDER, (event, at) => this.#alert(event, at));
  }

  /** Nothing in the specification creates a conference: it is there once the key of an account names it. Undefined: another's. */
  named(id: string, { username }: Account, at: number): Conference | undefined {
    const known = this.#conferences.get(id);
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
    this.#conferences.set(id, conference);
    if (!words.includes("open"))
      this.parts.clock.schedule(at + CALL_MS, `${PROVIDER}.close`, { id });
    this.parts.changed();
    return conference;
  }

  get(id: string): Conference | undefined {
    return this.#conferences.get(id);
  }

  alertOf(id: string): AlertRegistration | undefined {
    return this.#alerts.get(id);
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
    if (registration.emails.length > 0) this.#alerts.set(id, registration);
    else this.#alerts.delete(id);
    const { processId, account, at } = registration;
    this.#record("registerAlertEmail", { intent: processId, id, account, at, part: processId });
  }

  effect(operation: OperationName, { intent, id, account }: Conference, at: number): void {
    const part = operation === "deleteAuditData" ? { part: id } : {};
    this.#record(operation, { intent, id, account, at, ...part });
  }

  conferences(): Iterable<Conference> {
    return this.#conferences.values();
  }

  alerts(): Iterable<AlertRegistration> {
    return this.#alerts.values();
  }

  save(): VideoState {
    return { conferences: [...this.#conferences.values()], alerts: [...this.#alerts.values()] };
  }

  load({ conferences, alerts }: VideoState): void {
    this.clear();
    for (const conference of conferences) this.#conferences.set(conference.id, conference);
    for (const registration of alerts) this.#alerts.set(alertId(registration), registration);
  }

  clear(): void {
    this.#conferences.clear();
    this.#alerts.clear();
  }

  #record(
    operation: OperationName,
    about: { intent: string; id: string; account: string; at: number; part?: string },
  ): void {
    const { intent, id: itemId, account, at, part } = about;
    this.parts.ledger.record({
      operation: `${PROVIDER}.${operation}`,
      intent,
      itemId,
      at: new Date(at).toISOString(),
      account,
      ...(part !== undefined && { part }),
    });
    this.parts.changed();
  }

  /** P1 §6.1: to the URL that is configured for the account, where there is one; all but the token is assumed. */
  #postCloseEvent(conference: Conference, at: number): void {
    const { accounts, callbacks, ids } = this.parts;
    const { id, intent, words, account, magicKey } = conference;
    const url = accounts.get(account)?.closeEventUrl;
    if (url === undefined) return;
    const date = new Date(at).toISOString();
    const token = this.#tokenMembers(conference, at);
    const rest = words.includes("token-alone")
      ? {}
      : { event: "callClosed", idConference: id, date };
    callbacks.emit(
      {
        provider: PROVIDER,
        identifier: ids.uuid(`${PROVIDER}.event`),
        kind: "callClosed",
        itemId: id,
        intent,
        lookupKeys: [intent],
        account,
        magicKey,
        url,
        body: JSON.stringify({ ...rest, ...token }),
        retryDelaysMs,
      },
      at,
    );
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
    const conference = this.#conferences.get(itemId);
    if (!conference) return;
    for (const to of this.#alerts.get(alertId(conference))?.emails ?? [])
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
