// The requests that came in: the newest ones, and totals by operation and status.
import { CappedLog, LOG_SIZE } from "./capped-log.js";

export interface RequestEntry {
  /** Real time. */
  at: string;
  operation: string;
  account: string | null;
  intent: string | null;
  /** null: the connection was cut. */
  status: number | null;
  faults: string[];
}

export class RequestLog {
  readonly #log = new CappedLog<RequestEntry>(LOG_SIZE);
  #totals: Record<string, Record<string, number>> = {};

  note(entry: Omit<RequestEntry, "at">): void {
    this.#log.add({ at: new Date().toISOString(), ...entry });
    const totals = (this.#totals[entry.operation] ??= {});
    const status = entry.status === null ? "cut" : String(entry.status);
    totals[status] = (totals[status] ?? 0) + 1;
  }

  list(): RequestEntry[] {
    return this.#log.list();
  }

  totals(): Record<string, Record<string, number>> {
    return this.#totals;
  }

  clear(): void {
    this.#log.clear();
    this.#totals = {};
  }
}
