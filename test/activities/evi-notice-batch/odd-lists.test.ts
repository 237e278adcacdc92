// Lists of the provider that differ from what was sent: nothing of ours is deleted, and none is read without an end (P2 §4.3).
import { expect, test } from "vitest";
import { BatchContext } from "../../../src/activities/evi-notice-batch/context.js";
import {
  addBatchAttachments,
  createBatch,
} from "../../../src/activities/evi-notice-batch/set-up.js";
import { generateKeyRing, KeyRing } from "../../../src/crypto/key-ring.js";
import { get } from "../../../src/providers/evi-notice/client.js";
import { openStore } from "../../harness/documents/open-store.js";
import { accountAt } from "../../providers/evi-notice/account.js";
import { answering, serverOfEachTest } from "../../providers/provider-server.js";
import { depsWithoutRows, inProcess } from "../attempts.js";

const batchId = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
const ours = "0f8fad5b-d9cb-469f-a165-70867728950e";
const other = "16fd2706-8baf-433b-82eb-8c7fada847da";
const server = serverOfEachTest();

const about = { account: "default", mode: "quick" } as const;
const inContext = <T>(work: (context: BatchContext) => Promise<T>, more = {}) =>
  inProcess(() => {
    const deps = depsWithoutRows(accountAt(server.url), more);
    return work(new BatchContext("evi-notice", deps, about));
  });

test.each([
  ["in another case, beside one that came twice", [ours.toUpperCase(), other], [other]],
  ["in no way, so that its ids say nothing", [other], []],
])("of attachments that the list shows %s, none of ours is deleted", async (_, shown, deleted) => {
  server.answer = (request, ...rest) => {
    const list = shown.map((Id) => ({ Id, FileName: "a.txt" }));
    const answers = { POST: { AttachmentId: ours }, GET: list, DELETE: "" };
    answering(answers[request.method as "GET"])(request, ...rest);
  };
  const { documents, close } = await openStore(KeyRing.parse(generateKeyRing()));
  const document = await documents.put(Buffer.from("terms"), "text/plain");
  const attachments = [{ fileName: "a.txt", document }];
  const effect = { step: "attachments", occurrence: "0" };
  const given = { effect, mode: "quick" as const, batchId, account: "default", attachments };
  await inContext((context) => addBatchAttachments(context, given as never), { documents });
  await close();
  const gone = server.received.filter(({ method }) => method === "DELETE");
  expect(gone.map(({ path }) => path.split("/").at(-1))).toEqual(deleted);
});

test("pages of recipients that lead back to themselves need a person", async () => {
  server.answer = answering({ Results: [{ Address: "ana@example.com" }], Cursor: "next" });
  const reading = inContext(async (context) => {
    for await (const page of context.recipients(batchId, 2)) expect(page).toHaveLength(1);
  });
  await expect(reading).rejects.toMatchObject({ kind: "protocol" });
});

test("a search that says there is more, and not where, proves no absence", async () => {
  server.answer = (request, ...rest) => {
    const answers = { POST: [{}, 500], QUERY: [{ Results: [], HasMoreResults: true }, 200] };
    const [body, status] = answers[request.method as "POST"];
    answering(body, status as number)(request, ...rest);
  };
  const journal = {
    async perform(_: unknown, { lookUp }: { lookUp(token: string): Promise<unknown> }) {
      return lookUp("token");
    },
  };
  const given = { effect: { step: "create", occurrence: "0" }, mode: "quick" as const };
  const looking = inContext((context) => createBatch(context, { ...given, account: "default" }), {
    journal,
  });
  await expect(looking).rejects.toMatchObject({ kind: "protocol" });
});

test("an id that would make another path of it is never sent", async () => {
  await expect(get(accountAt(server.url), { id: ".." })).rejects.toMatchObject({
    kind: "protocol",
  });
  expect(server.received).toEqual([]);
});
