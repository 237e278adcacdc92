// The shared parts of every simulated provider.
import type { Accounts } from "./accounts.js";
import type { Callbacks } from "../callbacks/callbacks.js";
import type { Clock } from "./clock.js";
import type { DocumentFiles } from "./document-files.js";
import type { Faults } from "./faults.js";
import type { Ledger } from "./ledger.js";
import type { ResolvedOptions } from "../options.js";
import type { Outbox } from "./outbox.js";
import type { RequestLog } from "./request-log.js";
import type { SeededIds } from "./seeded.js";

export interface SandboxParts {
  options: ResolvedOptions;
  clock: Clock;
  /** By the clock that measures what a person must do in time. */
  personNow: () => number;
  ids: SeededIds;
  accounts: Accounts;
  faults: Faults;
  ledger: Ledger;
  callbacks: Callbacks;
  requests: RequestLog;
  outbox: Outbox;
  documents: DocumentFiles;
  /** Aborted when the sandbox closes. */
  closing: AbortSignal;
  /** Something changed that a snapshot holds. */
  changed: () => void;
  /** Resolves once everything so far is in the snapshot (at once, where none is kept). */
  committed: () => Promise<void>;
}
