// A signature request as the simulated provider keeps it (P1 §1.4; fields and states are assumed: not shown).
import type { OneTimePassword } from "../../engine/one-time-password.js";
import type { ItemSummary } from "../../exchange/operation.js";
import type { Hideable } from "../../engine/visibility.js";
import type { Word } from "./magic.js";

export const states = ["created", "signing", "signed", "failed", "cancelled"] as const;
export type RequestState = (typeof states)[number];
export type VideoState = "created" | "evidences" | "video" | "approved" | "cancelled";

export interface UploadedFile {
  name: string;
  /** Of the file; of a hash upload: the hash itself. */
  sha256: string;
}

export interface UploadedDocument extends UploadedFile {
  isHash: boolean;
}

export interface IdentityVideo {
  state: VideoState;
  /** What create and update gave. */
  fields: Record<string, unknown>;
  evidences: UploadedFile[];
  video?: UploadedFile;
}

export interface SignatureRequest extends Hideable {
  /** `request_pk` */
  id: string;
  account: string;
  /** The payload's `reference`: what the ledger counts by. */
  intent: string | null;
  magicKey?: string;
  words: Word[];
  mobile?: string;
  needsVideo: boolean;
  state: RequestState;
  createdAt: number;
  stateAt: number;
  documents: UploadedDocument[];
  areDocumentsDeleted: boolean;
  identityVideo?: IdentityVideo;
  otp?: OneTimePassword;
}

export function summary(request: SignatureRequest): ItemSummary {
  const { id, intent, account, state, createdAt } = request;
  return {
    provider: "one-shot-signature",
    id,
    intent,
    account,
    state,
    outcome: state === "created" || state === "signing" ? "None" : state,
    createdAt: new Date(createdAt).toISOString(),
  };
}
