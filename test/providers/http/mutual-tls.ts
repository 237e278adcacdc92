// Certificates of a provider that wants to see ours, and files that hold ours.
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  certificateAuthority,
  clientCertificate,
  serverCertificate,
} from "../../../packages/sandbox/src/tls/certificate.js";

export const authority = certificateAuthority("Authority of the provider");
const server = serverCertificate(["localhost"], authority);
const stranger = certificateAuthority("Another authority");

/** For a server: it accepts only clients with a certificate of the authority. */
export const mutualTls = {
  ...server,
  ca: authority.cert,
  requestCert: true,
  rejectUnauthorized: true,
};

export const certificates = {
  good: clientCertificate("trustflow", authority),
  other: clientCertificate("trustflow", stranger),
  expired: clientCertificate("trustflow", authority, { fromDays: -3, untilDays: -1 }),
};

/** A folder whose files are replaced at once, as a renewal does. */
export class Files {
  readonly folder = mkdtempSync(join(tmpdir(), "trustflow-test-"));

  put(name: string, content: string | Buffer): string {
    const path = join(this.folder, name);
    writeFileSync(`${path}.new`, content);
    renameSync(`${path}.new`, path);
    return path;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}
