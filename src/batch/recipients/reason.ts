// Why a recipient of a batch was not reached, in our words: what the state and the outcome of its notice say (P2 §3.2, §6.2).
import type { ReportRow } from "./report.js";

const notShown = "nothing shows that the notice reached the recipient";

/** Empty: the recipient was reached, and did not answer with no. */
const byOutcome = new Map(
  Object.entries({
    none: `the notice ended without an outcome: ${notShown}`,
    certified: `the notice was certified: ${notShown}`,
    sent: `the notice was sent: ${notShown}`,
    delivered: "",
    received: "",
    read: "",
    accepted: "",
    rejected: "the recipient read the notice and answered with no",
    failed: "the provider could not deliver the notice",
    cancelled: "the notice was cancelled",
    refused: "the recipient refused the notice without opening it",
  }),
);

/** Applies to open notices. */
const byState = new Map([
  ...["Draft", "Submitted", "Processed", "Dispatched", "Sent"].map(
    (state) => [state, `the notice is open: ${notShown}`] as const,
  ),
  ...["Delivered", "Received", "Read", "Replied"].map((state) => [state, ""] as const),
  ["Failed", "the provider could not deliver the notice so far, and may try again"],
]);

/** `state` and `outcome` as a row of the report has them. A word that P2 §3.2 does not have says nothing of the recipient. */
export function reasonOf({
  state,
  outcome = "none",
}: Pick<ReportRow, "state" | "outcome">): Pick<ReportRow, "reason"> {
  if (state === undefined) return { reason: "the provider has shown no state of the notice" };
  const reason =
    state === "Closed"
      ? (byOutcome.get(outcome) ?? `the notice ended with an outcome of another name: ${notShown}`)
      : (byState.get(state) ?? `the notice has a state of another name: ${notShown}`);
  return reason === "" ? {} : { reason };
}
