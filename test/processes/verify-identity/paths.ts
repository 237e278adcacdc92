// The ways through `verifyIdentity` whose histories differ (P1 §1.2, 2.7, 4.2, 5.2, 6.1; docs/reading-the-specification.md §0, §6).
import { expect } from "vitest";
import { InvalidInputError } from "../../../src/client.js";
import type { HandleOf, VerifyIdentityInput } from "../../../src/client.js";
import {
  attentionOf,
  cancels,
  changePassword,
  decide,
  decided,
  ends,
  isAbandoned,
  isAbandonedWith,
  mismatches,
  refusesInput,
  start,
  temporalHandle,
} from "../../harness/histories/path-run.js";
import type { PathRun, PathsOf, Writing } from "../../harness/histories/path-run.js";
import { eventually } from "../../harness/outages/wait.js";
import { callbackAddress } from "../../harness/stack/inbox.js";
import { statusWhere } from "../../harness/stack/stack.js";
import { conferenceOf, identityInput } from "./inputs.js";

type Handle = HandleOf<"verifyIdentity">;
type More = Partial<VerifyIdentityInput> & { words?: string };

const provider = "video-identification";
/** So that no poll happens unless a callback triggers it. */
const seldom = { pollIntervalSeconds: 3_600 };
const refusedAudit = "getAuditData:reject-400*";
const refusedDeletion = { words: "deleteAuditData:reject-400*", deleteAudit: true };
const noPointers = {
  [`${provider}.pointers.state`]: "none",
  [`${provider}.pointers.verdict`]: "none",
  [`${provider}.pointers.asyncState`]: "none",
};

const refused = decided(begin, "protocol");

export const verifyIdentityPaths: PathsOf = {
  process: "verifyIdentity",
  activities: [
    "prepare",
    "claim",
    "lookAt",
    "registerAlert",
    "removeAlert",
    "ask",
    "keepConference",
    "keepAudit",
    "deleteAudit",
    "rejectCall",
    "decide",
    "checkDecision",
  ],
  // A call takes three seconds, and its token is good for eighteen.
  speed: 100,
  accounts: [
    "deletion-unproven",
    "rejected-unseen",
    "asynchronous",
    "access-mended",
    "cancelled-while-denied",
    "still-in-attention",
  ],
  accountKeys: {
    "deletion-unproven": noPointers,
    "rejected-unseen": noPointers,
    asynchronous: { [`${provider}.pointers.state`]: "none" },
  },
  kept: ["asyncRequest.parameters.idConference"],
  inputs: { call: (writing) => whole(writing) },
  paths: {
    verified: (run) => closes(run, "verified"),
    unverified: (run) => closes(run, "notVerified", { words: "unverified" }),

    "event-lost": (run) => closes(run, "verified", { words: "event-lost" }),
    async asynchronous(run) {
      const { account } = run;
      const more = { words: "async~event-lost", account, asyncRequest: asyncOf(run) };
      await closes(run, "verified", more);
    },

    async rejected(run) {
      const handle = await calling(run);
      expect(await handle.rejectCall({ reason: run.author.words("reason") })).toEqual({
        answer: "rejected",
      });
      await isRejected(run, handle);
    },
    async "rejected-unseen"(run) {
      const handle = await calling(run, { account: run.account });
      expect(await handle.rejectCall()).toEqual({ answer: "rejected" });
      await isRejected(run, handle);
    },
    async "rejected-at-the-provider"(run) {
      const handle = await calling(run);
      await moves(run, "rejected");
      await shows(run, handle, "rejected", { kinds: ["conference"] });
    },
    async "rejection-refused"(run) {
      const handle = await calling(run, { words: "rejectCall:reject-400" });
      expect(await handle.rejectCall()).toEqual({ answer: "refused" });
      await moves(run, "closed");
      await shows(run, handle, "verified");
    },
    async "rejection-found"(run) {
      const handle = await calling(run, { words: "rejectCall:cut-after-commit" });
      expect(await handle.rejectCall()).toEqual({ answer: "unknown" });
      await isRejected(run, handle);
    },
    async "rejection-again"(run) {
      const handle = await calling(run, { words: "rejectCall:cut" });
      expect(await handle.rejectCall()).toEqual({ answer: "unknown" });
      await eventually(
        "the second request",
        async () => (await handle.rejectCall()).answer === "rejected",
        45_000,
      );
      await isRejected(run, handle);
    },

    async "audit-late"(run) {
      const mend = await withoutAudit(run);
      const handle = await begin(run, {});
      await mend();
      await shows(run, handle, "verified");
    },
    async "audit-waived"(run) {
      const handle = await begin(run, { words: refusedAudit, deleteAudit: true });
      await decide(run, handle, "protocol", "happened");
      await shows(run, handle, "verified", { kinds: ["conference"] });
    },
    async "conference-waived"(run) {
      const handle = await begin(run, {
        words: "conferenceData:reject-400@3*",
        settings: seldom,
      });
      await decide(run, handle, "protocol", "happened");
      await shows(run, handle, "verified", { kinds: ["audit"] });
    },
    "audit-deleted": (run) => closes(run, "verified", { deleteAudit: true }, deletedOnce),
    async "deletion-unproven"(run) {
      const more = { words: "token-expired", deleteAudit: true, settings: seldom };
      const handle = await begin(run, { ...more, account: run.account });
      await decide(run, handle, "protocol", "retry");
      await shows(run, handle, "closed", deletedOnce);
    },
    "deletion-happened": refused(refusedDeletion, "happened", (run, handle) =>
      shows(run, handle, "verified", { isDeleted: true }),
    ),
    "deletion-abandoned": refused(refusedDeletion, "abandon", isAbandonedWith("exists")),

    async alerted(run) {
      await closes(run, "verified", { alert: alertOf(run) });
      expect(await registrations(run)).toBe(2);
      expect(await isAlertRegistered(run)).toBe(false);
    },
    async "alert-refused"(run) {
      const alert = alertOf(run, "~registerAlertEmail:reject-400");
      const handle = await begin(run, { alert });
      await expect(handle.result()).rejects.toMatchObject({ details: { provider } });
      // Nor is anything removed: what is registered there is not ours.
      expect(await registrations(run)).toBeUndefined();
    },
    async "alert-removal-refused"(run) {
      const alert = alertOf(run, "~registerAlertEmail:reject-400@2*");
      const handle = await begin(run, { alert });
      await decide(run, handle, "protocol", "happened");
      await shows(run, handle, "verified");
      expect(await registrations(run)).toBe(1);
    },
    async "alerted-and-abandoned"(run) {
      const handle = await begin(run, { words: refusedAudit, alert: alertOf(run) });
      await attentionOf(handle, "protocol");
      expect(await isAlertRegistered(run)).toBe(true);
      await decide(run, handle, "protocol", "abandon");
      await isAbandoned(handle, "exists");
      expect(await registrations(run)).toBe(2);
      expect(await isAlertRegistered(run)).toBe(false);
    },

    "unknown-conference": refused({ words: "unknown" }, "abandon", isAbandonedWith("exists")),
    async "access-mended"(run) {
      const { handle, mend } = await denied(run);
      await mend();
      await shows(run, handle, "verified");
    },
    "invalid-input": (run) => refusesInput(run, call(run)),
    "input-mismatch": mismatches(
      (run) => calling(run, { alert: alertOf(run) }),
      (run) => {
        const alert = { ...alertOf(run), emails: [`${run.author.words("another")}@example.com`] };
        return begin(run, { words: "open", alert });
      },
    ),

    "another-conference": mismatches(calling, (run) => begin(run, { words: "open~unverified" })),
    async "conference-of-another"(run) {
      const other = await first(run, "open");
      const handle = await begin(run, { words: "open" });
      await expect(handle.result()).rejects.toBeInstanceOf(InvalidInputError);
      await moves(run, "closed", "open");
      await ends(other, "verified");
    },
    async "conference-of-an-ended-one"(run) {
      await ends(await first(run), "verified");
      await closes(run, "verified");
    },

    async "cancelled-while-denied"(run) {
      const { handle, mend } = await denied(run);
      await cancels(run, handle, "abandon");
      await isAbandoned(handle, "exists");
      await mend();
    },
    async "cancel-withdrawn"(run) {
      const handle = await calling(run);
      await cancels(run, handle, "retry");
      await moves(run, "closed");
      await shows(run, handle, "verified");
    },
    async "taken-up-again"(run) {
      const given = { alert: alertOf(run), deleteAudit: true };
      await calling(run, given);
      await temporalHandle(run).terminate();
      const handle = await calling(run, given);
      await moves(run, "closed");
      await shows(run, handle, "verified", deletedOnce);
      expect(await registrations(run)).toBe(2);
    },
    async "still-open"(run) {
      await calling(run);
    },
    async "still-in-attention"(run) {
      await denied(run);
    },
  },
};

interface Ending {
  kinds?: string[];
  isDeleted?: boolean;
  /** By the sandbox's operation. */
  effects?: Record<string, number>;
}

const deletedOnce = { isDeleted: true, effects: { deleteAuditData: 1 } };

/** The ledger has exactly these effects: nothing is registered or deleted without being asked for. */
async function shows(
  run: PathRun,
  handle: Handle,
  outcome: string,
  { kinds = ["conference", "audit"], isDeleted = false, effects = {} }: Ending = {},
): Promise<void> {
  const { documents, auditDeleted, ...result } = await handle.result();
  expect({ outcome: result.outcome, auditDeleted }).toEqual({ outcome, auditDeleted: isDeleted });
  expect(documents.map(({ kind }) => kind)).toEqual(kinds);
  const named = Object.entries(effects).map(([name, count]) => [`${provider}.${name}`, count]);
  expect(await run.system.effects(intentOf(run))).toEqual(Object.fromEntries(named));
}

async function closes(run: PathRun, outcome: string, more: More = {}, ending: Ending = {}) {
  await shows(run, await begin(run, more), outcome, ending);
}

const isRejected = (run: PathRun, handle: Handle) =>
  shows(run, handle, "rejected", { kinds: ["conference"], effects: { rejectCall: 1 } });

/** A conference's id stands in a search attribute, so it has none of the author's words: the process's own id. */
function intentOf({ author, intent }: Writing): string {
  return intent.slice(author.intent("").length);
}

function call(writing: Writing, { words = "", ...more }: More = {}): VerifyIdentityInput {
  return identityInput(intentOf(writing), words, more);
}

/** With a text of the author's wherever one is free. */
function whole(writing: Writing): VerifyIdentityInput {
  const alert = {
    processId: writing.author.words("alert"),
    emails: ["desk@example.com"],
    before: ["night@example.com"],
  };
  return call(writing, { alert, asyncRequest: asyncOf(writing) });
}

function asyncOf(writing: Writing) {
  const { author } = writing;
  const idConference = conferenceOf(intentOf(writing), "async~event-lost");
  const parameters = { idConference, subject: "Ada", [author.words("parameter")]: "whatever" };
  return { parameters };
}

/** The sandbox tells a path's own account of its events too. No token of a conference of ours may be seen. */
async function begin(run: PathRun, more: More): Promise<Handle> {
  const { account } = more;
  const { system, author } = run;
  if (account !== undefined) {
    const closeEventUrl = callbackAddress(system, { provider, account });
    await system.sandbox.putAccount(account, { closeEventUrl });
  }
  author.secret("callToken", tokensContain);
  return start(run, "verifyIdentity", call(run, more));
}

/** What every token has that the sandbox makes for a conference of these paths: so begin its claims. */
const tokensContain = Buffer.from('{"conf":"verifyIdentity/').toString("base64url");

/** The call goes on until the path ends it. */
async function calling(run: PathRun, { words = "", ...more }: More = {}): Promise<Handle> {
  const handle = await begin(run, { ...more, words: openAnd(words), settings: seldom });
  await statusWhere(handle, ({ waitingFor }) => waitingFor === "the end of the call");
  return handle;
}

const openAnd = (words: string) => (words === "" ? "open" : `open~${words}`);

/** By the provider's people. */
async function moves(run: PathRun, state: "closed" | "rejected", words = ""): Promise<void> {
  const { items } = await run.system.sandbox.items({ intent: intentOf(run) });
  const [own] = items.filter(({ id }) => !id.startsWith("alert:") && id.includes(words));
  await run.system.sandbox.move(own?.id ?? "", { state });
}

/** Another process that has the path's conference. */
async function first(run: PathRun, words = ""): Promise<Handle> {
  const id = `${run.id}-first`;
  const handle = await run.system.client.start("verifyIdentity", id, call(run, { words }));
  await statusWhere(handle, ({ references }) => references["idConference"] !== undefined);
  return handle;
}

/** The provider shows no audit of the path's call, until that is fixed: once it was asked for. */
async function withoutAudit(run: PathRun) {
  const { sandbox } = run.system;
  const { id } = await sandbox.addFault({
    operation: `${provider}.getAuditData`,
    lookupKey: intentOf(run),
    kind: "reject",
    status: 404,
    times: "always",
  });
  return async () => {
    await eventually("a question for the audit", async () =>
      (await sandbox.faults()).some((rule) => rule.id === id && rule.fired > 0),
    );
    await sandbox.removeFault(id);
  };
}

const alertOf = ({ author, id }: PathRun, words = "") => ({
  processId: `${author.words(`alert-${id}`)}${words}`,
  emails: ["desk@example.com"],
  before: [],
});

async function registrations(run: PathRun): Promise<number | undefined> {
  const effects = await run.system.effects(alertOf(run).processId);
  return effects[`${provider}.registerAlertEmail`];
}

async function isAlertRegistered(run: PathRun): Promise<boolean> {
  const { items } = await run.system.sandbox.items({ intent: alertOf(run).processId });
  return items.length > 0;
}

async function denied(run: PathRun) {
  const mend = await changePassword(run);
  const handle = await begin(run, { account: run.account });
  await attentionOf(handle, "accessDenied");
  return { handle, mend };
}
