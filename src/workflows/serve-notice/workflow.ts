// A certified notice, and certified post to the same person if the notice is not served by a deadline: two processes, one outcome and
// both evidences in one result (P2 §2.1–2.7, §3.1, §3.2; docs/decisions/0031).
import { CancellationScope, condition } from "@temporalio/workflow";
import type { PreparedNotice, PreparedPost } from "../../activities/serve-notice/index.js";
import { cancelServing } from "../../contracts/serve-notice/messages.js";
import type { ServeCancelAnswer } from "../../contracts/serve-notice/messages.js";
import { serveChildren } from "../../contracts/serve-notice/states.js";
import type {
  ServeDates,
  ServeNoticeInput,
  ServeNoticeOutcome,
  ServeNoticeResult,
} from "../../contracts/serve-notice/contract.js";
import type { LookedAt, LookedAtFailure } from "../../contracts/shared/process-look.js";
import type { ChildStatus, References } from "../../contracts/shared/status.js";
import { answerTo } from "../runtime/activity-errors.js";
import { databaseProxy } from "../runtime/activity-options.js";
import type { Decided } from "../runtime/attention.js";
import { onUnsignedCancel } from "../runtime/cancellation.js";
import { dateOf, now, secondsAfter, secondsFromNow, Timer } from "../runtime/clock.js";
import { decidedBy } from "../runtime/decisions.js";
import type { ProvenPerson } from "../runtime/decisions.js";
import { Flow, run } from "../runtime/flow.js";
import { plainView } from "../runtime/event-log.js";
import { runConcurrently } from "../runtime/run-concurrently.js";
import { isWaived, queryStep, stepsOf } from "../runtime/steps.js";
import { Child } from "../runtime/child.js";
import { mismatchIn, refusalOf } from "./failures.js";
import { lineOf, noticeStanding, outcomeOf, referencesIn, seenIn, shownOf } from "./view.js";

const { withdraw } = databaseProxy("Withdraw the post before it is sent");

export async function serveNotice(input: ServeNoticeInput): Promise<ServeNoticeResult> {
  return run(new ServeNotice(input));
}

type Part = "notice" | "post";

class ServeNotice {
  readonly #input: ServeNoticeInput;
  readonly flow = new Flow(plainView);
  readonly #atNotice = stepsOf(this.flow, "evi-notice");
  readonly #atPost = stepsOf(this.flow, "evi-post");
  readonly #children: { notice: Child<"sendNotice">; post: Child<"sendPostal"> };
  /** Parts that an operator let the process go on without. */
  readonly #givenUp = new Set<Part>();
  readonly #dates: ServeDates = {};
  #isPostCancelled = false;
  #servedWhen: PreparedNotice["servedWhen"] = "read";
  #deadline: Date | undefined;

  constructor(input: ServeNoticeInput) {
    this.#input = input;
    const { lifecycle, status } = this.flow;
    const [notice, post] = serveChildren;
    this.#children = {
      notice: new Child({
        process: notice.process,
        id: `${status.id}${notice.suffix}`,
        title: "Certified notice",
        label: "the notice",
      }),
      post: new Child({
        process: post.process,
        id: `${status.id}${post.suffix}`,
        title: "Certified post",
        label: "the post",
      }),
    };
    status.ownStatus = {
      members: () => (this.#shown.length > 0 ? { children: this.#shown } : {}),
      lines: () => this.#shown.map((one) => [`${one.process}/${one.id}`, lineOf(one)]),
    };
    lifecycle.onDecision(cancelServing, "Start no post", [], (_, who) => this.#cancel(who));
    onUnsignedCancel(this.flow, cancelServing.name, () => this.#cancel());
  }

  async main(): Promise<void> {
    const { lifecycle, status } = this.flow;
    const prepared = await this.#prepare();
    if (lifecycle.stopped) throw lifecycle.stopped;
    await this.#startNotice(prepared);
    await runConcurrently(
      [() => this.#follow("notice", prepared), () => this.#sendPostIfUnserved(prepared)],
      2,
    );
    const { notice, post } = this.#children;
    status.ownOutcome = outcomeOf(
      this.#dates.noticeServedAt !== undefined,
      seenIn(notice.found),
      post.isStarted ? seenIn(post.found) : undefined,
    );
  }

  /** Both, before any effect: a wrong letter is refused today, and not at the deadline. */
  async #prepare(): Promise<Prepared> {
    const input: unknown = this.#input;
    const notice = await this.#atNotice(
      queryStep("prepareNotice", "Check the notice"),
      (evi, { mode }) => evi.prepareNotice({ input, mode }),
    );
    const post = await this.#atPost(queryStep("preparePost", "Check the post"), (evi, { mode }) =>
      evi.preparePost({ input, mode }),
    );
    return { notice, post };
  }

  /** Starts or joins it. A post that is there is of an earlier run under this id, and is followed as that run would have done. */
  async #startNotice(prepared: Prepared): Promise<void> {
    const { lifecycle, status, log } = this.flow;
    const { notice, post } = this.#children;
    const { servedWhen, settings } = prepared.notice;
    // From here on there is something to follow to its end.
    lifecycle.stopping = undefined;
    status.identify(prepared.notice);
    this.#servedWhen = servedWhen;
    await this.#start("notice", prepared);
    const found = await this.#lookAtNotice();
    const startedAt = found.run === "missing" ? now() : dateOf(found.startedAt);
    this.#deadline = secondsAfter(startedAt, settings.deadlineSeconds);
    log.note("Notice started", notice.workflowId);
    status.effectExists("tracking", this.#references, this.#deadline);
    const earlier = await post.lookNow();
    if (earlier.run !== "missing") this.#dates.escalatedAt = earlier.startedAt;
    this.#changed();
  }

  async #sendPostIfUnserved(prepared: Prepared): Promise<void> {
    const { log, status } = this.flow;
    if (this.#dates.escalatedAt === undefined) {
      const why = await this.#whyPost();
      if (why === undefined) return;
      this.#dates.escalatedAt = now().toISOString();
      log.note(`The post goes out: ${why}`);
    }
    await this.#start("post", prepared);
    const { workflowId } = this.#children.post;
    log.note("Post started", workflowId);
    const deadline = secondsFromNow(prepared.post.deadlineSeconds);
    status.effectExists("tracking", this.#references, deadline);
    this.#changed();
    await this.#follow("post", prepared);
  }

  /** Returns undefined if no post is needed, or none is wanted any more. */
  async #whyPost(): Promise<string | undefined> {
    const timer = new Timer(this.#deadline ?? now(), "Time limit for the notice to be served");
    const isOver = () => seenIn(this.#children.notice.found).isEnded;
    await condition(() => timer.isOver || this.#isDecided || isOver());
    timer.cancel();
    const isLate = !this.#isDecided;
    if (isLate) await this.#askProvider();
    if (this.#isPostCancelled || this.#standing === "served") return undefined;
    // The notice was refused before it went out: the process ends with that, and nothing follows.
    if (this.#isRefused) return undefined;
    return isLate ? "the notice was not served in time" : "the notice was not served";
  }

  /**
   * The known state of the notice may be as old as its poll: the provider's answer at a deadline decides, ours or the notice's own. The
   * child is not looked at: if it were stuck, the letter would wait for it.
   */
  async #askProvider(): Promise<void> {
    const { account } = this.flow.status;
    const { uniqueId } = referencesIn(this.#children.notice.found);
    if (uniqueId === undefined) return;
    const summary = "Query EviNotice before the post goes out";
    const step = queryStep("readNotice", summary, { happened: {} });
    const read = async () => {
      const answer = await this.#atNotice(step, (evi, { mode }) =>
        evi.readNotice({ account, uniqueId, mode }),
      );
      const standing = noticeStanding({ ...answer, isEnded: false }, this.#servedWhen);
      if (standing === "served") this.#served();
    };
    await this.#untilDecided(() => isWaived(read));
  }

  /** Whatever `work` waits for, the look at the notice or a cancellation may decide first. */
  async #untilDecided(work: () => Promise<unknown>): Promise<void> {
    const scope = new CancellationScope();
    const ends = [work, () => condition(() => this.#isDecided)].map((end) => scope.run(end));
    for (const end of ends) end.catch(() => undefined);
    try {
      await Promise.race(ends);
    } finally {
      scope.cancel();
    }
  }

  /** Follows a child until it has ended, or an operator lets the process go on without it. */
  async #follow(part: Part, prepared: Prepared): Promise<void> {
    for (;;) {
      const failure = await this.#endOf(part);
      if (failure === undefined) return;
      const refusal = part === "notice" ? refusalOf(failure, this.#wasNoticeSent) : undefined;
      if (refusal && this.#dates.escalatedAt === undefined) throw refusal;
      // No notice went out, and the post did: it is followed, and nothing is left to decide.
      if (refusal) return this.#goOnWithout(part);
      const decided = await this.#ask(part, failure);
      if (decided.decision === "abandon") {
        const { effect = "unknown" } = failure;
        throw this.flow.lifecycle.abandoned(part, { ...decided, effect });
      }
      if (decided.decision === "happened") return this.#goOnWithout(part);
      await this.#start(part, prepared);
    }
  }

  #start(part: Part, prepared: Prepared): Promise<void> {
    const { lookIntervalSeconds } = prepared.notice.settings;
    const { notice, post } = this.#children;
    return part === "notice"
      ? notice.start({ ...prepared.notice, lookIntervalSeconds })
      : post.start({ ...prepared.post, lookIntervalSeconds });
  }

  #goOnWithout(part: Part): void {
    this.#givenUp.add(part);
    this.flow.log.note(`Goes on without the ${part}`);
    this.#changed();
  }

  /** Returns undefined once the child has a result. */
  async #endOf(part: Part): Promise<LookedAtFailure | undefined> {
    const child = this.#children[part];
    try {
      await child.follow(() => this.#changed());
    } catch (error) {
      return mismatchIn(error);
    }
    const { found } = child;
    if (found?.run === "completed") return undefined;
    if (found?.run === "failed") return found.failure;
    return { type: "Missing", message: "Temporal has no such process", fields: [] };
  }

  /** Another input under the id of the notice ends the process. */
  async #lookAtNotice(): Promise<LookedAt> {
    try {
      return await this.#children.notice.lookNow();
    } catch (error) {
      throw refusalOf(mismatchIn(error)) ?? error;
    }
  }

  /** A child that ended without a result: only a person knows whether it shall go on. */
  #ask(part: Part, { type, message }: LookedAtFailure): Promise<Decided> {
    const step = { name: part, journaled: false, happened: {} };
    const { workflowId } = this.#children[part];
    const reason = `${workflowId} ended without a result (${type}: ${message})`;
    return this.flow.attentions.ask({ step, kind: "protocol", reason }, (decided) => decided);
  }

  /**
   * No post is sent any more, by a later run under this id neither: its row in the journal says so. What was started is not cancelled
   * with it: a decision is for one process (docs/design.md §6), and the answer names the one whose own `cancel` may be in time.
   */
  async #cancel(who: ProvenPerson = {}): Promise<ServeCancelAnswer> {
    const { lifecycle, log, status } = this.flow;
    const { notice, post } = this.#children;
    const note = (answer: string) => log.add(decidedBy(who, `Cancel: ${answer}`));
    const tooLate = (): ServeCancelAnswer => {
      note("tooLate");
      return { answer: "tooLate", child: post.workflowId };
    };
    if (this.#dates.escalatedAt !== undefined) return tooLate();
    const known = await answerTo(() =>
      Promise.all([
        withdraw({ step: "submit", of: post.workflowId }),
        notice.isStarted || notice.isThere(status.account),
      ]),
    );
    if ("answer" in known) return { answer: "unavailable" };
    const [withdrawal, isNoticeOut] = known;
    if (withdrawal !== "withdrawn") return tooLate();
    note("cancelled");
    this.#isPostCancelled = true;
    if (!isNoticeOut && !notice.isStarted) lifecycle.withdraw();
    return { answer: "cancelled" };
  }

  #changed(): void {
    const { status } = this.flow;
    if (this.#standing === "served") this.#served();
    const references = this.#references;
    if (Object.keys(references).length !== Object.keys(status.references).length)
      status.effectExists("tracking", references, status.deadline);
    this.#showWait();
  }

  #served(): void {
    if (this.#dates.noticeServedAt !== undefined) return;
    this.#dates.noticeServedAt = now().toISOString();
    this.flow.log.note("The notice is served");
  }

  #showWait(): void {
    const { status } = this.flow;
    const asking = this.#shown.find(({ attention }) => attention);
    const open = this.#parts.filter(
      (part) => !this.#givenUp.has(part) && !seenIn(this.#children[part].found).isEnded,
    );
    if (asking) status.waitFor(`an operator decision at ${asking.process}/${asking.id}`);
    else if (this.#standing === "open" && this.#dates.escalatedAt === undefined)
      status.waitFor("the notice to be served", this.#isPostCancelled ? undefined : this.#deadline);
    else status.waitFor(open.length > 0 ? `the end of the ${open.join(" and the ")}` : undefined);
  }

  get #parts(): Part[] {
    return (["notice", "post"] as const).filter((part) => this.#children[part].isStarted);
  }

  /** Served once is served: the provider has confirmed that state. */
  get #standing(): "served" | "unserved" | "open" {
    if (this.#dates.noticeServedAt !== undefined) return "served";
    const seen = seenIn(this.#children.notice.found);
    const isEnded = seen.isEnded || this.#givenUp.has("notice");
    return noticeStanding({ ...seen, isEnded }, this.#servedWhen);
  }

  /** Nothing is left to wait for before the post is sent or not. */
  get #isDecided(): boolean {
    return this.#isPostCancelled || this.#standing !== "open";
  }

  get #isRefused(): boolean {
    const { found } = this.#children.notice;
    return found?.run === "failed" && refusalOf(found.failure, this.#wasNoticeSent) !== undefined;
  }

  get #wasNoticeSent(): boolean {
    return this.flow.status.references["noticeUniqueId"] !== undefined;
  }

  /** The provider's ids: of a notice and a letter they have the same name. */
  get #references(): References {
    const found = this.#parts.flatMap((part) => {
      const { uniqueId } = referencesIn(this.#children[part].found);
      return uniqueId === undefined ? [] : [[`${part}UniqueId`, uniqueId] as const];
    });
    return { ...this.flow.status.references, ...Object.fromEntries(found) };
  }

  get #shown(): ChildStatus[] {
    return this.#parts.map((part) => shownOf(this.#children[part]));
  }

  result(): ServeNoticeResult {
    const {
      notice: { result: notice },
      post: { result: post },
    } = this.#children;
    return {
      ...this.flow.result("serveNotice"),
      outcome: this.flow.status.ownOutcome as ServeNoticeOutcome,
      dates: this.#dates,
      documents: [...(notice?.documents ?? []), ...(post?.documents ?? [])],
      notice,
      post,
    };
  }
}

interface Prepared {
  notice: PreparedNotice;
  post: PreparedPost;
}
