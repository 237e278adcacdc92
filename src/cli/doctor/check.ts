// One check of `trustflow doctor`: bounded in time, and without a secret whatever it meets.
import { ConfigurationError, required } from "../../config.js";
import { type FindingName, findings } from "./findings.js";

/** What a check says, as `--json` prints it. */
export interface Checked {
  check: string;
  /** `skip`: not examined, and `detail` says why. */
  state: "ok" | "warn" | "fail" | "skip";
  /** Where it is `warn` or `fail`. */
  finding?: FindingName;
  detail: string;
  mend?: string;
}

/** What a check throws: what is wrong, in one sentence without a secret. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly finding: FindingName;

  constructor(finding: FindingName, detail: string) {
    super(detail);
    this.finding = finding;
  }
}

/** What a check throws that examines nothing, because there is nothing to examine or nobody to ask. */
export class NotExamined extends Error {
  override readonly name = "NotExamined";
}

export type Check = [name: string, work: () => Promise<string>];

/** A line for what is not examined: nothing is left out in silence. */
export function skippedCheck(check: string, why: string): Check {
  return [check, () => Promise.reject(new NotExamined(`not examined: ${why}`))];
}

/** Of one call; above it stands the limit of a whole check. */
export const CALL_MS = 5_000;
const CHECK_MS = 15_000;

/** `work` returns what is well. */
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

/** A check of what another one opens and reports on. */
export async function withOpened<T>(
  what: string,
  opened: Promise<T>,
  work: (open: T) => Promise<string>,
): Promise<string> {
  const open = await opened.catch(() => {
    throw new Problem("notChecked", `not checked: ${what} is out of reach`);
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

// The message of an error that nobody foresaw may hold anything, so only its kind is shown.
function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const { name, message, code } = error as { name?: string; message: string; code?: unknown };
  if (error instanceof ConfigurationError) return new Problem("configurationInvalid", message);
  return new Problem("notChecked", `not checked: ${[name, code].filter(Boolean).join(" ")}`);
}
