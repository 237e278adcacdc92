// Finds the documents that a process's histories name. Those without an owner row, such as an upload that no activity has taken or one
// whose row a restore has lost, can be found only here.
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

/** Finds the ids anywhere in an event except in memos, which name no documents and may come from a stranger. */
function payloadsIn(value: unknown): Payload[] {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return [];
  if ("metadata" in value && "data" in value && value.data instanceof Uint8Array)
    return [value as Payload];
  const parts = Object.entries(value).filter(
    ([name]) => name !== "memo" && name !== "upsertedMemo",
  );
  return parts.flatMap(([, part]) => payloadsIn(part));
}
