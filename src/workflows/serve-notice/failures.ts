// How a child's failure becomes one of the process, in the words of the whole input: what was wrong with the notice, or what its id
// stands for already.
import { ApplicationFailure } from "@temporalio/workflow";
import { problemsInWords } from "../../contracts/shared/failures.js";
import type { FailureDetails, FieldProblem } from "../../contracts/shared/failures.js";
import type { LookedAtFailure } from "../../contracts/shared/process-look.js";
import { problemIn } from "../runtime/activity-errors.js";

/**
 * The failure with which the process ends too: no notice was sent. Undefined where a person has to decide. `wasSent`: the provider has given
 * the notice an id, so no failure says that nothing exists.
 */
export function refusalOf(
  { type, fields, provider = "evi-notice", code }: LookedAtFailure,
  wasSent = false,
): ApplicationFailure | undefined {
  if (wasSent && type === "InvalidInput") return undefined;
  const inWhole = fields.map(({ path, problem }) => ({ path: pathInWhole(path), problem }));
  const text = problemsInWords(inWhole);
  switch (type) {
    case "InputMismatch":
      return ApplicationFailure.nonRetryable("The same id was used with another input", type, {
        problem: "the id of the notice already stands for another input",
      } satisfies FailureDetails["InputMismatch"]);
    case "InvalidInput":
      return ApplicationFailure.nonRetryable(`Invalid input: ${text}`, type, { fields: inWhole });
    case "NotAccepted":
      return ApplicationFailure.nonRetryable(`${provider} did not accept it: ${text}`, type, {
        provider,
        fields: inWhole,
        ...(code !== undefined && { code }),
      } satisfies FailureDetails["NotAccepted"]);
    default:
      return undefined;
  }
}

/** A look fails for one reason alone: the process under the id was started with another input. Throws any other error. */
export function mismatchIn(error: unknown): LookedAtFailure {
  if (problemIn(error)?.kind !== "InputMismatch") throw error;
  return { type: "InputMismatch", message: "it has another input", fields: [] };
}

/** These paths have the same name in the whole input. */
const ownPaths = new Set<FieldProblem["path"]>(["id", "account", "(input)"]);

function pathInWhole(path: string): string {
  if (ownPaths.has(path)) return path;
  return path.startsWith("settings.")
    ? path.replace("settings.", "settings.notice.")
    : `notice.${path}`;
}
