// Identifications for tests: nothing creates a conference, so its id carries the intent that the sandbox's ledger knows, and the words.
import type { VerifyIdentityInput } from "../../../src/client.js";

/** `words`: those of docs/sandbox/scenarios.md, with `~` between them; a fault has a colon. */
export const conferenceOf = (intent: string, words = "") =>
  words === "" ? intent : `${intent}~${words}`;

export function identityInput(
  intent: string,
  words = "",
  more: Partial<VerifyIdentityInput> = {},
): VerifyIdentityInput {
  const { settings, ...others } = more;
  return {
    idConference: conferenceOf(intent, words),
    settings: { pollIntervalSeconds: 3, askIntervalSeconds: 1, ...settings },
    ...others,
  };
}

/** Who is told of failed callbacks; registrations of one `processId` replace each other. */
export const alertFor = (processId: string) => ({
  processId,
  emails: ["desk@example.com"],
  before: [],
});
