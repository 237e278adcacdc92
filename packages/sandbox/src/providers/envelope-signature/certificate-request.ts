// What the envelope-based service keeps: certificate requests and uploaded files (P1 §2.10; other fields: not shown).
import type { ItemSummary } from "../../exchange/operation.js";
import type { Word } from "./magic.js";

export interface SentEnvelope {
  /** `EnvelopeId` */
  id: string;
  fileIds: string[];
  sentAt: number;
}

export interface CertificateRequest {
  /** `req_pk` */
  id: string;
  /** `esaw_token`, good for one envelope. */
  token: string;
  account: string;
  /** The request's `reference`: what the ledger counts by. */
  intent: string | null;
  magicKey: string;
  words: Word[];
  createdAt: number;
  envelope?: SentEnvelope;
}

export interface EnvelopeFile {
  /** `FileId` */
  id: string;
  account: string;
  intent: string | null;
  name: string;
  sha256: string;
  createdAt: number;
  /** The envelope that it was sent in; without one it is a harmless orphan. */
  envelopeId?: string;
}

const provider = "envelope-signature";

export function requestSummary(request: CertificateRequest): ItemSummary {
  const { id, intent, account, createdAt, envelope } = request;
  const state = envelope ? "sent" : "created";
  const outcome = envelope ? "sent" : "None";
  return { provider, id, intent, account, state, outcome, createdAt: instant(createdAt) };
}

export function fileSummary({
  id,
  intent,
  account,
  createdAt,
  ...file
}: EnvelopeFile): ItemSummary {
  const state = file.envelopeId === undefined ? "uploaded" : "enveloped";
  return { provider, id, intent, account, state, outcome: "None", createdAt: instant(createdAt) };
}

const instant = (at: number) => new Date(at).toISOString();
