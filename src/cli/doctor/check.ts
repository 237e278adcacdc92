// One check of `trustflow doctor`, with a time limit; its output never contains a secret.
import type { Socket } from "node:net";
import { ConfigurationError, required, ringOf } from "../../config/config.js";
import type { Config } from "../../config/config.js";
import type { KeyRing } from "../../crypto/key-ring.js";
import { type FindingName, findings } from "./findings.js";

/** `--json` prints it. */
export interface Checked {
  check: string;
  /** `skip`: the check was not done, and `detail` has the reason. */
  state: "ok" | "warn" | "fail" | "skip";
  /** Present for `warn` and `fail`. */
  finding?: FindingName;
  detail: string;
  mend?: string;
}

/** A problem that a check has found, in one sentence without a secret. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly finding: FindingName;

  constructor(finding: FindingName, detail: string) {
    super(detail);
    this.finding = finding;
  }
}

/** Thrown by a check that has nothing to examine. */
export class NotExamined extends Error {
  override readonly name = "NotExamined";
}

export type Check = [name: string, work: () => Promise<string>];

/** A line for a check that was not done, so that the report is complete. */
export function skippedCheck(check: string, why: string): Check {
  return [check, () => Promise.reject(new NotExamined(`not examined: ${why}`))];
}

/** Limits one call; a whole check may take longer. */
export const CALL_MS = 5_000;
const CHECK_MS = 15_000;

export function limitWait(socket: Socket): void {
  const noAnswer = Object.assign(new Error(), { code: "no answer" });
  socket.setTimeout(CALL_MS, () => socket.destroy(noAnswer));
}

/** Runs a check; `work` returns the text of a success. */
export async function runCheck(
  check: string,
  work: () => Promise<string>,
  limitMs = CHECK_MS,
): Promise<Checked> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    const late = new Problem("noAnswer", `no answer within ${limitMs / 1_000} seconds`);
    timer = setTimeout(() => reject(late), limitMs);
  });
  try {
    return { check, state: "ok", detail: await Promise.race([work(), tooLate]) };
  } catch (error) {
    if (error instanceof NotExamined) return { check, state: "skip", detail: error.message };
    const { finding, message: detail } = problemOf(error);
    return { check, ...findings[finding], finding, detail };
  } finally {
    clearTimeout(timer);
  }
}

/** A check that needs a connection which another check opens and reports on. */
export async function withOpened<T>(
  what: string,
  opened: Promise<T>,
  work: (open: T) => Promise<string>,
): Promise<string> {
  const open = await opened.catch(() => {
    throw new Problem("notChecked", `not checked: cannot reach ${what}`);
  });
  return work(open);
}

export function setting<T>(value: T | undefined, key: string): T {
  try {
    return required(value, key);
  } catch (error) {
    throw new Problem("settingMissing", (error as Error).message);
  }
}

export function ring(
  config: Config,
  name: Parameters<typeof ringOf>[1],
  malformed: FindingName = "keysMalformed",
): KeyRing {
  setting(config.keys[name], `keys.${name}`);
  try {
    return ringOf(config, name);
  } catch (error) {
    throw new Problem(malformed, (error as Error).message);
  }
}

// The message of an unexpected error may contain secrets, so only its kind is shown.
function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const { name, message, code } = error as { name?: string; message: string; code?: unknown };
  if (error instanceof ConfigurationError) return new Problem("configurationInvalid", message);
  return new Problem("notChecked", `not checked: ${[name, code].filter(Boolean).join(" ")}`);
}

/** Leases, time spans and certificates tolerate this difference. */
const BEARABLE_MS = 5_000;

/**
 * Compares a clock with that of this machine: `theirs` was read between `before` and `after`; all in milliseconds. The duration of the
 * call does not count as a difference.
 */
export function compareClocks(before: number, theirs: number, after: number): string {
  const skewMs = Math.max(before - theirs, theirs - after, 0);
  if (skewMs <= BEARABLE_MS) return `within ${BEARABLE_MS / 1_000} s of this machine's`;
  const direction = theirs < before ? "behind" : "ahead of";
  const seconds = Math.round(skewMs / 1_000);
  throw new Problem("clockSkewed", `it is ${seconds} s ${direction} this machine's`);
}
