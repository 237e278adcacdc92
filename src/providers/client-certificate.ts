// A client TLS certificate from files, read again when they change, so that a renewed one needs no restart (P1 §5.1, §5.5).
import { readFileSync, statSync } from "node:fs";
import type { Secret } from "../contracts/values.js";
import type { TlsIdentity } from "./http.js";

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
  #identity: TlsIdentity = {};

  constructor(files: ClientCertificateFiles) {
    this.#files = files;
  }

  /** The same object until a file changes; throws the file system's error where one cannot be read. */
  identity(): TlsIdentity {
    const { certificateFile, keyFile, pkcs12File, caFile, passphrase } = this.#files;
    const named = { cert: certificateFile, key: keyFile, pfx: pkcs12File, ca: caFile };
    const files = Object.entries(named).flatMap(([part, path]) =>
      path === undefined ? [] : [[part, path] as const],
    );
    const seen = files.map(([, path]) => stampOf(path)).join(" ");
    if (seen === this.#seen) return this.#identity;
    const parts = files.map(([part, path]) => [part, readFileSync(path)] as const);
    this.#identity = {
      ...Object.fromEntries(parts),
      ...(passphrase === undefined ? {} : { passphrase: passphrase.reveal() }),
    };
    this.#seen = seen;
    return this.#identity;
  }
}

function stampOf(path: string): string {
  const { ino, size, mtimeMs } = statSync(path);
  return `${ino}:${size}:${mtimeMs}`;
}
