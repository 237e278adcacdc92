// The inputs of certified post and certified notices share these parts (P2 §2.3, §2.6; docs/reading-the-specification.md §2, §3).
import { z } from "zod";
import type { Rule } from "./rules.js";
import { SecretString } from "./values.js";

/** A member of the provider's that the process sets itself. */
export const belongsToProcess = z
  .never({ error: "must be left out: the process sets it" })
  .optional();

/** How a recipient shows who it is; `challengeRule` checks the fields together. */
export const accessControl = {
  evidenceAccessControlMethod: z.enum(["Public", "Challenge", "AutoChallenge"]).optional(),
  evidenceAccessControlChallenge: z.string().min(1).optional(),
  evidenceAccessControlChallengeResponse: SecretString.optional(),
};

const challenge = [
  "evidenceAccessControlChallenge",
  "evidenceAccessControlChallengeResponse",
] as const;

type AccessControl = {
  evidenceAccessControlMethod?: string | undefined;
} & { [field in (typeof challenge)[number]]?: string | undefined };

/** `Challenge` needs both fields of the challenge. `at`: the object that has them, with its path. */
export function challengeRule<T>(
  path: string,
  section: string,
  at: (input: T) => AccessControl | undefined,
): Rule<T> {
  return {
    reads: [`${path}evidenceAccessControlMethod`],
    check(input, refuse) {
      const given = at(input);
      if (given?.evidenceAccessControlMethod !== "Challenge") return;
      for (const field of challenge) {
        if (given[field] === undefined)
          refuse(`${path}${field}`, `is required with Challenge (${section})`);
      }
    },
  };
}

export const seconds = z
  .int()
  .min(0)
  .max(400 * 86_400);

/** Spans of ours, in seconds; what is left out comes from the configuration and is fixed for the run. */
export const askingSpans = {
  /** From the submit, or the begin of a call; reached with the item open, the outcome is `openAtDeadline`. */
  deadlineSeconds: seconds.min(1).optional(),
  /** How long after a question the provider is asked again, whatever callbacks came. */
  pollIntervalSeconds: seconds.min(1).optional(),
  /** The least time between two asks that callbacks cause. */
  askIntervalSeconds: seconds.min(1).optional(),
};

/** The spans of what has affidavits. */
export const trackingSpans = {
  /** How long after `Closed` affidavits are still fetched. */
  affidavitWindowSeconds: seconds.optional(),
  ...askingSpans,
};
