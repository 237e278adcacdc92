// Every way through a process, each walked on the real stack: what replay records, what runs without a cache, and what the
// canaries are looked for in. A new process adds its paths, never a harness.
import { expect } from "@jest/globals";
import { workflowTaskQueue } from "../../src/contracts/names.js";
import type { ProcessName } from "../../src/contracts/names.js";
import type { SendPostalInput, PostalHandle } from "../../src/client.js";
import type { FaultOptions } from "../../src/sandbox/faults.js";
import { fastSettings, letterInput } from "./letters.js";
import { statusWhere } from "./stack.js";
import type { TestStack } from "./stack.js";

/** Who writes the letters of a walk, and what persons write into it. */
export interface Author {
  /** By which the sandbox's faults know the process with this id. */
  intent(id: string): string;
  letter(id: string, words: string, more: Partial<SendPostalInput>): SendPostalInput;
  /** What a person says: a name, a note. */
  words(of: string): string;
}

export const plainAuthor: Author = {
  intent: (id) => id,
  letter: letterInput,
  words: (of) => of,
};

export interface Walk {
  system: TestStack;
  author: Author;
  /** The path's name; also the account of a path that is denied. */
  id: string;
  /** Of every account. */
  password: string;
}

/** Walks to its end, and checks that it is the one that the name says. */
export type Path = (walk: Walk) => Promise<void>;

export interface PathsOf {
  process: ProcessName;
  /** Paths that need an account of their own, because a fault hits all of it. */
  accounts: string[];
  paths: Record<string, Path>;
}

const advanced = { certificationLevel: "Advanced" } as const;
const onDemand = { ...advanced, affidavitsOnDemandEnabled: true } as const;

function begin(walk: Walk, words: string, more: Partial<SendPostalInput> = {}) {
  const options = { ...advanced, ...more.options };
  const input = walk.author.letter(walk.id, words, { ...more, options });
  return walk.system.client.sendPostal(walk.id, input);
}

async function tracked(walk: Walk, words: string, more: Partial<SendPostalInput> = {}) {
  const handle = await begin(walk, words, more);
  await statusWhere(handle, ({ phase }) => phase === "tracking");
  return handle;
}

async function ends(handle: PostalHandle, outcome: string): Promise<void> {
  expect((await handle.result()).outcome).toBe(outcome);
}

const through =
  (words: string, outcome: string, more: Partial<SendPostalInput> = {}): Path =>
  async (walk) =>
    ends(await begin(walk, words, more), outcome);

/** The process's own account has the wrong password until that is mended. */
async function denied(walk: Walk) {
  const { system, id: account, password } = walk;
  await system.sandbox.putAccount(account, { password: "changed" });
  const handle = await begin(walk, "delivered", { account });
  await attentionOf(handle, "accessDenied");
  return { handle, mend: () => system.sandbox.putAccount(account, { password }) };
}

/** The questions of the process's own account are refused until that is mended. */
async function unreadable({ system, id: account }: Walk) {
  const refused = { operation: "evi-post.query", kind: "reject", status: 400, times: "always" };
  const { id: rule } = await system.sandbox.addFault({ ...refused, account } as FaultOptions);
  return () => system.sandbox.removeFault(rule);
}

async function attentionOf(handle: PostalHandle, kind: string): Promise<string> {
  const { attention } = await statusWhere(handle, (status) => status.attention?.kind === kind);
  return attention?.id ?? "";
}

/** Nobody knows whether the letter was taken: the answer was lost and the question is refused. */
async function uncertain(walk: Walk, words: string) {
  const mend = await unreadable(walk);
  const handle = await begin(walk, words, { account: walk.id });
  const attention = await attentionOf(handle, "protocol");
  const by = walk.author.words("name");
  const note = walk.author.words("note");
  return { handle, mend, decided: { attention, by, note } };
}

const temporalHandle = ({ system, id }: Walk) =>
  system.client.temporal.workflow.getHandle(`sendPostal/${id}`);

/** The input as a plain Temporal client may send it: nobody has looked at it. */
async function plainly(walk: Walk, input: unknown) {
  return walk.system.client.temporal.workflow.start("sendPostal", {
    workflowId: `sendPostal/${walk.id}`,
    taskQueue: workflowTaskQueue,
    args: [input],
  });
}

export const sendPostalPaths: PathsOf = {
  process: "sendPostal",
  accounts: [
    "cancelled-before-submit",
    "attention-mended",
    "attention-retry",
    "attention-happened",
    "attention-abandoned",
    "attention-at-question",
    "affidavits-waived",
    "still-in-attention",
  ],
  paths: {
    delivered: through("delivered", "delivered"),
    undelivered: through("undelivered", "undelivered"),
    "callbacks-doubled": through("delivered,callbacks-doubled", "delivered"),
    "callbacks-lost": through("delivered,callbacks-lost", "delivered"),
    "submit-unanswered": through("delivered,submit=cut-after-commit", "delivered"),
    "affidavit-regenerated": through("delivered,affidavit-regenerated", "delivered", {
      settings: { ...fastSettings, affidavitWindowSeconds: 10 },
    }),
    "no-affidavit-window": through("delivered", "delivered", {
      settings: { ...fastSettings, pollIntervalSeconds: 60, affidavitWindowSeconds: 0 },
    }),

    async "cancelled-in-time"(walk) {
      const handle = await tracked(walk, "cancellable");
      expect(await handle.cancel()).toEqual({ answer: "cancelled" });
      await ends(handle, "cancelled");
    },
    async "cancelled-unclosed"(walk) {
      const handle = await tracked(walk, "cancellable,unclosed");
      expect(await handle.cancel()).toEqual({ answer: "cancelled" });
      await ends(handle, "cancelled");
    },
    async "cancelled-in-web-ui"(walk) {
      const handle = await tracked(walk, "cancellable");
      await temporalHandle(walk).cancel();
      await ends(handle, "cancelled");
    },
    async "cancelled-before-submit"(walk) {
      const { handle, mend } = await denied(walk);
      expect(await handle.cancel()).toEqual({ answer: "cancelled" });
      await ends(handle, "cancelledBeforeSubmit");
      await mend();
    },
    async "cancelled-while-submitting"(walk) {
      const handle = await begin(walk, "cancellable,submit=slow-answer-5000");
      await submitsSeen(walk);
      expect(await handle.cancel()).toEqual({ answer: "pending" });
      await ends(handle, "cancelled");
    },
    async "cancelled-too-late"(walk) {
      const settings = { ...fastSettings, deadlineSeconds: 8 };
      const handle = await begin(walk, "open", { settings });
      await statusWhere(handle, ({ reportedState }) => reportedState === "Sent");
      expect(await handle.cancel()).toEqual({ answer: "tooLate" });
      await ends(handle, "openAtDeadline");
    },

    async "attention-mended"(walk) {
      const { handle, mend } = await denied(walk);
      await mend();
      await ends(handle, "delivered");
    },
    async "attention-retry"(walk) {
      const { handle, mend, decided } = await uncertain(walk, "delivered,submit=cut");
      const answer = await handle.resolve({ ...decided, decision: "retry" });
      expect(answer).toEqual({ answer: "resolved" });
      await mend();
      await ends(handle, "delivered");
    },
    async "attention-happened"(walk) {
      const { handle, mend, decided } = await uncertain(walk, "delivered,submit=cut-after-commit");
      const { items } = await walk.system.sandbox.items({ intent: walk.author.intent(walk.id) });
      const result = { uniqueId: items[0]?.id ?? "" };
      const answer = await handle.resolve({ ...decided, decision: "happened", result });
      expect(answer).toEqual({ answer: "resolved" });
      await mend();
      await ends(handle, "delivered");
    },
    async "attention-abandoned"(walk) {
      const { handle, mend, decided } = await uncertain(walk, "delivered,submit=cut");
      await handle.resolve({ ...decided, decision: "abandon" });
      await expect(handle.result()).rejects.toMatchObject({ details: { effect: "unknown" } });
      await mend();
    },
    async "attention-at-question"(walk) {
      const mend = await unreadable(walk);
      const handle = await begin(walk, "delivered", { account: walk.id });
      const attention = await attentionOf(handle, "protocol");
      await mend();
      const [by, note] = [walk.author.words("name"), walk.author.words("note")];
      await handle.resolve({ attention, decision: "retry", by, note }).catch(() => undefined);
      await ends(handle, "delivered");
    },

    async "affidavit-on-demand"(walk) {
      const handle = await tracked(walk, "delivered", { options: onDemand });
      const answer = await handle.requestAffidavit({ includeDocument: true });
      expect(answer).toMatchObject({ answer: "requested" });
      await ends(handle, "delivered");
    },
    async "affidavit-unanswered"(walk) {
      const words = "delivered,affidavitRequest=cut-after-commit";
      const handle = await tracked(walk, words, { options: onDemand });
      expect(await handle.requestAffidavit()).toEqual({ answer: "unknown" });
      await ends(handle, "delivered");
    },

    async "affidavits-waived"(walk) {
      const settings = { ...fastSettings, affidavitWindowSeconds: 6 };
      const handle = await begin(walk, "delivered", { account: walk.id, settings });
      await statusWhere(handle, ({ phase }) => phase === "affidavits");
      const mend = await unreadable(walk);
      const attention = await attentionOf(handle, "protocol");
      const [by, note] = [walk.author.words("name"), walk.author.words("note")];
      const decision = { attention, decision: "happened", by, note } as const;
      expect(await handle.resolve(decision)).toEqual({ answer: "resolved" });
      await ends(handle, "delivered");
      await mend();
    },

    async "not-accepted"(walk) {
      const options = { certificationLevel: walk.author.words("level") };
      const handle = await begin(walk, "delivered", { options });
      await expect(handle.result()).rejects.toMatchObject({ provider: "evi-post" });
    },
    async "invalid-input"(walk) {
      const { recipientAddress: _, ...bad } = walk.author.letter(walk.id, "delivered", {});
      const unheard = { [walk.author.words("key")]: walk.author.words("value") };
      const handle = await plainly(walk, { ...bad, ...unheard });
      await expect(handle.result()).rejects.toMatchObject({ cause: { type: "InvalidInput" } });
    },
    async "unknown-account"(walk) {
      const input = walk.author.letter(walk.id, "delivered", {});
      const handle = await plainly(walk, { ...input, account: walk.author.words("account") });
      await expect(handle.result()).rejects.toMatchObject({ cause: { type: "InvalidInput" } });
    },
    async "input-mismatch"(walk) {
      await tracked(walk, "cancellable");
      await temporalHandle(walk).terminate();
      const handle = await begin(walk, "cancellable", {
        issuerComments: walk.author.words("other"),
      });
      await expect(handle.result()).rejects.toThrow(/another input/);
    },

    async terminated(walk) {
      await tracked(walk, "cancellable");
      await temporalHandle(walk).terminate();
    },
    async "taken-up-again"(walk) {
      await tracked(walk, "delivered");
      await temporalHandle(walk).terminate();
      await ends(await begin(walk, "delivered"), "delivered");
    },
    async "still-open"(walk) {
      await tracked(walk, "open");
    },
    async "still-in-attention"(walk) {
      await denied(walk);
    },
  },
};

/** Waits until the sandbox has a letter of this process, although nobody was answered yet. */
async function submitsSeen({ system, author, id }: Walk): Promise<void> {
  const intent = author.intent(id);
  for (const end = Date.now() + 20_000; Date.now() < end;) {
    if ((await system.sandbox.items({ intent })).total > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`no submit of ${intent} came`);
}
