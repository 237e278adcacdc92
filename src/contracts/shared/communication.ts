// The inputs of certified post and certified notices share these parts (P2 §2.3, §2.6; docs/reading-the-specification.md §2, §3).
import { z } from "zod";
import { answer, refused, unavailable } from "../definition/message-contract.js";
import type { Rule } from "./rules.js";
import { SecretString } from "./values.js";

export const Flag = z.boolean();

/** A member of the provider's that the process sets itself. */
export const belongsToProcess = z
  .never({ error: "must be left out: the process sets it" })
  .optional()
  .describe("Must be left out: the process sets it.");

/** The provider's members about callbacks. */
export const callbackMembers = {
  pushNotificationUrl: belongsToProcess,
  pushNotificationFilter: belongsToProcess,
  pushNotificationExtraData: belongsToProcess,
};

/** How a recipient shows who it is; `challengeRule` checks the fields together. */
export const accessControl = {
  evidenceAccessControlMethod: z
    .enum(["Public", "Challenge", "AutoChallenge"])
    .optional()
    .describe(
      "How access to the evidence is controlled (P2 §2.3, §2.6). `Challenge` needs the question and the answer below. Default: that of the account.",
    ),
  evidenceAccessControlChallenge: z
    .string()
    .min(1)
    .optional()
    .describe("The question; required with `Challenge`."),
  evidenceAccessControlChallengeResponse: SecretString.optional().describe(
    "The expected answer; required with `Challenge`. Secret.",
  ),
};

const challenge = [
  "evidenceAccessControlChallenge",
  "evidenceAccessControlChallengeResponse",
] as const;

type AccessControl = { [field in keyof typeof accessControl]?: string | undefined };

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

/** What is left out comes from the configuration and is fixed for the run. */
export const processSettings = <S extends z.ZodRawShape>(shape: S) =>
  z
    .strictObject(shape)
    .describe(
      "Time limits and options of Trustflow, never sent to the provider. What is left out comes from the configuration, as it was at the start.",
    );

/** Spans of ours, in seconds. */
export const askingSpans = {
  deadlineSeconds: seconds
    .min(1)
    .optional()
    .describe(
      "Seconds from the submit (of a call: from its beginning) after which an item that is still open ends the process as `openAtDeadline`.",
    ),
  pollIntervalSeconds: seconds
    .min(1)
    .optional()
    .describe("Seconds from one poll of the provider to the next; callbacks do not change it."),
  askIntervalSeconds: seconds
    .min(1)
    .optional()
    .describe("The least number of seconds between two queries that callbacks cause."),
};

/** The spans of what has affidavits. */
export const trackingSpans = {
  affidavitWindowSeconds: seconds
    .optional()
    .describe("Seconds after the end of the item during which affidavits are still fetched."),
  ...askingSpans,
};

/** The answers to a request for an affidavit that every process gives; `more` are the words of the process's own. */
export const affidavitAnswers = <const M extends Record<string, string>>(more: M) =>
  z.union([
    answer(
      { requested: "the provider makes the affidavit" },
      {
        requestId: z
          .string()
          .describe("The provider's id of the request; the affidavit that comes later has it too."),
      },
    ),
    answer({ refused }, { reason: z.string().describe("The reason that the provider gave.") }),
    answer({
      ...more,
      unknown: "the request may have arrived, which cannot be checked",
      unavailable,
    }),
  ]);

/** What `requestAffidavit` of a notice answers beside them. */
export const noticeAffidavitRefusals = {
  limitReached: "the notice has had as many affidavits on demand as the provider makes",
  notEligible: "`OnDemand` is not in `affidavitKinds`, or the notice is `Draft` or `Closed`",
};
