// The copy of the audit, and its deletion at the provider: only once all of the copy was read (P1 §4.2).
import { expect, test } from "vitest";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { documentIdOf } from "../../../src/documents/document-id.js";
import type { DocumentReference } from "../../../src/contracts/shared/values.js";
import { addOwner } from "../../../src/journal/ownership.js";
import { openBench } from "./support.js";
import type { Bench } from "./support.js";
import { ofFile } from "../../harness/of-file.js";

const bench = ofFile(openBench);

type Followed = Awaited<ReturnType<Bench["follow"]>>;
const deleted = { "video-identification.deleteAuditData": 1 };

const keep = ({ run, given }: Followed, isOptional = false) =>
  run((service) => service.keepAudit({ ...given, isOptional }));
const remove = ({ run, given }: Followed, document: DocumentReference, more = {}) => {
  const effect = { step: "deleteAudit", occurrence: "0" };
  const whole = { ...given, effect, document, isProven: true, ...more };
  return run((service) => service.deleteAudit(whole));
};

const decided = ({ processKey }: Followed, decision: "abandon" | "retry", reason = "") => {
  const said = { decision, by: "ana", attention: decision, at: new Date().toISOString() };
  const key = { ...processKey, step: "deleteAudit", occurrence: "0" };
  return bench.journal.decide(key, { ...said, reason });
};
/** What a person is asked, who then decides `retry`. */
async function retried(followed: Followed, asking: Promise<unknown>): Promise<string> {
  const [{ problem }] = ((await asking.catch((error: unknown) => error)) as any).details;
  await decided(followed, "retry", `video-identification deleteAuditData: ${problem}`);
  return problem;
}

test("an audit that has not come for a day needs no person", async () => {
  const { run, given, fault } = await bench.follow({ until: "audit" });
  fault("getAuditData", { kind: "reject", status: 404, times: "always" });
  const old = { scheduledTimestampMs: Date.now() - 86_400_000 };
  const keeping = run((service) => service.keepAudit({ ...given, isOptional: false }), old);
  await expect(keeping).rejects.toMatchObject({ type: "notVisibleYet", nonRetryable: false });
});

async function kept(words: string[] = []) {
  const followed = await bench.follow({ words, until: "audit" });
  const audit = await keep(followed);
  return { followed, document: audit!.document };
}

/** The file that holds the copy. */
async function fileOf({ uri }: DocumentReference): Promise<string> {
  const files = await readdir(bench.directory, { recursive: true });
  const own = files.find((file) => file.endsWith(documentIdOf(uri)));
  return join(bench.directory, own ?? "");
}

test.each([
  [[], "application/json"],
  [["audit-pdf"], "application/pdf"],
  [["audit-zip"], "application/zip"],
  [["audit-large"], "application/json"],
])("the audit of %j is kept as it came, as %s", async (words, mediaType) => {
  const { followed, document } = await kept(words);
  const { bytes } = await bench.caller.audit(followed.idConference);
  expect(document.mediaType).toBe(mediaType);
  const copy = await bench.documents.get(document);
  expect(copy.equals(bytes)).toBe(true);
  const again = await keep(followed);
  expect(again?.document).toEqual(document);
  const { rows } = await bench.pool.query(
    "select kind from trustflow.documents where id = $1 and workflow_id = $2",
    [documentIdOf(document.uri), followed.processKey.workflowId],
  );
  expect(rows).toEqual([{ kind: "audit" }]);
});

test("an audit that is not there yet is waited for, unless it may be missing", async () => {
  const followed = await bench.follow({ until: "closed" });
  await expect(keep(followed)).rejects.toMatchObject({ type: "notVisibleYet" });
  expect(await keep(followed, true)).toBeUndefined();
});

test.each([
  [
    "is damaged",
    async (file: string) => {
      const bytes = await readFile(file);
      bytes[bytes.length - 1] = bytes[bytes.length - 1]! ^ 1;
      await writeFile(file, bytes);
    },
  ],
  ["is missing", (file: string) => rm(file)],
])("nothing is deleted at the provider where the copy %s: a person is asked", async (_, harm) => {
  const { followed, document } = await kept();
  const file = await fileOf(document);
  const whole = await readFile(file);
  await harm(file);
  const deleting = followed.watched(() => remove(followed, document).catch((error) => error));
  const { answer, calls } = await deleting;
  expect(answer).toMatchObject({ type: "protocol" });
  expect(JSON.stringify(answer.details)).toContain("our-document-");
  expect(calls).toEqual([]);
  expect(followed.effects()).toEqual({});

  await writeFile(file, whole);
  await remove(followed, document);
  expect(followed.effects()).toEqual(deleted);
});

test("what was cut off, or is no JSON, PDF or ZIP, is kept, and deleted at the provider only if a person asks for it", async () => {
  const followed = await bench.follow({ until: "audit" });
  followed.fault("getAuditData", { kind: "unreadable", times: 1 });
  const { document } = (await keep(followed))!;
  expect(await retried(followed, remove(followed, document))).toContain("no whole JSON");
  expect(followed.effects()).toEqual({});
  await remove(followed, document);
  expect(followed.effects()).toEqual(deleted);
});

test("a retry is the answer to its own question alone, and after the end the audit is kept anew", async () => {
  const followed = await bench.follow({ until: "audit" });
  followed.fault("getAuditData", { kind: "unreadable", times: 2 });
  const { document } = (await keep(followed))!;
  const removing = () => remove(followed, document, { isProven: false });
  // As after an account that was denied.
  await decided(followed, "retry", "video-identification genAPIToken: access denied");
  expect(await retried(followed, removing())).toContain("a callback alone");
  expect(await retried(followed, removing())).toContain("no whole JSON");
  expect(followed.effects()).toEqual({});
  const newer = await removing();
  expect(newer).toMatchObject({ kind: "audit", document: { uri: expect.any(String) } });
  expect(newer?.document.uri).not.toBe(document.uri);
  expect(followed.effects()).toEqual(deleted);
  expect(await removing()).toEqual(newer);
});

test("a web page does not say that there is no audit", async () => {
  const followed = await bench.follow({ until: "audit" });
  followed.fault("getAuditData", { kind: "web-page", times: 1 });
  await expect(keep(followed, true)).rejects.toMatchObject({ type: "protocol" });
});

test("an earlier deletion, and a decision to give up, are no wish for the deletion: that alone is retry", async () => {
  const { followed, document } = await kept();
  const unproven = () => remove(followed, document, { isProven: false });
  followed.fault("deleteAuditData", { kind: "reject", status: 503, times: 1 });
  await expect(remove(followed, document)).rejects.toMatchObject({ type: "unavailable" });
  await expect(unproven()).rejects.toMatchObject({ type: "protocol" });

  await decided(followed, "abandon");
  await expect(unproven()).rejects.toMatchObject({ type: "protocol" });
  expect(followed.effects()).toEqual({});

  await retried(followed, unproven());
  // The decision to give up keeps everybody from sending for the time of a lease.
  await expect(unproven()).rejects.toMatchObject({ type: "unavailable" });
  await bench.pool.query("update trustflow.effects set lease_until = clock_timestamp()");
  await unproven();
  expect(followed.effects()).toEqual(deleted);
});

test("an event whose token opens the data proves the end, also once an operator is asked", async () => {
  const { followed, document } = await kept();
  const isProven = false;
  await followed.bringToken("eyJh.eyJi.forged");
  await expect(remove(followed, document, { isProven })).rejects.toMatchObject({
    type: "protocol",
  });
  await followed.bringToken(await followed.token());
  await remove(followed, document, { isProven });
  expect(followed.effects()).toEqual(deleted);
});

test("where no token could be made, no request went out: an audit that is gone then needs a person", async () => {
  const { followed, document } = await kept();
  followed.fault("genAPIToken", { kind: "reject", status: 503 });
  await expect(remove(followed, document)).rejects.toMatchObject({ type: "unavailable" });
  await bench.caller.deletion(followed.idConference);
  await expect(remove(followed, document)).rejects.toMatchObject({ type: "protocol" });
});

test("an audit that was gone before the first deletion needs a person; in a repetition it is success", async () => {
  const { followed, document } = await kept();
  await bench.caller.deletion(followed.idConference);
  // What the provider has answered is no repetition.
  for (const _ of [1, 2])
    await expect(remove(followed, document)).rejects.toMatchObject({ type: "protocol" });

  const second = await kept(["deleteAuditData:cut-after-commit"]);
  await expect(remove(second.followed, second.document)).rejects.toMatchObject({
    type: "unavailable",
  });
  await remove(second.followed, second.document);
  expect(second.followed.effects()).toEqual(deleted);
});

test("a run that is started again, or reset, after the deletion finds the copy from before; where that is missing, a person is asked", async () => {
  const { followed, document } = await kept(["audit-pdf"]);
  await remove(followed, document);
  // Another version, before the storing of which a worker was killed.
  await addOwner(bench.pool, followed.processKey, [{ id: "0".repeat(32), kind: "audit" }]);
  expect(await keep(followed)).toEqual({ kind: "audit", document });
  await remove(followed, document);
  expect(followed.effects()).toEqual(deleted);
  await rm(await fileOf(document));
  await expect(keep(followed)).rejects.toMatchObject({ type: "protocol" });
});

test("without a deletion of ours, an audit that has gone is waited for", async () => {
  const { followed } = await kept();
  await bench.caller.deletion(followed.idConference);
  await expect(keep(followed)).rejects.toMatchObject({ type: "notVisibleYet" });
});

test("a conference has one process: the first, until a later one takes it from it", async () => {
  const { run, given } = await bench.follow();
  const other = await bench.follow();
  const { idConference } = given;
  const claim = (from?: string) =>
    other.run((service) =>
      service.claim({ ...given, idConference, ...(from !== undefined && { from }) }),
    );
  expect(await run((service) => service.claim(given))).toEqual({});
  const { owner } = await claim();
  expect(owner).toMatch(/^verifyIdentity\//);
  expect(await claim("verifyIdentity/a-stranger")).toEqual({ owner });
  expect(await claim(owner)).toEqual({});
  expect(await run((service) => service.claim(given))).toHaveProperty("owner");
});
