// `sendNotice` on the real dev server, PostgreSQL, receiver, relay and sandbox: every outcome, every everyday accident.
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { InvalidInputError, NotAcceptedError } from "../../../../src/client.js";
import type { HandleOf, SendNoticeInput } from "../../../../src/client.js";
import { commandLine } from "../../../cli/in-process.js";
import { namedDocuments, ownedDocuments } from "../../../harness/documents/owned-documents.js";
import { eventually } from "../../../harness/outages/wait.js";
import { startTestStack, statusWhere } from "../../../harness/stack/stack.js";
import type { TestStack } from "../../../harness/stack/stack.js";
import {
  noticeAttachment,
  noticeInput,
  withAttachment,
} from "../../../processes/send-notice/inputs.js";

type NoticeHandle = HandleOf<"sendNotice">;

let system: TestStack;
const started = new Map<string, Promise<NoticeHandle>>();

const answered = { commitmentChoice: "AcceptOrReject" } as const;
/** name → expected outcome, more of the input; the name is the sandbox's word. */
const outcomes: [string, string, Partial<SendNoticeInput>?][] = [
  ["read", "read", { attachments: [withAttachment()] }],
  ["refused", "refused"],
  ["accepted", "accepted", answered],
  ["rejected", "rejected", answered],
  ["received", "received"],
  ["delivered", "delivered"],
  ["sent", "sent"],
  ["failed", "failed"],
  ["failed-recovered", "read"],
  ["certified", "certified"],
  ["cancelled", "cancelled"],
];

const accidents: [string, string][] = [
  ["callbacks-lost", "read,callbacks-lost"],
  ["callbacks-doubled", "read,callbacks-doubled"],
  ["callbacks-reordered", "read,callbacks-reordered"],
  ["submit-cut-after-commit", "read,submit=cut-after-commit"],
  ["submit-500-after-commit", "read,submit=error-after-commit-500"],
  ["submit-unreadable", "read,submit=unreadable"],
  ["submit-503-twice", "read,submit=reject-503*2"],
  ["submit-429", "read,submit=reject-429"],
  ["get-down", "read,get=reject-503*3"],
  ["download-fails", "read,affidavits=reject-500*2"],
];

function start(name: string, magic: string, more?: Partial<SendNoticeInput>): void {
  const handle = system.client.sendNotice(name, noticeInput(name, magic, more));
  handle.catch(() => undefined);
  started.set(name, handle);
}

function startedAs(name: string): Promise<NoticeHandle> {
  const handle = started.get(name);
  if (!handle) throw new Error(`${name} was not started`);
  return handle;
}

beforeAll(async () => {
  system = await startTestStack();
  for (const [name, , more] of outcomes) start(name, name, more);
  for (const [name, magic] of accidents) start(name, magic);
}, 120_000);

afterAll(() => system.close(), 60_000);

describe("outcomes", () => {
  test.each(outcomes)(
    "%s ends as the provider says (P2 §3.2)",
    async (name, outcome) => {
      const handle = await startedAs(name);
      const result = await handle.result();
      expect(result).toMatchObject({ process: "sendNotice", id: name, outcome });
      expect(result.references["uniqueId"]).toMatch(/^[0-9a-f-]{36}$/);
      expect(result.dates.refusedOn !== undefined).toBe(outcome === "refused");
      expect(await system.effects(name)).toEqual({ "evi-notice.submit": 1 });
    },
    90_000,
  );

  test("attachments and affidavits are stored under their own hash (P2 §4.2)", async () => {
    const handle = await startedAs("read");
    const { documents, timeline } = await handle.result();
    expect(await ownedDocuments(system, handle)).toEqual(namedDocuments(documents));
    const kinds = documents.map(({ kind }) => kind);
    expect(kinds).toEqual(["submitted", "attachment", "affidavit", "affidavit"]);
    const contents = await Promise.all(
      documents.map(({ document }) => system.client.documents.get(document)),
    );
    expect(contents.slice(0, 2)).toEqual([noticeAttachment, noticeAttachment]);
    for (const bytes of contents.slice(2)) expect(bytes.subarray(0, 5).toString()).toBe("%PDF-");
    const events = timeline.map(({ source, event }) => `${source} ${event}`);
    expect(events).toEqual(expect.arrayContaining(["callback Read", "query Closed"]));
  }, 60_000);
});

test("address and browser of the reader are in the result and in the full status, and not in status and memo (P2 §2.12)", async () => {
  const handle = await startedAs("read");
  const { reported = [], shown } = await handle.result();
  const read = reported.find(({ kind }) => kind === "Read");
  expect(read).toMatchObject({
    ipAddress: expect.stringMatching(/^192\.0\.2\./),
    userAgent: expect.stringContaining("Mozilla"),
    userLanguages: "es,en",
    progress: 100,
    site: expect.any(String),
  });
  expect(shown).toMatchObject({ siteName: expect.any(String), xmissionResult: expect.any(String) });
  expect(await handle.fullStatus()).toMatchObject({ phase: "ended", reported, shown });
  expect(JSON.stringify(await handle.status())).not.toContain("192.0.2.");
  const shownBy = (...options: string[]) =>
    commandLine(["status", handle.workflowId, ...options], { env: system.stack.env });
  const full = await shownBy("--full");
  expect(full).toMatchObject({ code: 0, stderr: "" });
  for (const member of ["192.0.2.1", "Mozilla/5.0 (sandbox)"])
    expect(full.stdout).toContain(member);
  expect((await shownBy()).stdout).not.toContain("192.0.2.");
}, 60_000);

describe("accidents", () => {
  test.each(accidents)(
    "%s: read, and sent once (P2 §4.2, §6.4)",
    async (name) => {
      const handle = await startedAs(name);
      expect((await handle.result()).outcome).toBe("read");
      expect(await system.effects(name)).toEqual({ "evi-notice.submit": 1 });
    },
    90_000,
  );
});

describe("an affidavit on demand (P2 §4.2)", () => {
  const affidavitKinds: SendNoticeInput["affidavitKinds"] = ["Closed", "OnDemand"];

  async function tracked(id: string, words: string, more: Partial<SendNoticeInput>) {
    const handle = await system.client.sendNotice(id, noticeInput(id, words, more));
    await statusWhere(handle, ({ phase }) => phase === "tracking");
    return handle;
  }

  test("is tied to its request, and the limit of a notice is said", async () => {
    const handle = await tracked("on-demand", "delivered", { affidavitKinds });
    const answer = await handle.requestAffidavit({ includeBody: true });
    expect(answer).toMatchObject({ answer: "requested" });
    for (const _ of [2, 3]) await handle.requestAffidavit();
    expect(await handle.requestAffidavit()).toEqual({ answer: "limitReached" });
    const { documents } = await handle.result();
    const { requestId } = answer as { requestId: string };
    expect(documents).toContainEqual(expect.objectContaining({ kind: "affidavit", requestId }));
  }, 90_000);

  test("without OnDemand at the submit nothing is called", async () => {
    const handle = await tracked("not-on-demand", "open", {
      settings: { ...noticeInput("", "").settings, deadlineSeconds: 6 },
    });
    expect(await handle.requestAffidavit()).toEqual({ answer: "notEligible" });
    expect((await handle.result()).outcome).toBe("openAtDeadline");
    expect(await system.effects("not-on-demand")).toEqual({ "evi-notice.submit": 1 });
  }, 90_000);

  test("of a notice that its provider has closed unnoticed: the provider's 405 says so", async () => {
    const handle = await tracked("closed-unnoticed", "certified,callbacks-lost", {
      affidavitKinds,
      settings: { ...noticeInput("", "").settings, pollIntervalSeconds: 600 },
    });
    await eventually("the close at the provider", async () => {
      const { items } = await system.sandbox.items({ intent: handle.id });
      return items.some(({ state }) => state === "Closed");
    });
    expect(await handle.requestAffidavit()).toEqual({ answer: "notEligible" });
    const { newest } = await system.sandbox.requests();
    expect(newest.map(({ intent, status }) => [intent, status])).toContainEqual([handle.id, 405]);
  }, 60_000);
});

describe("refused", () => {
  test("bad input before a history exists, the field named", async () => {
    const bad = noticeInput("bad", "read", { affidavitKinds: ["ContentDownload"] });
    const problem = await system.client.sendNotice("bad", bad).catch((error: unknown) => error);
    expect(problem).toBeInstanceOf(InvalidInputError);
    expect(String(problem)).toContain("enforceTrackingUntilTimeToLive");
  });

  test("by the provider: the process fails as NotAccepted (P2 §7.2)", async () => {
    const handle = await system.client.sendNotice("level", noticeInput("level", "accepted"));
    await expect(handle.result()).rejects.toBeInstanceOf(NotAcceptedError);
  }, 60_000);

  test("for want of balance: it waits, and goes on by itself once there is some (P2 §4.2)", async () => {
    await system.sandbox.putAccount("sandbox", { balance: 0 });
    const handle = await system.client.sendNotice("poor", noticeInput("poor", "read"));
    const { attention } = await statusWhere(handle, (status) => status.attention !== undefined);
    expect(attention).toMatchObject({ kind: "accessDenied", step: "submit" });
    await system.sandbox.putAccount("sandbox", { balance: 1 });
    expect((await handle.result()).outcome).toBe("read");
    expect(await system.effects("poor")).toEqual({ "evi-notice.submit": 1 });
  }, 60_000);
});
