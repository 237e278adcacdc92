// What the providers and the load of the bench share: the body of a callback, and the answers to it on a plain socket, as an HTTP
// library costs more than what is measured.
import { randomUUID } from "node:crypto";

/**
 * P2 §2.11–2.12.
 * @typedef {object} Reported
 * @property {string} evidenceId
 * @property {string} evidenceType
 * @property {string} lookupKey
 * @property {string | undefined} [extraData]
 * @property {string | undefined} [outcome]
 * @param {Reported} reported
 * @param {string} kind
 */
export function callbackBody({ evidenceId, evidenceType, lookupKey, extraData, outcome }, kind) {
  const at = new Date().toISOString();
  return JSON.stringify({
    Identifier: randomUUID(),
    Kind: kind,
    Date: at,
    EvidenceId: evidenceId,
    EvidenceType: evidenceType,
    EvidenceState: null,
    Site: "Bench",
    Owner: "bench",
    OwnerEmail: "bench@sandbox.invalid",
    AdditionalData: {
      Sender: "Bench",
      Recipient: "A recipient",
      LookupKey: lookupKey,
      State: kind,
      CreationDate: at,
      ExtraData: extraData,
      ...(kind === "Closed" && { Outcome: outcome }),
    },
  });
}

/**
 * Calls back with the status of each answer, one request being under way at a time.
 * @param {import("node:net").Socket} socket
 * @param {(status: string) => void} answered
 */
export function onAnswers(socket, answered) {
  let text = "";
  socket.setEncoding("latin1");
  socket.on("data", (chunk) => {
    text += String(chunk);
    const end = text.indexOf("\r\n\r\n");
    if (end < 0) return;
    const head = text.slice(0, end);
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    if (text.length < end + 4 + length) return;
    text = text.slice(end + 4 + length);
    answered(head.slice(9, 12));
  });
}
