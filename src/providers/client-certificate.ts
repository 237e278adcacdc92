// A client TLS certificate from files, read again when they change, so that a renewed one needs no restart (P1 §5.1, §5.5).
import { X509Certificate, createPrivateKey } from "node:crypto";
import type { PrivateKeyInput } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { createSecureContext } from "node:tls";
import type { Secret } from "../contracts/values.js";
import { retire } from "./mutual-tls.js";
import type { TlsIdentity } from "./mutual-tls.js";

export interface ClientCertificateFiles {
  /** PEM, with `keyFile`. */
  certificateFile?: string | undefined;
  keyFile?: string | undefined;
  /** PKCS#12, instead of both. */
  pkcs12File?: string | undefined;
  /** Of the key, or of the PKCS#12 file. */
  passphrase?: Secret | undefined;
  /** The authorities by which the provider's own certificate is checked; default: the public ones. */
  caFile?: string | undefined;
}

export class ClientCertificate {
  readonly #files: ClientCertificateFiles;
  #seen = "";
  #identity: TlsIdentity | undefined;

  constructor(files: ClientCertificateFiles) {
    this.#files = files;
  }

  /**
   * The same object until a file changes; then the idle connections of the old one end. Throws where a file cannot be read,
   * or where they do not fit together, as halfway through a renewal.
   */
  identity(): TlsIdentity {
    const { certificateFile, keyFile, pkcs12File, caFile, passphrase } = this.#files;
    const named = { cert: certificateFile, key: keyFile, pfx: pkcs12File, ca: caFile };
    const files = Object.entries(named).flatMap(([part, path]) =>
      path === undefined ? [] : [[part, path] as const],
    );
    const seen = files.map(([, path]) => stampOf(path)).join(" ");
    if (this.#identity && seen === this.#seen) return this.#identity;
    const parts: Partial<Record<keyof typeof named, Buffer>> = Object.fromEntries(
      files.map(([part, path]) => [part, readFileSync(path)]),
    );
    const opening = passphrase === undefined ? {} : { passphrase: passphrase.reveal() };
    const identity = createSecureContext({ ...parts, ...opening });
    if (parts.cert && parts.key) refuseOtherKind(parts.cert, { key: parts.key, ...opening });
    if (this.#identity) retire(this.#identity);
    this.#identity = identity;
    this.#seen = seen;
    return identity;
  }
}

/** A key of another kind than the certificate's is not refused by itself: then no certificate would be shown. */
function refuseOtherKind(cert: Buffer, key: PrivateKeyInput): void {
  if (new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) return;
  const code = "ERR_OSSL_X509_KEY_TYPE_MISMATCH";
  throw Object.assign(new Error("the key is of another kind than the certificate's"), { code });
}

function stampOf(path: string): string {
  const { ino, size, mtimeNs } = statSync(path, { bigint: true });
  return `${ino}:${size}:${mtimeNs}`;
}
