// Documents that a process's histories name: those of earlier releases, which wrote down no owners, are found by nothing else.
import type { Client } from "@temporalio/client";
import type { Payload } from "@temporalio/common";
import type { KeyRing } from "../crypto/key-ring.js";
import { EncryptionCodec } from "../temporal/codec/codec.js";

const uriShape = /document:([0-9a-f]{32})/g;

/** Their ids. */
export async function namedDocuments(
  client: Client,
  codecRing: KeyRing,
  workflowId: string,
  runIds: string[],
): Promise<Set<string>> {
  const codec = new EncryptionCodec(codecRing);
  const ids = new Set<string>();
  for (const runId of runIds) {
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    for (const { data } of await codec.decode(payloadsIn(history.events))) {
      const text = data ? Buffer.from(data).toString("latin1") : "";
      for (const [, id = ""] of text.matchAll(uriShape)) ids.add(id);
    }
  }
  return ids;
}

/** Wherever they stand in an event, but for memos: they name no documents, and a stranger may have put one that nobody can open. */
function payloadsIn(value: unknown): Payload[] {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return [];
  if ("metadata" in value && "data" in value && value.data instanceof Uint8Array)
    return [value as Payload];
  const parts = Object.entries(value).filter(
    ([name]) => name !== "memo" && name !== "upsertedMemo",
  );
  return parts.flatMap(([, part]) => payloadsIn(part));
}
