// Certificate requests and files, found by id, by token and by intent, and the envelopes that bring them together.
import type { Account } from "../../engine/accounts.js";
import type { SandboxParts } from "../../engine/parts.js";
import type { CertificateRequest, EnvelopeFile } from "./certificate-request.js";

const PROVIDER = "envelope-signature";

export interface EnvelopeState {
  requests: CertificateRequest[];
  files: EnvelopeFile[];
}

export class EnvelopeService {
  readonly parts: SandboxParts;
  readonly #requests = new Map<string, CertificateRequest>();
  readonly #byToken = new Map<string, CertificateRequest>();
  readonly #byIntent = new Map<string, CertificateRequest>();
  readonly #files = new Map<string, EnvelopeFile>();

  constructor(parts: SandboxParts) {
    this.parts = parts;
    // A file that is never sent is a harmless orphan, so it may be uploaded again.
    parts.ledger.allowRepeats(`${PROVIDER}.upload`);
  }

  create(
    given: Pick<CertificateRequest, "intent" | "magicKey" | "words">,
    account: Account,
    at: number,
  ): CertificateRequest {
    const { ids } = this.parts;
    const request: CertificateRequest = {
      ...given,
      id: ids.uuid(PROVIDER),
      token: ids.uuid(`${PROVIDER}.token`).replaceAll("-", ""),
      account: account.username,
      createdAt: at,
    };
    this.#add(request);
    this.#effect("esawoneshot", request, account, at);
    return request;
  }

  keep(
    given: Pick<EnvelopeFile, "intent" | "name" | "sha256">,
    account: Account,
    at: number,
  ): EnvelopeFile {
    const id = this.parts.ids.uuid(`${PROVIDER}.file`);
    const file: EnvelopeFile = { ...given, id, account: account.username, createdAt: at };
    this.#files.set(id, file);
    this.#effect("upload", file, account, at);
    return file;
  }

  send(request: CertificateRequest, files: EnvelopeFile[], account: Account, at: number): string {
    const id = this.parts.ids.uuid(`${PROVIDER}.envelope`);
    request.envelope = { id, fileIds: files.map((file) => file.id), sentAt: at };
    for (const file of files) file.envelopeId = id;
    this.#effect("send", request, account, at);
    return id;
  }

  request(id: string): CertificateRequest | undefined {
    return this.#requests.get(id);
  }

  requestOfToken(token: string): CertificateRequest | undefined {
    return this.#byToken.get(token);
  }

  /** The newest one. */
  requestOfIntent(intent: string): CertificateRequest | undefined {
    return this.#byIntent.get(intent);
  }

  file(id: string): EnvelopeFile | undefined {
    return this.#files.get(id);
  }

  requests(): Iterable<CertificateRequest> {
    return this.#requests.values();
  }

  files(): Iterable<EnvelopeFile> {
    return this.#files.values();
  }

  save(): EnvelopeState {
    return { requests: [...this.requests()], files: [...this.files()] };
  }

  load({ requests, files }: EnvelopeState): void {
    this.clear();
    for (const request of requests) this.#add(request);
    for (const file of files) this.#files.set(file.id, file);
  }

  clear(): void {
    for (const index of [this.#requests, this.#byToken, this.#byIntent, this.#files]) index.clear();
  }

  #add(request: CertificateRequest): void {
    this.#requests.set(request.id, request);
    this.#byToken.set(request.token, request);
    if (request.intent !== null) this.#byIntent.set(request.intent, request);
  }

  #effect(
    operation: "esawoneshot" | "upload" | "send",
    { id, intent }: { id: string; intent: string | null },
    { username }: Account,
    at: number,
  ): void {
    this.parts.ledger.record({
      operation: `${PROVIDER}.${operation}`,
      intent,
      itemId: id,
      at: new Date(at).toISOString(),
      account: username,
    });
    this.parts.changed();
  }
}
