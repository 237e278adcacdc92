// An identification by video: the call is followed to its end, its data and its audit are kept, and the audit is deleted at the
// provider where that is asked for (P1 §1.2, 2.7, 4.2, 6.1; docs/reading-the-specification.md §6).
import { ActivityFailure, ApplicationFailure } from "@temporalio/workflow";
import type { VideoPlan, VideoSnapshot } from "../../activities/video-identification/index.js";
import type { ProcessDocument } from "../../contracts/shared/status.js";
import type {
  VerifyIdentityInput,
  VerifyIdentityResult,
} from "../../contracts/verify-identity/contract.js";
import { downloadAttempt, updateProxy } from "../runtime/activity-options.js";
import { now, secondsFromNow } from "../runtime/clock.js";
import { Flow, run } from "../runtime/flow.js";
import { invalidInput } from "../runtime/activity-errors.js";
import { effectStep, isWaived, queryStep, stepsOf } from "../runtime/steps.js";
import { isOpen } from "../runtime/child.js";
import { trackUntilClosed } from "../runtime/tracking.js";
import type { TrackingTarget } from "../runtime/tracking.js";
import { Rejection } from "./rejection.js";
import { videoView } from "./view.js";
import type { VideoView } from "./view.js";

const provider = "video-identification";
const label = "the identification service";

export async function verifyIdentity(input: VerifyIdentityInput): Promise<VerifyIdentityResult> {
  return run(new VerifyIdentity(input));
}

class VerifyIdentity {
  readonly #input: VerifyIdentityInput;
  readonly flow = new Flow<VideoSnapshot, VideoView>(videoView);
  readonly #step = stepsOf(this.flow, provider);
  readonly #rejection: Rejection;
  #account = "";
  #alertOccurrence = "0";
  #endedAt: string | undefined;
  #hasAlert = false;
  #isAuditDeleted = false;

  constructor(input: VerifyIdentityInput) {
    this.#input = input;
    this.#rejection = new Rejection(this.flow, () => this.#call());
    this.flow.lifecycle.askBeforeCancelling("registerAlert", "deleteAudit");
  }

  async main(): Promise<void> {
    const plan = await this.#prepare();
    const deadline = secondsFromNow(plan.settings.deadlineSeconds);
    this.#account = plan.account;
    this.#alertOccurrence = plan.alertOccurrence;
    this.flow.status.identify(plan);
    await this.#takeConference();
    try {
      await this.#registerAlert();
      await this.#followCall(plan, deadline);
      await this.#keep();
    } catch (error) {
      await this.#tryToRemoveAlert();
      throw error;
    }
    await this.#removeAlert();
  }

  #prepare(): Promise<VideoPlan> {
    return this.#step(queryStep("prepare", "Check the input"), (service, { mode }) =>
      service.prepare({ input: this.#input, mode }),
    );
  }

  /** A close event names the conference alone, so one process at a time has it. One that has ended gives it up. */
  async #takeConference(): Promise<void> {
    const owner = await this.#owner();
    if (owner === undefined) return;
    const label = "the process that has the conference";
    const left = (await isOpen(owner, label)) ? owner : await this.#owner(owner);
    if (left !== undefined)
      throw invalidInput("idConference", `is the conference of ${left}, which is open`);
  }

  async #owner(from?: string): Promise<string | undefined> {
    const { owner } = await this.#step(
      queryStep("claim", "Take the conference for this process"),
      (service, { mode }) =>
        service.claim({ ...this.#call(), mode, ...(from !== undefined && { from }) }),
    );
    return owner;
  }

  async #registerAlert(): Promise<void> {
    const { alert } = this.#input;
    if (!alert) return;
    const step = this.#ofAlert("registerAlert", "Register the alert addresses");
    this.#hasAlert = true;
    try {
      await this.#step(step, (service, call) =>
        service.registerAlert({ ...call, account: this.#account, ...alert }),
      );
    } catch (error) {
      // Another input than that of the run before: these addresses were not registered.
      if (error instanceof ApplicationFailure && error.type === "InputMismatch")
        this.#hasAlert = false;
      throw error;
    }
    this.flow.log.note("Registered the alert addresses");
  }

  /** Until its end, or the process's own deadline. The first ask finds a call that has ended before. */
  async #followCall({ settings, isRejected }: VideoPlan, deadline: Date): Promise<void> {
    const { status, log } = this.flow;
    const { idConference } = this.#input;
    status.effectExists("tracking", { idConference }, deadline);
    this.#rejection.begin(isRejected);
    const target = this.#target();
    await target.ask("now", "Ask for the state of the call", {});
    await trackUntilClosed(this.flow, {
      ...target,
      awaits: "the end of the call",
      spans: settings,
      deadline,
      isOver: () => log.view.closed || this.#rejection.isAccepted,
    });
    await this.#rejection.end();
    const { outcome = "closed" } = log.view;
    if (this.#rejection.isAccepted && outcome === "closed") status.ownOutcome = "rejected";
    if (status.ownOutcome !== "openAtDeadline") this.#endedAt = now().toISOString();
  }

  #target(): Omit<TrackingTarget, "spans"> {
    const { log } = this.flow;
    const { asyncRequest } = this.#input;
    return {
      label,
      hintsAtEnd: () => true,
      ask: async (wait, summary, quick) => {
        const hasCloseEvent = log.events.length > 0;
        const snapshot = await this.#step(
          queryStep("ask", summary, { quick }),
          (service, { mode }) =>
            service.ask({
              ...this.#call(),
              ...{ asyncRequest, hasCloseEvent, wait, mode, seen: log.snapshot?.fingerprint },
            }),
        );
        log.applySnapshot(snapshot, []);
      },
    };
  }

  /** A call that was rejected, or is open at the deadline, may have no data and no audit. */
  async #keep(): Promise<void> {
    const { log, status } = this.flow;
    const isOptional = status.outcome === "rejected" || this.#endedAt === undefined;
    status.waitFor("the call's data and audit");
    await isWaived(async () => {
      const conference = await this.#step(
        queryStep("keepConference", "Keep the call's data", { happened: {} }),
        (service, { mode }) => service.keepConference({ ...this.#call(), mode, isOptional }),
      );
      if (conference) log.addDocuments([conference]);
    });
    await isWaived(async () => {
      const audit = await this.#step(
        queryStep("keepAudit", "Keep the call's audit", { happened: {}, attempt: downloadAttempt }),
        (service, { mode }) => service.keepAudit({ ...this.#call(), mode, isOptional }),
      );
      if (audit) await this.#auditKept(audit);
      else log.note("No audit kept: the provider shows none");
    });
  }

  async #auditKept(audit: ProcessDocument): Promise<void> {
    const { log } = this.flow;
    log.addDocuments([audit]);
    log.note("Audit kept");
    if (!this.#input.deleteAudit || this.#endedAt === undefined) return;
    const isProven = this.#rejection.isAccepted || log.snapshot?.isProven === true;
    const newer = await this.#step(
      effectStep("deleteAudit", "Delete the audit at the provider"),
      (service, call) =>
        service.deleteAudit({ ...call, ...this.#call(), document: audit.document, isProven }),
    );
    if (newer) log.addDocuments([newer]);
    this.#isAuditDeleted = true;
    log.note("Audit deleted at the provider");
  }

  async #removeAlert(): Promise<void> {
    const { alert } = this.#input;
    if (!alert) return;
    const { processId, before } = alert;
    const step = this.#ofAlert("removeAlert", "Remove the alert addresses");
    const { isLeft = false } = await this.#step(step, (service, call) =>
      service.removeAlert({ ...call, account: this.#account, processId, before }),
    );
    const removed = before?.length
      ? "Registered the alert addresses from before again"
      : "Removed the alert addresses";
    this.flow.log.note(isLeft ? "The alert addresses stay registered" : removed);
  }

  #ofAlert(name: string, summary: string) {
    return effectStep(name, summary, { occurrence: this.#alertOccurrence });
  }

  /** The process fails: one more problem must not hide why. */
  async #tryToRemoveAlert(): Promise<void> {
    const { alert } = this.#input;
    if (!alert || !this.#hasAlert) return;
    const { removeAlert } = updateProxy(provider, "Remove the alert addresses");
    const effect = { step: "removeAlert", occurrence: this.#alertOccurrence };
    const { processId, before } = alert;
    try {
      const call = { effect, mode: "quick" as const, account: this.#account, processId, before };
      const { isLeft = false } = await removeAlert(call);
      if (!isLeft) return;
    } catch (error) {
      if (!(error instanceof ActivityFailure)) throw error;
    }
    this.flow.log.note("The alert addresses may still be registered");
  }

  #call() {
    const { idConference } = this.#input;
    const { eventId } = this.flow.log.snapshot ?? {};
    return { account: this.#account, idConference, eventId };
  }

  result(): VerifyIdentityResult {
    const { log, status } = this.flow;
    return {
      ...this.flow.result("verifyIdentity"),
      outcome: status.outcome as VerifyIdentityResult["outcome"],
      providerOutcome: log.view.providerOutcome,
      dates: { endedAt: this.#endedAt },
      auditDeleted: this.#isAuditDeleted,
    };
  }
}
