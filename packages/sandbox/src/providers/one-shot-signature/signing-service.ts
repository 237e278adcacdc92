// What happens to signature requests: created, signed at once or later, failed, cancelled; each end may call the webhook.
import type { Account } from "../../engine/accounts.js";
import type { SandboxParts } from "../../engine/parts.js";
import type { RequestState, SignatureRequest, VideoState } from "./signature-request.js";

const MINUTE = 60_000;
const ASYNC_SIGNING_MS = 5 * MINUTE;
const VIDEO_REVIEW_MS = 30 * MINUTE;

/** The specification shows no retries of the webhook (P1 §6.2): these are the sandbox's own. */
const webhookRetryDelaysMs = [MINUTE, 5 * MINUTE, 15 * MINUTE];

type WebhookEvent = "signed" | "failed" | "video_approved";
type NewRequest = Pick<SignatureRequest, "intent" | "words" | "needsVideo"> &
  Partial<Pick<SignatureRequest, "magicKey" | "mobile">>;

export class SigningService {
  readonly parts: SandboxParts;
  readonly #requests = new Map<string, SignatureRequest>();

  constructor(parts: SandboxParts) {
    this.parts = parts;
    const later = (task: string, act: (request: SignatureRequest, at: number) => void) =>
      parts.clock.on(task, ({ id }: { id: string }, at) => {
        const request = this.#requests.get(id);
        if (request) act(request, at);
      });
    later("one-shot-signature.signing", (request, at) => {
      if (request.state !== "signing") return;
      this.enter(request, request.words.includes("async-failed") ? "failed" : "signed", at);
    });
    later("one-shot-signature.video-review", (request, at) => {
      if (request.identityVideo?.state === "video") this.enterVideo(request, "approved", at);
    });
  }

  create(request: NewRequest, account: Account, at: number): SignatureRequest {
    const created: SignatureRequest = {
      ...request,
      id: this.parts.ids.uuid("one-shot-signature"),
      account: account.username,
      state: "created",
      createdAt: at,
      stateAt: at,
      documents: [],
      areDocumentsDeleted: false,
    };
    this.#requests.set(created.id, created);
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
    this.parts.ledger.record({
      operation: `one-shot-signature.${operation}`,
      intent: request.intent,
      itemId: request.id,
      at: new Date(at).toISOString(),
      account: request.account,
      ...(part !== undefined && { part }),
    });
    this.parts.changed();
  }

  get(id: string): SignatureRequest | undefined {
    return this.#requests.get(id);
  }

  all(): Iterable<SignatureRequest> {
    return this.#requests.values();
  }

  load(requests: SignatureRequest[]): void {
    this.clear();
    for (const request of requests) this.#requests.set(request.id, request);
  }

  clear(): void {
    this.#requests.clear();
  }

  #later(task: string, { id }: SignatureRequest, at: number): void {
    this.parts.clock.schedule(at, `one-shot-signature.${task}`, { id });
  }

  /** P1 §6.2: to the URL that is configured for the account, where there is one; the payload is assumed. */
  #callWebhook(request: SignatureRequest, event: WebhookEvent, at: number): void {
    const { accounts, callbacks, ids } = this.parts;
    const url = accounts.get(request.account)?.webhookUrl;
    if (url === undefined) return;
    const date = new Date(at).toISOString();
    callbacks.emit(
      {
        provider: "one-shot-signature",
        identifier: ids.uuid("one-shot-signature.event"),
        kind: event,
        itemId: request.id,
        intent: request.intent,
        lookupKeys: request.intent === null ? [] : [request.intent],
        account: request.account,
        magicKey: request.magicKey,
        url,
        body: JSON.stringify({ event, request_pk: request.id, date }),
        retryDelaysMs: webhookRetryDelaysMs,
      },
      at,
    );
  }
}
