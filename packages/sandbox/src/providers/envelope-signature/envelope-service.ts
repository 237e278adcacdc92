// Certificate requests and uploaded files, and the envelopes that bring them together (P1 §2.10; other fields: not shown).
import type { Account } from "../../engine/accounts.js";
import type { SandboxParts } from "../../engine/parts.js";
import { fieldsOf } from "../../exchange/checker.js";
import { describePayload } from "../../exchange/description.js";
import { Shelf } from "../../exchange/kept.js";
import { readMagicMember } from "../../exchange/magic.js";
import type { Arrival } from "../../exchange/operation.js";

export const PROVIDER = "envelope-signature";
const words = ["no-envelope-id"] as const;
const vocabulary = { provider: PROVIDER, operations: ["esawoneshot", "upload", "send"], words };

/** The magic words stand in the member `sandbox` of the certificate request. */
export const readRequestMagic = (body: unknown) => readMagicMember(fieldsOf(body), vocabulary);

/** The intent of a certificate request is its `reference`. */
export const describeCreation = (arrival: Arrival) =>
  describePayload(arrival, "reference", vocabulary);

interface CertificateRequest {
  /** `req_pk` */
  id: string;
  /** `esaw_token`, good for one envelope. */
  token: string;
  account: string;
  /** The request's `reference`: what the ledger counts by. */
  intent: string | null;
  magicKey: string;
  words: (typeof words)[number][];
  createdAt: number;
  /** `id`: `EnvelopeId`. */
  envelope?: { id: string; fileIds: string[]; sentAt: number };
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

export class EnvelopeService {
  readonly parts: SandboxParts;
  readonly requests = new Shelf<CertificateRequest>(
    PROVIDER,
    ({ envelope }) => (envelope ? { state: "sent", outcome: "sent" } : { state: "created" }),
    ({ token: _token, ...rest }) => rest,
  );
  readonly files = new Shelf<EnvelopeFile>(PROVIDER, ({ envelopeId }) => ({
    state: envelopeId === undefined ? "uploaded" : "enveloped",
  }));

  constructor(parts: SandboxParts) {
    this.parts = parts;
    // A file that is never sent is a harmless orphan, so it may be uploaded again.
    parts.ledger.allowRepeats(`${PROVIDER}.upload`);
  }

  create(
    given: Pick<CertificateRequest, "intent" | "magicKey" | "words">,
    { username: account }: Account,
    at: number,
  ): CertificateRequest {
    const { ids } = this.parts;
    const id = ids.uuid(PROVIDER);
    const token = ids.uuid(`${PROVIDER}.token`).replaceAll("-", "");
    const request = { ...given, id, token, account, createdAt: at };
    this.requests.add(request);
    this.#effect("esawoneshot", request, at);
    return request;
  }

  keep(
    given: Pick<EnvelopeFile, "intent" | "name" | "sha256">,
    { username: account }: Account,
    at: number,
  ): EnvelopeFile {
    const id = this.parts.ids.uuid(`${PROVIDER}.file`);
    const file = { ...given, id, account, createdAt: at };
    this.files.add(file);
    this.#effect("upload", file, at);
    return file;
  }

  send(request: CertificateRequest, files: EnvelopeFile[], at: number): string {
    const id = this.parts.ids.uuid(`${PROVIDER}.envelope`);
    request.envelope = { id, fileIds: files.map((file) => file.id), sentAt: at };
    for (const file of files) file.envelopeId = id;
    this.#effect("send", request, at);
    return id;
  }

  requestOfToken(token: unknown): CertificateRequest | undefined {
    return this.requests.save().find((request) => request.token === token);
  }

  #effect(
    operation: "esawoneshot" | "upload" | "send",
    { id: itemId, intent, account }: CertificateRequest | EnvelopeFile,
    at: number,
  ): void {
    const name = `${PROVIDER}.${operation}`;
    this.parts.ledger.record({ operation: name, intent, itemId, at, account });
  }
}
