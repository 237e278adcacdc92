// The order in which an activity comes to a document: its owner is written, and only then is it stored or read.
import { expect, test } from "vitest";
import { createHash } from "node:crypto";
import { keepAffidavits } from "../../src/activities/evi/ask.js";
import type { EviPostContext } from "../../src/activities/evi-post/context.js";
import { checkedReference, documentReference } from "../../src/activities/runtime/documents.js";
import type { ActivityDependencies } from "../../src/activities/runtime/provider-context.js";
import type { OneShotContext } from "../../src/activities/one-shot-signature/context.js";
import { contract, fetchSigned } from "../../src/activities/one-shot-signature/signature.js";
import type { ProcessKey } from "../../src/crypto/data-key.js";
import type { OwnedDocument } from "../../src/journal/ownership.js";
import { letterPdf } from "../processes/send-postal/inputs.js";
import { inAttempt } from "./attempts.js";

const sha256 = createHash("sha256").update(letterPdf).digest("hex");
const inline = { base64: letterPdf.toString("base64"), mediaType: "application/pdf" };
const stored = {
  ...{ uri: `document:${"0a".repeat(16)}`, sha256, size: letterPdf.length },
  mediaType: "application/pdf",
};

const fetched = { sha256, size: letterPdf.length, pieces: () => [letterPdf] };

/** What is done to which document, in order; `isAway`: the owner cannot be written. */
function recorder({ isAway = false } = {}) {
  const done: string[] = [];
  const put = async (_: unknown, __: string, { id }: { id: string }) => {
    done.push(`put ${id}`);
    return { ...stored, uri: `document:${id}` };
  };
  const deps = {
    journal: {
      async addOwner({ namespace, workflowId }: ProcessKey, documents: OwnedDocument[]) {
        if (isAway) throw new Error("away");
        for (const { id, kind } of documents)
          done.push(`own ${namespace} ${workflowId} ${kind} ${id}`);
      },
    },
    documents: {
      put,
      putStream: put,
      async check({ uri }: { uri: string }) {
        done.push(`check ${uri.slice("document:".length)}`);
        return letterPdf;
      },
      withSpool: (work: (spool: object) => Promise<unknown>) => work({}),
    },
  } as unknown as ActivityDependencies;
  return { done, deps };
}

const inActivity = (work: () => Promise<unknown>) =>
  inAttempt(work, { workflowExecution: { workflowId: "w", runId: "r" } });

type Deps = ActivityDependencies;
const contextOf = (deps: Deps, answers: object) => ({
  deps,
  process: { namespace: "test", workflowId: "w" },
  ask: async (operation: string) => answers[operation as never],
});
const oneShot = (deps: Deps) =>
  ({
    ...contextOf(deps, { contract: { file: fetched, mediaType: "application/pdf" } }),
    retrieve: async () => ({ documents: [{ name: "a.pdf", signed: letterPdf }] }),
  }) as unknown as OneShotContext;
const request = { account: "default", requestPk: "1", mode: "quick" } as const;
const affidavit = (deps: Deps) =>
  keepAffidavits(
    contextOf(deps, {}) as unknown as EviPostContext,
    "item",
    [{ id: "a" }],
    async () => new Map([["a", fetched]]),
  );

const cases: [string, kind: string, then: string[], take: (deps: Deps) => Promise<unknown>][] = [
  ["a new document", "submitted", ["put"], (deps) => documentReference(deps, inline, "submitted")],
  [
    "a stored document",
    "submitted",
    ["check"],
    (deps) => checkedReference(deps, stored, "submitted", "document"),
  ],
  ["an affidavit", "affidavit", ["put"], affidavit],
  ["a contract", "contract", ["put"], (deps) => contract(oneShot(deps), request)],
  ["a signed document", "signed", ["put"], (deps) => fetchSigned(oneShot(deps), request)],
];

test.each(cases)("%s has its owner before anything else", async (_, kind, then, take) => {
  const { done, deps } = recorder();
  await inActivity(() => take(deps));
  const id = done[0]?.split(" ").at(-1);
  expect(done).toEqual([`own test w ${kind} ${id}`, ...then.map((what) => `${what} ${id}`)]);
  // Where the owner cannot be written, the document is not touched.
  const other = recorder({ isAway: true });
  await expect(inActivity(() => take(other.deps))).rejects.toThrow("away");
  expect(other.done).toEqual([]);
});
