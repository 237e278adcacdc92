// A client TLS certificate from files, read again when they change, so that a renewed one needs no restart (P1 §5.1, §5.5).
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
    const parts = files.map(([part, path]) => [part, readFileSync(path)] as const);
    const identity = createSecureContext({
      ...Object.fromEntries(parts),
      ...(passphrase === undefined ? {} : { passphrase: passphrase.reveal() }),
    });
    if (this.#identity) retire(this.#identity);
    this.#identity = identity;
    this.#seen = seen;
    return identity;
  }
}

function stampOf(path: string): string {
  const { ino, size, mtimeNs } = statSync(path, { bigint: true });
  return `${ino}:${size}:${mtimeNs}`;
}
