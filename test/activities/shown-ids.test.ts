// An answer that cannot be read, but shows an id: the item is ours only where it has our own key (P2 §2.5, §2.8).
import { expect, test } from "vitest";
import { EviPostContext } from "../../src/activities/evi-post/context.js";
import { submitOnce } from "../../src/activities/evi/submit.js";
import { BatchContext } from "../../src/activities/evi-notice-batch/context.js";
import { createBatch } from "../../src/activities/evi-notice-batch/set-up.js";
import { submit } from "../../src/providers/evi-post/client.js";
import { accountAt as postAccountAt } from "../providers/evi-post/account.js";
import { accountAt as noticeAccountAt } from "../providers/evi-notice/account.js";
import { answering, serverOfEachTest } from "../providers/provider-server.js";
import type { Handler } from "../providers/provider-server.js";
import { depsWithoutRows, inProcess } from "./attempts.js";

const shown = "0f8fad5b-d9cb-469f-a165-70867728950e";
const effect = { step: "submit", occurrence: "0" };
const server = serverOfEachTest();

const about = { account: "default", mode: "quick" } as const;

/** The call answers with a text that names the id; the item is as `item` says, by the token of the call. */
const namingAnother =
  (isCall: (method: string) => boolean, item: () => object): Handler =>
  (request, ...rest) =>
    answering(isCall(request.method) ? { note: `there is ${shown}` } : item())(request, ...rest);

test.each(["ours", "another"])("a letter: %s", async (whose) => {
  let token = "";
  server.answer = namingAnother(
    (method) => method === "POST",
    () => {
      const lookupKey = whose === "ours" ? `order-7::${token}` : "order-8::other";
      return { results: [{ evidenceId: shown, state: "Sent", lookupKey }], totalMatches: 1 };
    },
  );
  const account = postAccountAt(server.url);
  const submitting = inProcess(() => {
    const context = new EviPostContext("evi-post", depsWithoutRows(account), about);
    return submitOnce(context, effect, {
      operation: "submit",
      input: {},
      documents: [],
      prepare: async () => undefined,
      send: (call) => {
        ({ token } = call);
        return submit(account, { document: Buffer.from("%PDF-"), recipientAddress }, token);
      },
      find: (id) => context.findItem(id),
      findByOwnKey: (key) => context.itemByOwnKey(key),
      form: "joined",
    });
  });
  if (whose === "ours") expect(await submitting).toEqual({ uniqueId: shown });
  else await expect(submitting).rejects.toMatchObject({ reference: shown, effect: "unknown" });
});

const recipientAddress = { streetAddress: "s", postalCode: "1", locality: "l", country: "ES" };

test.each(["ours", "another"])("a batch: %s", async (whose) => {
  let sent = "";
  server.answer = (request, ...rest) => {
    if (request.method === "POST") ({ Description: sent } = JSON.parse(request.text));
    const description = whose === "ours" ? sent : "June [another]";
    const item = { BatchId: shown, State: "Draft", Description: description };
    namingAnother(
      (method) => method === "POST",
      () => item,
    )(request, ...rest);
  };
  const deps = depsWithoutRows(noticeAccountAt(server.url));
  const given = { ...about, effect, description: "June" };
  const creating = inProcess(() => createBatch(new BatchContext("evi-notice", deps, about), given));
  if (whose === "ours") expect(await creating).toEqual({ batchId: shown });
  else await expect(creating).rejects.toMatchObject({ reference: shown, effect: "unknown" });
});
