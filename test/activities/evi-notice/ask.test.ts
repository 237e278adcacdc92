// A poll of a notice at the simulated provider: the snapshot that alone decides, the affidavits, and what a poll goes on waiting for.
import { expect, test } from "vitest";
import { createHash } from "node:crypto";
import { createEviNoticeActivities } from "../../../src/activities/evi-notice/index.js";
import { openStore } from "../../harness/documents/open-store.js";
import { ofFile } from "../../harness/of-file.js";
import { downloadAffidavit } from "../../../src/providers/evi-notice/client.js";
import { startSandbox } from "../../../packages/sandbox/src/sandbox.js";
import { accountAt } from "../../providers/evi-notice/account.js";
import { depsWithoutRows, inAttempt } from "../attempts.js";
import { inMemory } from "../../providers/memory-keep.js";
import { DAY } from "../../../packages/sandbox/test/caller.js";
import { sender, smallest } from "../../../packages/sandbox/test/providers/evi-notice/sender.js";

type Activities = ReturnType<typeof createEviNoticeActivities>;

const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

const accounts = [{ username: "trustflow", password: "a password" }];
const sandbox = ofFile(() => startSandbox({ speed: "manual", accounts }));
const store = ofFile(openStore);

function run<R>(work: (activities: Activities) => Promise<R>, attempt = 1): Promise<R> {
  const deps = depsWithoutRows(accountAt(sandbox.url), {
    journal: { now: async () => new Date("2026-01-05T09:00:00Z"), addOwner: async () => undefined },
    documents: store.documents,
    ...{ patienceMs: 1000, invisibleForMs: 60_000, unavailableForMs: 1000 },
  });
  const activities = createEviNoticeActivities(deps);
  const info = { attempt, workflowExecution: { workflowId: "notice-1", runId: "r" } };
  return inAttempt(() => work(activities), info);
}

function ask(request: Partial<Parameters<Activities["ask"]>[0]>, attempt = 1) {
  const given = {
    ...{ account: "default", uniqueId: "", submittedAt: new Date().toISOString(), stored: [] },
    ...{ refetch: false, wait: "now" as const, mode: "quick" as const, seen: undefined },
  };
  return run((activities) => activities.ask({ ...given, ...request }), attempt);
}

async function submit(body: object): Promise<string> {
  return sender(sandbox, "trustflow", "a password").submit({ ...smallest, ...body });
}

test("the snapshot has state, outcome and the refusal; the affidavits are kept", async () => {
  const uniqueId = await submit({
    RecipientDisplayName: "sandbox:refused",
    AffidavitKinds: ["Submitted", "Refused"],
  });
  await sandbox.clock.advance(DAY);
  const { snapshot, documents: kept, missing } = await ask({ uniqueId, wait: "end" });
  expect(snapshot).toMatchObject({
    stamp: "2026-01-05T09:00:00.000Z",
    state: "Closed",
    outcome: "Refused",
    dates: { refusedOn: expect.stringMatching(/Z$/) },
    shown: {
      siteName: expect.any(String),
      xmissionResult: expect.any(String),
      xmissionSummary: expect.any(String),
    },
  });
  const ids = kept.map((document) => document.uniqueId ?? "");
  expect(new Set(ids).size).toBe(2);
  expect(missing).toBe(0);
  expect(snapshot.fingerprint).toBe(["Closed", "Refused", ...ids.toSorted()].join(" "));
  for (const { uniqueId: affidavitId = "", document } of kept) {
    const asked = { affidavitId };
    const file = await downloadAffidavit(accountAt(sandbox.url), asked, inMemory);
    expect(document).toMatchObject({ sha256: file.sha256, mediaType: "application/pdf" });
    expect(sha256(await store.documents.get(document))).toBe(file.sha256);
  }
  // A ZIP of all that is no ZIP of PDFs: each is asked for by its id.
  sandbox.faults.add({ operation: "evi-notice.affidavits", kind: "unreadable" });
  const again = await ask({ uniqueId, wait: "affidavits" });
  expect(again.documents).toEqual(kept);
  expect(sandbox.faults.list()).toMatchObject([{ fired: 1 }]);
  // Nor does one that cannot be read keep the other from being kept.
  for (const operation of ["evi-notice.affidavits", "evi-notice.affidavit"])
    sandbox.faults.add({ operation, kind: "unreadable" });
  const other = await ask({ uniqueId });
  expect([other.documents.length, other.missing]).toEqual([1, 1]);
  const left = await ask({ uniqueId, stored: ids.slice(0, 1) });
  expect(left.documents.map((document) => document.uniqueId)).toEqual(ids.slice(1));
});

test("a poll for a change goes on while the answer is the one that was seen", async () => {
  const uniqueId = await submit({ RecipientDisplayName: "sandbox:stalled" });
  const { snapshot } = await ask({ uniqueId });
  const waiting = ask({ uniqueId, wait: "change", seen: snapshot.fingerprint });
  await expect(waiting).rejects.toMatchObject({ nonRetryable: false });
  const changed = await ask({ uniqueId, wait: "change", seen: "Draft None" });
  expect(changed).toMatchObject({ snapshot: { state: "Submitted" }, documents: [] });
});

test("a poll for the end takes any answer after a few attempts", async () => {
  const uniqueId = await submit({ RecipientDisplayName: "sandbox:stalled" });
  await expect(ask({ uniqueId, wait: "end" })).rejects.toMatchObject({ nonRetryable: false });
  expect(await ask({ uniqueId, wait: "end" }, 9)).toMatchObject({
    snapshot: { state: "Submitted" },
  });
});

test("attachments are kept, and one that the provider has otherwise is named", async () => {
  const content = Buffer.from("the terms");
  const uniqueId = await submit({
    Attachments: [{ Filename: "terms.txt", Content: content.toString("base64") }],
  });
  const document = {
    uri: `document:${"0".repeat(32)}`,
    sha256: sha256(content),
    size: content.length,
    mediaType: "text/plain",
  };
  const same = { fileName: "terms.txt", document };
  const other = { fileName: "other.txt", document: { ...document, sha256: "0".repeat(64) } };
  const given = { account: "default", uniqueId, submitted: [other, same] };
  const { documents: kept, missing } = await run((activities) =>
    activities.attachments({ ...given, mode: "quick" }),
  );
  expect(await Promise.all(kept.map(({ document: one }) => store.documents.get(one)))).toEqual([
    content,
  ]);
  expect(kept).toMatchObject([
    { kind: "attachment", description: "terms.txt", document: { sha256: document.sha256 } },
  ]);
  expect(missing).toEqual(["other.txt"]);
});
