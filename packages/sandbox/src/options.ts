// The options of a sandbox and what applies where one is not given.
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { defaultAccounts, type AccountOptions } from "./engine/accounts.js";
import type { Speed } from "./engine/clock.js";
import type { FaultOptions } from "./engine/faults.js";

export type PersonTime = "real" | "virtual";

export type LookUpKeyMatching = "parts" | "whole" | "none";

export interface SandboxOptions {
  /** Default 127.0.0.1. */
  host?: string;
  /** Default 0: a free port. */
  port?: number;
  /** Of mutual TLS. Default 0: a free port. */
  tlsPort?: number;
  /** The TLS files; default: `pki` below the state directory, else a temporary folder. */
  pkiDirectory?: string;
  seed?: string;
  /**
   * Real time × speed; `manual`: only `advance` moves the clock; `auto`: a day passes in 4.3 seconds while something is
   * scheduled, and real time passes while nothing is. Default 1.
   */
  speed?: Speed;
  /** The clock by which codes, eID assertions and the tokens of video calls get too old. Default: `real` at `auto`, else `virtual`. */
  personTime?: PersonTime;
  /** Where the virtual clock begins; default: now. */
  startAt?: Date;
  accounts?: AccountOptions[];
  faults?: FaultOptions[];
  /** Keep the state here over a restart; without it, in memory. */
  stateDirectory?: string;
  /** P2 §4.1 knows of routes without `/v1`; served only if asked for. */
  unprefixedRoutes?: boolean;
  /** The largest document; the specification shows no number. Default 20,000,000. */
  maxDocumentBytes?: number;
  /**
   * `parts` (default): a query finds any of the values joined with `::`; `whole`: only the joined string; `none`: nothing by a
   * key, and no batch by a text.
   */
  lookupKeyMatching?: LookUpKeyMatching;
  /** Whether a second list of recipients is added to the first one, or takes its place: not shown (P2 §4.3); default `replace`. */
  recipientLists?: "append" | "replace";
  /** How result dates are written: with `Z` (default), or without an offset. */
  dates?: "utc" | "noOffset";
  /** How the one-shot service's token travels: not shown (P1 §5.4); default `Authorization: Token <token>`. */
  oneShotToken?: { name: string; prefix: string };
  /** How the wallet's API token travels: not shown (P1 §5.6); default `Authorization: Bearer <token>`. */
  walletToken?: { name: string; prefix: string };
  /** What `validate` answers to a wrong code (250), and to an expired or locked one (251): P1 §7.1 shows neither. */
  wrongOtpCode?: number;
  expiredOtpCode?: number;
  /** Life of a one-time password, by `personTime`. Default 10 minutes. */
  otpLifetimeMs?: number;
  /** Life of the token of a video call, by `personTime`: no number is shown (P1 §5.2). Default 30 minutes. */
  callTokenLifetimeMs?: number;
  /** How far an eID assertion's `iat` may be from the clock of `personTime`. Default 5 minutes. */
  assertionLifetimeMs?: number;
  /** Handles /health and /ready; returns false for any other request. */
  health?: (request: IncomingMessage, response: ServerResponse) => boolean;
}

type Unset = "stateDirectory" | "pkiDirectory" | "faults" | "startAt" | "health";

const defaults = {
  host: "127.0.0.1",
  port: 0,
  tlsPort: 0,
  seed: "sandbox",
  speed: 1,
  accounts: defaultAccounts,
  unprefixedRoutes: false,
  maxDocumentBytes: 20_000_000,
  lookupKeyMatching: "parts",
  recipientLists: "replace",
  dates: "utc",
  oneShotToken: { name: "Authorization", prefix: "Token " },
  walletToken: { name: "Authorization", prefix: "Bearer " },
  wrongOtpCode: 250,
  expiredOtpCode: 251,
  otpLifetimeMs: 10 * 60_000,
  callTokenLifetimeMs: 30 * 60_000,
  assertionLifetimeMs: 5 * 60_000,
} satisfies SandboxOptions;

export type ResolvedOptions = Required<Omit<SandboxOptions, Unset>> &
  Pick<SandboxOptions, "stateDirectory" | "pkiDirectory">;

export function resolveOptions(options: SandboxOptions): ResolvedOptions {
  const { speed = 1, stateDirectory } = options;
  if (typeof speed === "number" && !(Number.isFinite(speed) && speed > 0)) {
    throw new RangeError(`speed: must be a number above 0, "manual" or "auto", not ${speed}`);
  }
  // What is given as undefined or null is not given.
  const given = Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== undefined && value !== null),
  ) as SandboxOptions;
  return {
    ...defaults,
    personTime: speed === "auto" ? "real" : "virtual",
    ...(stateDirectory !== undefined && { pkiDirectory: join(stateDirectory, "pki") }),
    ...given,
  };
}
