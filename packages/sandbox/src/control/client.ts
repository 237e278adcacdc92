// A typed client of the control API, for the command line and tests.
import { got } from "got";
import type { AccountChange, AccountView } from "../engine/accounts.js";
import type { CallbackLogEntry } from "../callbacks/callbacks.js";
import type { Speed } from "../engine/clock.js";
import type { FaultOptions, FaultRule } from "../engine/faults.js";
import type { LedgerReport } from "../engine/ledger.js";
import type { ItemSummary } from "../exchange/kept.js";
import type { Move, Publication } from "../exchange/operation.js";
import type { OutboxMessage } from "../engine/outbox.js";
import type { RequestEntry } from "../engine/request-log.js";
import type { StateReport } from "./state-report.js";

export interface ClockView {
  now: string;
  speed: Speed;
  pending: number;
  /** When the first of what is pending is due. */
  next?: string;
}

export interface Advanced extends ClockView {
  /** How much of what was pending has happened. */
  ran: number;
  /** A request to come may meet a fault. */
  hasFaults: boolean;
}

export interface ItemFilter {
  intent?: string;
  state?: string;
  limit?: number;
  offset?: number;
}

function reasonOf(body: string): string {
  try {
    return (JSON.parse(body) as { error?: string }).error ?? body;
  } catch {
    return body;
  }
}

export type SandboxControl = ReturnType<typeof sandboxControl>;

/** `url` is the sandbox's base URL; a refusal becomes an Error with the sandbox's own words. */
export function sandboxControl(url: string) {
  const prefixUrl = `${url.replace(/\/$/, "")}/_sandbox`;
  const client = got.extend({ prefixUrl, retry: { limit: 0 }, throwHttpErrors: false });
  async function call<T>(
    method: "GET" | "POST" | "PUT" | "DELETE",
    path: string,
    json?: object,
  ): Promise<T> {
    const { ok, statusCode, body } = await client(path, { method, ...(json && { json }) });
    if (ok) return JSON.parse(body) as T;
    throw new Error(`${method} /_sandbox/${path}: ${statusCode} ${reasonOf(body)}`);
  }
  const query = (filter: object) => {
    const parameters = new URLSearchParams();
    for (const [key, value] of Object.entries(filter)) {
      if (value !== undefined) parameters.set(key, String(value));
    }
    return parameters.size === 0 ? "" : `?${parameters.toString()}`;
  };
  const part = encodeURIComponent;
  return {
    state: () => call<StateReport>("GET", "state"),
    ledger: (intent?: string) => call<LedgerReport>("GET", `ledger${query({ intent })}`),
    messages: async (intent?: string) =>
      (await call<{ messages: OutboxMessage[] }>("GET", `messages${query({ intent })}`)).messages,
    requests: () =>
      call<{ total: StateReport["requests"]; newest: RequestEntry[] }>("GET", "requests"),
    callbacks: () =>
      call<{ counts: StateReport["callbacks"]; newest: CallbackLogEntry[] }>("GET", "callbacks"),
    clock: () => call<ClockView>("GET", "clock"),
    setSpeed: (speed: Speed) => call<ClockView>("PUT", "clock", { speed }),
    advance: (ms: number) => call<Advanced>("POST", "clock/advance", { ms }),
    faults: async () => (await call<{ faults: FaultRule[] }>("GET", "faults")).faults,
    addFault: (fault: FaultOptions) => call<FaultRule>("POST", "faults", fault),
    removeFault: async (id: string) =>
      (await call<{ faults: FaultRule[] }>("DELETE", `faults/${part(id)}`)).faults,
    clearFaults: () => call<object>("DELETE", "faults"),
    accounts: async () => (await call<{ accounts: AccountView[] }>("GET", "accounts")).accounts,
    putAccount: (username: string, account: AccountChange) =>
      call<AccountView>("PUT", `accounts/${part(username)}`, account),
    items: (filter: ItemFilter = {}) =>
      call<{ items: ItemSummary[]; total: number }>("GET", `items${query(filter)}`),
    item: (id: string) => call<Record<string, unknown>>("GET", `items/${part(id)}`),
    move: (id: string, move: Move) =>
      call<Record<string, unknown>>("POST", `items/${part(id)}/move`, move),
    publishAffidavit: (id: string, publication: Publication = {}) =>
      call<{ id: string; name: string; revision: number }>(
        "POST",
        `items/${part(id)}/affidavits`,
        publication,
      ),
    reset: () => call<StateReport>("POST", "reset", {}),
  };
}
