// After a refused eID assertion, the process waits for a new one (P1 §2.2, codes 237 and 239 of §7.1;
// docs/reading-the-specification.md §5).
import { condition } from "@temporalio/workflow";
import type { RefusedAssertion } from "../../activities/disposable-certificate/index.js";
import type { CertificateSettings } from "../../contracts/issue-certificate/contract.js";
import { assertionPattern, provideAssertion } from "../../contracts/issue-certificate/messages.js";
import type { AssertionAnswer } from "../../contracts/issue-certificate/messages.js";
import { isSealed } from "../../contracts/shared/sealed-secret.js";
import { secondsFromNow } from "../runtime/clock.js";
import { invalidInput, refuseUnknownMembers } from "../runtime/activity-errors.js";
import type { AnyFlow } from "../runtime/flow.js";
import { waitUntil, waitUntilDue } from "../runtime/waits.js";

export class AssertionDialogue {
  /** The newest assertion that a caller provided; undefined means the one in the input. */
  assertion: string | undefined;
  readonly #flow: AnyFlow;
  #awaited: { refused: number; spans: CertificateSettings } | undefined;
  #count = 0;
  #invalid = 0;
  #refusals: RefusedAssertion["refused"][] = [];

  constructor(flow: AnyFlow) {
    this.#flow = flow;
    flow.lifecycle.onUpdate(
      provideAssertion,
      "A new eID assertion after a rejection",
      ({ assertion }) => this.#take(assertion),
      refuseUnlessAssertion,
    );
  }

  /** Waits for a fresh assertion; returns false when none came in time or too many were invalid. */
  async another({ refused }: RefusedAssertion, spans: CertificateSettings): Promise<boolean> {
    this.#refusals.push(refused);
    this.#flow.log.note(`The eID assertion is ${refused}`);
    if (refused === "invalid") this.#invalid += 1;
    if (this.#invalid >= spans.assertionTries) return false;
    const before = this.#count;
    const end = secondsFromNow(spans.assertionDeadlineSeconds);
    this.#awaited = { refused: this.#refusals.length, spans };
    const came = await waitUntil(this.#flow, () => this.#count > before, {
      what: "a new eID assertion",
      end,
      summary: "Time limit for a new eID assertion",
    });
    this.#awaited = undefined;
    return came;
  }

  async #take(assertion: string): Promise<AssertionAnswer> {
    await waitUntilDue(() => this.#awaited !== undefined || this.#isEnrolled());
    const awaited = this.#awaited;
    if (!awaited) return { answer: "notAwaited" };
    this.#awaited = undefined;
    this.assertion = assertion;
    this.#count += 1;
    this.#flow.log.note("New eID assertion received");
    const isRefused = () => this.#refusals.length > awaited.refused;
    await condition(() => isRefused() || this.#isEnrolled(), awaited.spans.answerSeconds * 1_000);
    const refused = this.#refusals[awaited.refused];
    return { answer: refused ?? (this.#isEnrolled() ? "accepted" : "pending") };
  }

  #isEnrolled(): boolean {
    return Object.keys(this.#flow.status.references).length > 0;
  }
}

function refuseUnlessAssertion(given: { assertion: string }): void {
  refuseUnknownMembers(given, ["assertion"]);
  const { assertion } = (given ?? {}) as { assertion?: unknown };
  if (isSealed(assertion)) return;
  if (typeof assertion === "string" && assertionPattern.test(assertion)) return;
  throw invalidInput("assertion", "must be base64 of a JSON document (P1 §2.2)");
}
