// What happens to signature requests: created, signed at once or later, failed, cancelled; each end may call the webhook
// (P1 §1.4; fields and states are assumed: not shown).
import type { Account } from "../../engine/accounts.js";
import type { OneTimePassword } from "../../engine/one-time-password.js";
import type { SandboxParts } from "../../engine/parts.js";
import type { Hideable } from "../../engine/visibility.js";
import { postEvent } from "../../callbacks/webhook.js";
import { fieldsOf } from "../../exchange/checker.js";
import { describePayload } from "../../exchange/description.js";
import { Shelf } from "../../exchange/kept.js";
import { readMagicMember } from "../../exchange/magic.js";
import type { Arrival } from "../../exchange/operation.js";

export const PROVIDER = "one-shot-signature";
const MINUTE = 60_000;
const ASYNC_SIGNING_MS = 5 * MINUTE;
const VIDEO_REVIEW_MS = 30 * MINUTE;

const words = [
  "async",
  "async-failed",
  "async-stalled",
  "video-approved",
  "same-bytes",
  "webhook-lost",
  "webhook-doubled",
  "webhook-delayed",
  "webhook-reordered",
] as const;

export const operationNames = [
  "create",
  "contract",
  "otp",
  "sign",
  "uploadDocument",
  "uploadHash",
  "retrieve",
  "deleteDocuments",
  "createIdentityVideo",
  "uploadEvidences",
  "uploadVideo",
  "approveIdentityVideo",
  "cancelIdentityVideo",
  "getIdentityVideo",
  "updateIdentityVideo",
] as const;

const vocabulary = {
  provider: PROVIDER,
  operations: [...operationNames, "callback"],
  words,
  callbackPrefix: "webhook-",
};

/** The magic words stand in the member `sandbox` of the payload of create. */
export const readRequestMagic = (body: unknown) => readMagicMember(fieldsOf(body), vocabulary);

/** The intent of a payload is its `reference`. */
export const describeCreation = (arrival: Arrival) =>
  describePayload(arrival, "reference", vocabulary);

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
  words: (typeof words)[number][];
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

type WebhookEvent = "signed" | "failed" | "video_approved";
type NewRequest = Pick<SignatureRequest, "intent" | "words" | "needsVideo"> &
  Partial<Pick<SignatureRequest, "magicKey" | "mobile">>;

export class SigningService {
  readonly parts: SandboxParts;
  /** Its code is for the outbox alone. */
  readonly requests = new Shelf<SignatureRequest>(
    PROVIDER,
    ({ state }) => ({ outcome: state === "created" || state === "signing" ? "None" : state }),
    ({ otp: _otp, ...rest }) => rest,
  );

  constructor(parts: SandboxParts) {
    this.parts = parts;
    const later = (task: string, act: (request: SignatureRequest, at: number) => void) =>
      parts.clock.on(task, ({ id }: { id: string }, at) => {
        const request = this.requests.get(id);
        if (request) act(request, at);
      });
    later(`${PROVIDER}.signing`, (request, at) => {
      if (request.state !== "signing") return;
      this.enter(request, request.words.includes("async-failed") ? "failed" : "signed", at);
    });
    later(`${PROVIDER}.video-review`, (request, at) => {
      if (request.identityVideo?.state === "video") this.enterVideo(request, "approved", at);
    });
  }

  create(request: NewRequest, account: Account, at: number): SignatureRequest {
    const created: SignatureRequest = {
      ...request,
      id: this.parts.ids.uuid(PROVIDER),
      account: account.username,
      state: "created",
      createdAt: at,
      stateAt: at,
      documents: [],
      areDocumentsDeleted: false,
    };
    this.requests.add(created);
    this.effect("create", created, at);
    return created;
  }

  /** The certificate is issued now; the signatures may follow later. */
  sign(request: SignatureRequest, at: number): void {
    this.effect("sign", request, at);
    const has = (word: string) => request.words.some((mine) => mine === word);
    if (!has("async") && !has("async-failed") && !has("async-stalled")) {
      this.enter(request, "signed", at);
      return;
    }
    this.enter(request, "signing", at);
    if (!has("async-stalled")) this.#later("signing", request, at + ASYNC_SIGNING_MS);
  }

  enter(request: SignatureRequest, state: RequestState, at: number): void {
    if (request.state === state) return;
    Object.assign(request, { state, stateAt: at });
    if (state === "signed" || state === "failed") this.#callWebhook(request, state, at);
    this.parts.changed();
  }

  enterVideo(request: SignatureRequest, state: VideoState, at: number): void {
    const { identityVideo } = request;
    if (!identityVideo || identityVideo.state === state) return;
    identityVideo.state = state;
    if (state === "approved") this.#callWebhook(request, "video_approved", at);
    if (state === "cancelled" && request.needsVideo) this.enter(request, "cancelled", at);
    if (state === "video" && request.words.includes("video-approved"))
      this.#later("video-review", request, at + VIDEO_REVIEW_MS);
    this.parts.changed();
  }

  /** `part`: what of the request the effect is about, so that two documents are no repeat. */
  effect(operation: string, request: SignatureRequest, at: number, part?: string): void {
    const { id: itemId, intent, account } = request;
    const name = `${PROVIDER}.${operation}`;
    this.parts.ledger.record({ operation: name, intent, itemId, at, account, part });
  }

  #later(task: string, { id }: SignatureRequest, at: number): void {
    this.parts.clock.schedule(at, `${PROVIDER}.${task}`, { id });
  }

  /** P1 §6.2: to the URL that is configured for the account, where there is one; the payload is assumed. */
  #callWebhook(request: SignatureRequest, event: WebhookEvent, at: number): void {
    postEvent(this.parts, request, {
      provider: PROVIDER,
      kind: event,
      url: this.parts.accounts.get(request.account)?.webhookUrl,
      body: { event, request_pk: request.id, date: new Date(at).toISOString() },
      at,
    });
  }
}
