// A client TLS certificate from files, read again when they change, so that a renewed one needs no restart (P1 §5.1, §5.5).
import { X509Certificate, createPrivateKey } from "node:crypto";
import type { PrivateKeyInput } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { PassThrough } from "node:stream";
import { TLSSocket, createSecureContext } from "node:tls";
import type { Secret } from "../../contracts/shared/values.js";
import { retire } from "./mutual-tls.js";
import type { TlsIdentity } from "./mutual-tls.js";

export interface ClientCertificateFiles {
  /** PEM, with `keyFile`. */
  certificateFile?: string | undefined;
  keyFile?: string | undefined;
  /** PKCS#12, instead of both. */
  pkcs12File?: string | undefined;
  /** Opens the key or the PKCS#12 file; it is revealed for each call, as it may change with the file. */
  passphrase?: Secret | undefined;
  /** The authorities by which the provider's own certificate is checked; default: the public ones. */
  caFile?: string | undefined;
}

export class ClientCertificate {
  readonly #files: ClientCertificateFiles;
  readonly #onKept: (code: string | undefined) => void;
  #last: { seen: string; identity: TlsIdentity; validUntil: number } | undefined;
  #reported: string | undefined;

  /** `onKept` is called once per cause when the new certificate files are unusable and the previous certificate stays in use. */
  constructor(
    files: ClientCertificateFiles,
    onKept: (code: string | undefined) => void = () => undefined,
  ) {
    this.#files = files;
    this.#onKept = onKept;
  }

  /**
   * The same object until a file or the passphrase changes; then the idle connections of the old one end. While the files
   * cannot be read or do not fit together, as halfway through a renewal, it is the one before, as long as that is valid;
   * without one it throws.
   */
  identity(): TlsIdentity {
    try {
      const identity = this.#read();
      this.#reported = undefined;
      return identity;
    } catch (error) {
      if (!this.#last || !(Date.now() < this.#last.validUntil)) throw error;
      const { code } = error as { code?: string };
      const cause = String(code);
      if (this.#reported !== cause) this.#onKept(code);
      this.#reported = cause;
      return this.#last.identity;
    }
  }

  #read(): TlsIdentity {
    const { certificateFile, keyFile, pkcs12File, caFile } = this.#files;
    const passphrase = this.#files.passphrase?.reveal();
    const named = { cert: certificateFile, key: keyFile, pfx: pkcs12File, ca: caFile };
    const files = Object.entries(named).flatMap(([part, path]) =>
      path === undefined ? [] : [[part, path] as const],
    );
    const seen = [...files.map(([, path]) => stampOf(path)), passphrase].join(" ");
    if (this.#last?.seen === seen) return this.#last.identity;
    const parts: Partial<Record<keyof typeof named, Buffer>> = Object.fromEntries(
      files.map(([part, path]) => [part, readFileSync(path)]),
    );
    const opening = passphrase === undefined ? {} : { passphrase };
    const identity = createSecureContext({ ...parts, ...opening });
    if (parts.cert && parts.key) refuseOtherKind(parts.cert, { key: parts.key, ...opening });
    if (this.#last) retire(this.#last.identity);
    const validUntil = Date.parse(certificateIn(identity)?.validTo ?? "");
    this.#last = { seen, identity, validUntil };
    return identity;
  }
}

/** Which certificate it shows: only a TLS socket tells, as nothing else in Node opens a PKCS#12 file. */
export function certificateIn(identity: TlsIdentity): X509Certificate | undefined {
  const socket = new TLSSocket(new PassThrough(), { secureContext: identity });
  try {
    return socket.getX509Certificate();
  } finally {
    socket.destroy();
  }
}

/** A key of another kind than the certificate's is not refused by itself: then no certificate would be shown. */
function refuseOtherKind(cert: Buffer, key: PrivateKeyInput): void {
  if (new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) return;
  const code = "ERR_OSSL_X509_KEY_TYPE_MISMATCH";
  throw Object.assign(new Error("the key is of another kind than the certificate's"), { code });
}

/** Another text once the file has changed, or was replaced. Throws where it is not there. */
export function stampOf(path: string): string {
  const { ino, size, mtimeNs } = statSync(path, { bigint: true });
  return `${ino}:${size}:${mtimeNs}`;
}
