// A notice and the post that follows it, with two children that the test plays (docs/decisions/0031).
import { describe, expect, test } from "vitest";
import type { LookAnswer, LookRequest } from "../../../src/activities/runtime/look.js";
import type { LookedAt, LookedAtFailure } from "../../../src/contracts/shared/process-look.js";
import {
  ServeNoticeResult,
  ServeNoticeStatus,
} from "../../../src/contracts/serve-notice/contract.js";
import type { ServeNoticeInput } from "../../../src/contracts/serve-notice/contract.js";
import { serveNotice } from "../../../src/workflows/serve-notice/workflow.js";
import { trackedStatus } from "../../harness/stack/tracked-status.js";
import { decisions, document, place } from "../plans.js";
import { WorkflowRun } from "../workflow-run.js";

const DEADLINE = 1_000;
const noticeId = "sendNotice/test.notice";
const postId = "sendPostal/test.post";
const startedAt = "2026-01-01T00:00:00.000Z";

const prepared = { ...place, input: { subject: "s" }, digest: "d" };
const good = {
  prepareNotice: () => ({
    ...prepared,
    servedWhen: "read",
    settings: { deadlineSeconds: DEADLINE, lookIntervalSeconds: 10 },
  }),
  preparePost: () => ({ ...prepared, input: { letter: 1 }, deadlineSeconds: 5_000 }),
  readNotice: () => ({ state: "Delivered" }),
  ...decisions,
  withdraw: () => "withdrawn",
};
type Fakes = Partial<Record<keyof typeof good, (() => unknown) | undefined>>;

const open = (state?: string, more: object = {}): LookedAt => ({
  run: "open",
  startedAt,
  status: trackedStatus("sendNotice", "test.notice", {
    references: { uniqueId: "u-1" },
    ...(state !== undefined && { state }),
    ...more,
  }),
});
/** The evidence of each, by its digest alone told apart. */
const evidenceOf = (processName: string) => ({
  kind: "affidavit" as const,
  document: { ...document, sha256: (processName === "sendNotice" ? "a" : "b").repeat(64) },
});
const ended = (processName: string, outcome: string): LookedAt => ({
  run: "completed",
  startedAt,
  result: {
    process: processName,
    id: processName === "sendNotice" ? "test.notice" : "test.post",
    outcome,
    references: { uniqueId: processName === "sendNotice" ? "u-1" : "u-2" },
    dates: {},
    documents: [evidenceOf(processName)],
  },
});
const failed = (type: string, more: Partial<LookedAtFailure> = {}): LookedAt => ({
  run: "failed",
  startedAt: "2026-01-02T00:00:00.000Z",
  failure: { type, message: "said", fields: [], ...more },
});

/** The two processes as a look shows them; a look that waits for a change is answered when there is one. */
class Served {
  readonly #shown: Record<string, LookedAt> = {};
  readonly run: WorkflowRun;

  private constructor(run: WorkflowRun, shown: Record<string, LookedAt>) {
    this.run = run;
    Object.assign(this.#shown, shown);
  }

  static async start(
    fakes: Fakes = {},
    shown: Record<string, LookedAt> = {},
    existing: string[] = Object.keys(shown),
  ): Promise<Served> {
    const run = await WorkflowRun.start(
      () => serveNotice({} as ServeNoticeInput),
      { ...good, ...fakes },
      "serveNotice",
      existing,
    );
    const served = new Served(run, shown);
    await served.answer();
    return served;
  }

  async see(workflowId: string, found: LookedAt): Promise<void> {
    this.#shown[workflowId] = found;
    await this.answer();
  }

  async pass(seconds: number): Promise<void> {
    await this.run.pass(seconds);
    await this.answer();
  }

  /** Answers looks until none is left that has an answer. */
  async answer(): Promise<void> {
    for (;;) {
      const due = this.run.open.find(({ type, input }) => {
        const { wait, seen } = input as LookRequest;
        return type === "lookAt" && (wait === "now" || this.#answerTo(input).fingerprint !== seen);
      });
      if (!due) return;
      const { workflowId, digest } = due.input as LookRequest;
      const isOther = digest !== undefined && this.#shown[workflowId] === otherInput;
      if (isOther) await due.fail({ kind: "InputMismatch" });
      else await due.answer(this.#answerTo(due.input));
    }
  }

  /** A child that was started is open; one that was not is missing. */
  #answerTo({ workflowId }: LookRequest): LookAnswer {
    const isStarted = this.run.children.some((child) => child.workflowId === workflowId);
    const unread: LookedAt = isStarted ? open(undefined, { references: {} }) : { run: "missing" };
    const found = this.#shown[workflowId] ?? unread;
    return { fingerprint: JSON.stringify(found), found };
  }

  async status(): Promise<ServeNoticeStatus> {
    return ServeNoticeStatus.parse(await this.run.status());
  }

  get started(): string[] {
    return this.run.children.map(({ workflowId }) => workflowId);
  }

  get result(): ServeNoticeResult {
    return ServeNoticeResult.parse(this.run.result);
  }

  async decide(decision: string): Promise<void> {
    await this.run.resolve(decision);
    await this.answer();
  }

  /** The answer to a cancellation. */
  async cancel(person: object = {}): Promise<unknown> {
    const update = await this.run.update("cancel", person);
    await this.answer();
    return update.answer;
  }
}

/** At the deadline the provider does not say how the notice stands. */
async function unreadAtDeadline(kind: "protocol" | "unavailable"): Promise<Served> {
  const served = await Served.start({ readNotice: undefined });
  await served.see(noticeId, open("Sent"));
  await served.pass(DEADLINE);
  await served.run.openCall("readNotice").fail({ kind });
  return served;
}

/** A process under the id that was started with another input. */
const otherInput = open("Sent");

describe("a notice that is served", () => {
  test("ends the process with its result, and no post is started", async () => {
    const served = await Served.start();
    expect(served.started).toEqual([noticeId]);
    await served.see(noticeId, open("Read"));
    await served.pass(DEADLINE * 2);
    expect(served.started).toEqual([noticeId]);
    await served.see(noticeId, ended("sendNotice", "read"));
    expect(served.result).toMatchObject({
      outcome: "servedByNotice",
      references: { noticeUniqueId: "u-1" },
      notice: { outcome: "read" },
    });
    expect(served.result.dates.noticeServedAt).toBeDefined();
    expect(served.result.post).toBeUndefined();
  });

  test("is started so that it outlives its parent, under an id that a finished process keeps", async () => {
    const { run } = await Served.start();
    // ABANDON, ALLOW_DUPLICATE_FAILED_ONLY, ABANDON.
    expect(run.children).toMatchObject([
      { type: "sendNotice", parentClosePolicy: 2, workflowIdReusePolicy: 2, cancellationType: 0 },
    ]);
    expect(run.children[0]?.input).toEqual(prepared.input);
  });
});

describe("a notice that is not served", () => {
  test("is followed by a post, and the result has both evidences", async () => {
    const served = await Served.start();
    await served.see(noticeId, ended("sendNotice", "refused"));
    await served.see(postId, ended("sendPostal", "delivered"));
    expect(served.result).toMatchObject({
      outcome: "servedByPost",
      notice: { outcome: "refused" },
      post: { outcome: "delivered" },
      references: { noticeUniqueId: "u-1", postUniqueId: "u-2" },
      documents: [evidenceOf("sendNotice"), evidenceOf("sendPostal")],
    });
    expect(served.result.dates.escalatedAt).toBeDefined();
  });

  test("a notice that answers no look holds no letter back: the provider is asked", async () => {
    const served = await Served.start();
    await served.see(noticeId, open("Delivered"));
    await served.run.pass(DEADLINE);
    expect(served.run.types).toContain("readNotice");
    expect(served.started).toEqual([noticeId, postId]);
  });

  test.each([
    ["Read", "servedByNotice", [noticeId]],
    ["Delivered", "servedByPost", [noticeId, postId]],
  ])(
    "a notice that is open at its own deadline is asked about: %s is %s",
    async (state, outcome, started) => {
      const served = await Served.start({ readNotice: () => ({ state }) });
      await served.see(noticeId, ended("sendNotice", "openAtDeadline"));
      expect(served.started).toEqual(started);
      if (started.includes(postId)) await served.see(postId, ended("sendPostal", "delivered"));
      expect(served.result.outcome).toBe(outcome);
    },
  );

  test("the query at the deadline raises attention where it fails, and a person may go on without it", async () => {
    const served = await unreadAtDeadline("protocol");
    expect(served.started).toEqual([noticeId]);
    await served.decide("happened");
    expect(served.started).toEqual([noticeId, postId]);
  });
});

test("the query at the deadline ends where a look shows the notice as served", async () => {
  const served = await unreadAtDeadline("unavailable");
  await served.see(noticeId, open("Read"));
  expect((await served.status()).attention).toBeUndefined();
  expect(served.started).toEqual([noticeId]);
});

test("the event of an end makes the process look at once, and proves nothing", async () => {
  const served = await Served.start();
  const before = served.run.callsOf("lookAt").length;
  await served.run.children[0]?.end();
  await served.answer();
  expect(served.run.callsOf("lookAt")).toHaveLength(before + 1);
  expect(served.run.result).toBeUndefined();
});

test("a look that fails says nothing about the process, and is repeated", async () => {
  const served = await Served.start();
  await served.run.openCall("lookAt").fail({ kind: "unavailable", code: "UnknownKeyError" });
  expect(served.run.failure).toBeUndefined();
  await served.pass(10);
  await served.see(noticeId, ended("sendNotice", "read"));
  expect(served.result.outcome).toBe("servedByNotice");
});

describe("before the notice goes out", () => {
  test("a wrong letter fails the process, and nothing is started", async () => {
    const fields = [{ path: "post.document", problem: "is not a PDF" }];
    const preparePost = () => {
      throw { kind: "InvalidInput", fields };
    };
    const { run } = await Served.start({ preparePost });
    expect(run.failure).toMatchObject({ type: "InvalidInput", details: [{ fields }] });
    expect(run.children).toEqual([]);
  });

  test("a cancellation ends the process", async () => {
    const served = await Served.start({ prepareNotice: undefined });
    expect(await served.cancel()).toEqual({ answer: "cancelled" });
    expect(served.result.outcome).toBe("cancelledBeforeSubmit");
    expect(served.started).toEqual([]);
  });

  test("a cancellation leaves the notice of an earlier run to be followed", async () => {
    const fakes = { prepareNotice: undefined };
    const served = await Served.start(fakes, { [noticeId]: open("Sent") });
    expect(await served.cancel()).toEqual({ answer: "cancelled" });
    expect(served.run.result).toBeUndefined();
  });

  test("a cancellation is too late where an earlier run has sent the post", async () => {
    const fakes = { prepareNotice: undefined, withdraw: () => "answered" };
    const shown = { [postId]: open("Sent"), [noticeId]: open("Sent") };
    const served = await Served.start(fakes, shown);
    expect(await served.cancel()).toEqual({ answer: "tooLate", child: postId });
    expect(served.run.result).toBeUndefined();
  });
});

describe("a cancellation", () => {
  test("before the escalation: the notice is followed to its end, and no post is started", async () => {
    const served = await Served.start();
    expect(await served.cancel({ by: "Ann", note: "paid" })).toEqual({ answer: "cancelled" });
    await served.pass(DEADLINE * 2);
    expect(served.started).toEqual([noticeId]);
    await served.see(noticeId, ended("sendNotice", "refused"));
    expect(served.result.outcome).toBe("notServed");
    expect(served.result.timeline).toContainEqual(
      expect.objectContaining({ source: "person", by: "Ann", note: "paid" }),
    );
    // So that no later run sends it.
    const withdrawn = served.run.callsOf("withdraw");
    expect(withdrawn.map(({ input }) => input)).toEqual([{ step: "submit", of: postId }]);
  });

  test("where the journal does not answer, nothing is cancelled", async () => {
    const withdraw = () => {
      throw { kind: "unavailable" };
    };
    const served = await Served.start({ withdraw });
    expect(await served.cancel()).toEqual({ answer: "unavailable" });
    await served.pass(DEADLINE);
    expect(served.started).toEqual([noticeId, postId]);
  });

  test("ends the query at the deadline, and its attention with it", async () => {
    const served = await unreadAtDeadline("unavailable");
    expect((await served.status()).attention).toMatchObject({ step: "readNotice" });
    expect(await served.cancel()).toEqual({ answer: "cancelled" });
    expect((await served.status()).attention).toBeUndefined();
    await served.see(noticeId, ended("sendNotice", "refused"));
    expect(served.result.outcome).toBe("notServed");
    expect(served.started).toEqual([noticeId]);
  });
});

describe("a child that fails", () => {
  test("a notice that is not accepted fails the process in the words of the whole input", async () => {
    const problem = "is too long";
    const fields = ["subject", "settings.pollIntervalSeconds", "account"].map((path) => ({
      path,
      problem,
    }));
    const served = await Served.start();
    const failure = { provider: "evi-notice", code: "400.1", fields };
    await served.see(noticeId, failed("NotAccepted", failure));
    expect(served.run.failure).toMatchObject({
      type: "NotAccepted",
      details: [
        {
          provider: "evi-notice",
          code: "400.1",
          fields: [
            { path: "notice.subject", problem },
            { path: "settings.notice.pollIntervalSeconds", problem },
            { path: "account", problem },
          ],
        },
      ],
    });
    expect(served.started).toEqual([noticeId]);
  });

  test("a notice that is not accepted after the escalation leaves the post to its end", async () => {
    const served = await Served.start();
    await served.pass(DEADLINE);
    await served.see(noticeId, failed("NotAccepted"));
    await served.see(postId, ended("sendPostal", "delivered"));
    expect(served.result.outcome).toBe("servedByPost");
    expect(served.result.notice).toBeUndefined();
  });

  test.each(["Abandoned", "Terminated", "InvalidInput"])(
    "a notice that was out and is %s asks a person, who starts it again",
    async (type) => {
      const served = await Served.start();
      await served.see(noticeId, open("Sent"));
      await served.see(noticeId, failed(type));
      const { attention } = await served.status();
      expect(attention).toMatchObject({ step: "notice", kind: "protocol" });
      await served.run.resolve("retry");
      await served.see(noticeId, open("Sent"));
      expect(served.started).toEqual([noticeId, noticeId]);
      expect((await served.status()).attention).toBeUndefined();
    },
  );

  test("undecided until the deadline, the post goes out all the same", async () => {
    const served = await Served.start();
    await served.see(noticeId, failed("Abandoned"));
    await served.pass(DEADLINE);
    expect(served.started).toEqual([noticeId, postId]);
  });

  test("abandoned at a step, the process says what exists", async () => {
    const served = await Served.start();
    await served.see(noticeId, open("Sent"));
    await served.see(noticeId, failed("Abandoned", { effect: "unknown" }));
    await served.decide("abandon");
    // The provider's id of the notice is known: it exists.
    const details = [{ effect: "exists" }];
    expect(served.run.failure).toMatchObject({ type: "Abandoned", details });
  });

  test.each(["NotAccepted", "Terminated"])(
    "a post that is %s asks a person; without it the process ends as notServed",
    async (type) => {
      const served = await Served.start();
      await served.see(noticeId, ended("sendNotice", "refused"));
      await served.see(postId, failed(type));
      expect((await served.status()).attention).toMatchObject({ step: "post" });
      await served.decide("happened");
      expect(served.result.outcome).toBe("notServed");
    },
  );
});

describe("a process that is there already", () => {
  test("a notice with the same input is joined, and its deadline began with it", async () => {
    const early = { ...open("Sent"), startedAt: "2025-12-31T23:50:00.000Z" };
    const served = await Served.start({}, { [noticeId]: early });
    expect(served.started).toEqual([]);
    await served.pass(DEADLINE - 601);
    expect(served.started).toEqual([]);
    await served.pass(1);
    expect(served.started).toEqual([postId]);
  });

  test("a notice that has ended is joined, and its result counts", async () => {
    const served = await Served.start({}, { [noticeId]: ended("sendNotice", "read") });
    expect(served.result.outcome).toBe("servedByNotice");
  });

  test("a post of an earlier run is followed as that run would", async () => {
    const shown = { [noticeId]: open("Sent"), [postId]: open("Sent") };
    const served = await Served.start({}, shown);
    await served.see(postId, ended("sendPostal", "delivered"));
    await served.see(noticeId, ended("sendNotice", "refused"));
    expect(served.result).toMatchObject({
      outcome: "servedByPost",
      dates: { escalatedAt: startedAt },
    });
  });

  test("a post with another input asks a person", async () => {
    const served = await Served.start({}, { [postId]: otherInput });
    expect((await served.status()).attention).toMatchObject({ step: "post" });
  });
});

test("the status shows both, and the decision that one of them waits for", async () => {
  const attention = {
    id: "submit-1",
    kind: "unavailable" as const,
    step: "submit",
    since: startedAt,
    reason: "no answer",
    decisions: ["retry" as const],
  };
  const served = await Served.start();
  await served.see(noticeId, open("Sent", { attention }));
  const status = await served.status();
  expect(status.attention).toBeUndefined();
  expect(status.waitingFor).toBe(`an operator decision at ${noticeId}`);
  expect(status.children).toEqual([
    {
      process: "sendNotice",
      id: "test.notice",
      state: "Sent",
      attention: { id: "submit-1", kind: "unavailable", reason: "no answer" },
    },
  ]);
});
