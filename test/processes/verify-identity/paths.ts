// The ways through `verifyIdentity` whose histories differ (P1 §1.2, 2.7, 4.2, 5.2, 6.1; docs/reading-the-specification.md §0, §6).
import { expect } from "vitest";
import { InvalidInputError } from "../../../src/client.js";
import type { HandleOf, VerifyIdentityInput } from "../../../src/client.js";
import {
  attentionOf,
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
import { cancelled, mended, refusedFor, unbroken, waitingFor, waysOf } from "../ways.js";
import { conferenceOf, identityInput } from "./inputs.js";

type Handle = HandleOf<"verifyIdentity">;
type More = Partial<VerifyIdentityInput>;

const provider = "video-identification";
/** So that no poll happens unless a callback triggers it. */
const seldom = { pollIntervalSeconds: 3_600 };
const refusedAudit = "getAuditData:reject-400*";
const noPointers = {
  [`${provider}.pointers.state`]: "none",
  [`${provider}.pointers.verdict`]: "none",
  [`${provider}.pointers.asyncState`]: "none",
};

const { opened, denied } = waysOf(begin, waitingFor("the end of the call"));
const refused = decided(begin, "protocol");
const refusedDeletion = decided(
  (run, words: string) => begin(run, words, { deleteAudit: true }),
  "protocol",
);

export const verifyIdentityPaths: PathsOf = {
  process: "verifyIdentity",
  // A call takes three seconds, and its token is good for eighteen.
  speed: 100,
  accounts: [
    "deletion-unproven",
    "rejected-unseen",
    "asynchronous",
    "access-mended",
    "cancelled-while-denied",
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
    unverified: (run) => closes(run, "notVerified", "unverified"),

    "event-lost": (run) => closes(run, "verified", "event-lost"),
    async asynchronous(run) {
      const { account } = run;
      await closes(run, "verified", "async~event-lost", { account, asyncRequest: asyncOf(run) });
    },

    async rejected(run) {
      const handle = await calling(run);
      expect(await handle.rejectCall({ reason: run.author.words("reason") })).toEqual({
        answer: "rejected",
      });
      await isRejected(run, handle);
    },
    async "rejected-unseen"(run) {
      const handle = await calling(run, "", { account: run.account });
      expect(await handle.rejectCall()).toEqual({ answer: "rejected" });
      await isRejected(run, handle);
    },
    async "rejection-refused"(run) {
      const handle = await calling(run, "rejectCall:reject-400");
      expect(await handle.rejectCall()).toEqual({ answer: "refused" });
      await moves(run, "closed");
      await shows(run, handle, "verified");
    },
    async "rejection-found"(run) {
      const handle = await calling(run, "rejectCall:cut-after-commit");
      expect(await handle.rejectCall()).toEqual({ answer: "unknown" });
      await isRejected(run, handle);
    },
    async "rejection-again"(run) {
      const handle = await calling(run, "rejectCall:cut");
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
      const handle = await begin(run);
      await mend();
      await shows(run, handle, "verified");
    },
    async "audit-waived"(run) {
      const handle = await begin(run, refusedAudit, { deleteAudit: true });
      await decide(run, handle, "protocol", "happened");
      await shows(run, handle, "verified", { kinds: ["conference"] });
    },
    async "conference-waived"(run) {
      const handle = await begin(run, "conferenceData:reject-400@3*", { settings: seldom });
      await decide(run, handle, "protocol", "happened");
      await shows(run, handle, "verified", { kinds: ["audit"] });
    },
    "audit-deleted": (run) => closes(run, "verified", "", { deleteAudit: true }, deletedOnce),
    async "deletion-unproven"(run) {
      const more = { deleteAudit: true, settings: seldom, account: run.account };
      const handle = await begin(run, "token-expired", more);
      await decide(run, handle, "protocol", "retry");
      await shows(run, handle, "closed", deletedOnce);
    },
    "deletion-happened": refusedDeletion("deleteAuditData:reject-400*", "happened", (run, handle) =>
      shows(run, handle, "verified", { isDeleted: true }),
    ),
    "deletion-abandoned": refusedDeletion(
      "deleteAuditData:reject-400*",
      "abandon",
      isAbandonedWith("exists"),
    ),

    async alerted(run) {
      await closes(run, "verified", "", { alert: alertOf(run) });
      expect(await registrations(run)).toBe(2);
      expect(await isAlertRegistered(run)).toBe(false);
    },
    async "alert-refused"(run) {
      const alert = alertOf(run, "~registerAlertEmail:reject-400");
      const handle = await begin(run, "", { alert });
      await expect(handle.result()).rejects.toMatchObject({ details: { provider } });
      // Nor is anything removed: what is registered there is not ours.
      expect(await registrations(run)).toBeUndefined();
    },
    async "alert-removal-refused"(run) {
      const alert = alertOf(run, "~registerAlertEmail:reject-400@2*");
      const handle = await begin(run, "", { alert });
      await decide(run, handle, "protocol", "happened");
      await shows(run, handle, "verified");
      expect(await registrations(run)).toBe(1);
    },
    async "alerted-and-abandoned"(run) {
      const handle = await begin(run, refusedAudit, { alert: alertOf(run) });
      await attentionOf(handle, "protocol");
      expect(await isAlertRegistered(run)).toBe(true);
      await decide(run, handle, "protocol", "abandon");
      await isAbandoned(handle, "exists");
      expect(await registrations(run)).toBe(2);
      expect(await isAlertRegistered(run)).toBe(false);
    },

    "unknown-conference": refused("unknown", "abandon", isAbandonedWith("exists")),
    "access-mended": mended(denied, (run, handle) => shows(run, handle, "verified")),
    "invalid-input": (run) => refusesInput(run, call(run)),
    "input-mismatch": mismatches(
      (run) => calling(run, "", { alert: alertOf(run) }),
      (run) => {
        const alert = { ...alertOf(run), emails: [`${run.author.words("another")}@example.com`] };
        return begin(run, "open", { alert });
      },
    ),

    "another-conference": mismatches(
      (run) => calling(run),
      (run) => begin(run, "open~unverified"),
    ),
    async "conference-of-another"(run) {
      const other = await first(run, "open");
      const handle = await begin(run, "open");
      await expect(handle.result()).rejects.toBeInstanceOf(InvalidInputError);
      await moves(run, "closed", "open");
      await ends(other, "verified");
    },
    async "conference-of-an-ended-one"(run) {
      await ends(await first(run), "verified");
      await closes(run, "verified");
    },

    "cancelled-while-denied": cancelled(denied)("abandon", isAbandonedWith("exists")),
    "cancel-withdrawn": cancelled(unbroken((run) => calling(run)))("retry", async (run, handle) => {
      await moves(run, "closed");
      await shows(run, handle, "verified");
    }),
    async "taken-up-again"(run) {
      const given = { alert: alertOf(run), deleteAudit: true };
      await calling(run, "", given);
      await temporalHandle(run).terminate();
      const handle = await calling(run, "", given);
      await moves(run, "closed");
      await shows(run, handle, "verified", deletedOnce);
      expect(await registrations(run)).toBe(2);
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

async function closes(
  run: PathRun,
  outcome: string,
  words?: string,
  more?: More,
  ending?: Ending,
): Promise<void> {
  await shows(run, await begin(run, words, more), outcome, ending);
}

const isRejected = (run: PathRun, handle: Handle) =>
  shows(run, handle, "rejected", { kinds: ["conference"], effects: { rejectCall: 1 } });

/** A conference's id stands in a search attribute, so it has none of the author's words: the process's own id. */
function intentOf({ author, intent }: Writing): string {
  return intent.slice(author.intent("").length);
}

function call(writing: Writing, words?: string, more?: More): VerifyIdentityInput {
  return identityInput(intentOf(writing), words, more);
}

/** With a text of the author's wherever one is free. */
function whole(writing: Writing): VerifyIdentityInput {
  const alert = {
    processId: writing.author.words("alert"),
    emails: ["desk@example.com"],
    before: ["night@example.com"],
  };
  return call(writing, "", { alert, asyncRequest: asyncOf(writing) });
}

function asyncOf(writing: Writing) {
  const { author } = writing;
  const idConference = conferenceOf(intentOf(writing), "async~event-lost");
  const parameters = { idConference, subject: "Ada", [author.words("parameter")]: "whatever" };
  return { parameters };
}

/** The sandbox tells a path's own account of its events too. No token of a conference of ours may be seen. */
async function begin(run: PathRun, words?: string, more: More = {}): Promise<Handle> {
  const { account } = more;
  const { system, author } = run;
  if (account !== undefined) {
    const closeEventUrl = callbackAddress(system, { provider, account });
    await system.sandbox.putAccount(account, { closeEventUrl });
  }
  author.secret("callToken", tokensContain);
  return start(run, "verifyIdentity", call(run, words, more));
}

/** What every token has that the sandbox makes for a conference of these paths: so begin its claims. */
const tokensContain = Buffer.from('{"conf":"verifyIdentity/').toString("base64url");

/** The call goes on until the path ends it. */
function calling(run: PathRun, words = "", more: More = {}): Promise<Handle> {
  return opened(run, openAnd(words), { ...more, settings: seldom });
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
  const handle = await run.system.client.start("verifyIdentity", id, call(run, words));
  await statusWhere(handle, ({ references }) => references["idConference"] !== undefined);
  return handle;
}

/** The provider shows no audit of the path's call, until that is fixed: once it was asked for. */
async function withoutAudit(run: PathRun) {
  const own = { system: run.system, intent: intentOf(run) };
  const { id, mend } = await refusedFor(own, `${provider}.getAuditData`, 404);
  return async () => {
    await eventually("a question for the audit", async () =>
      (await run.system.sandbox.faults()).some((rule) => rule.id === id && rule.fired > 0),
    );
    await mend();
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
