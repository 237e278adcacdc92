// What mutual TLS needs: an authority, the server's certificate, and a client's, as files; made once, kept while valid.
import { X509Certificate } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  certificateAuthority,
  clientCertificate,
  pkcs12,
  serverCertificate,
  type Certificate,
  type Validity,
} from "./certificate.js";

/** What a client is configured with. */
export interface PkiFiles {
  caFile: string;
  certificateFile: string;
  keyFile: string;
  pkcs12File: string;
  pkcs12Password: string;
}

export interface Pki {
  files: PkiFiles;
  /** For the server: who it is, and whose clients it trusts. */
  server: { ca: string; cert: string; key: string };
  /** A further client certificate of this authority, named after the account. */
  issue(name: string, validity?: Validity): Certificate;
  close(): Promise<void>;
}

type Name = "ca" | "server" | "client";
type Certificates = Record<Name, Certificate> & { pkcs12: Buffer };

const names: readonly Name[] = ["ca", "server", "client"];
const PKCS12_PASSWORD = "sandbox";
/** A certificate that would expire sooner is made anew. */
const MIN_REST_MS = 30 * 86_400_000;

/** Without a directory: a temporary one, removed at the end, with what this process has made before. */
export async function openPki(directory: string | undefined): Promise<Pki> {
  const folder = directory ?? (await mkdtemp(join(tmpdir(), "trustflow-sandbox-")));
  const found = directory === undefined ? unkept : await read(folder);
  const certificates = found && areUsable(found) ? found : make();
  if (directory === undefined) unkept = certificates;
  if (certificates !== found || directory === undefined) await write(folder, certificates);
  const { ca, server } = certificates;
  return {
    files: {
      caFile: join(folder, "ca.pem"),
      certificateFile: join(folder, "client.pem"),
      keyFile: join(folder, "client-key.pem"),
      pkcs12File: join(folder, "client.p12"),
      pkcs12Password: PKCS12_PASSWORD,
    },
    server: { ca: ca.cert, ...server },
    issue: (name, validity) => clientCertificate(name, ca, validity),
    async close() {
      if (directory === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}

let unkept: Certificates | undefined;

function make(): Certificates {
  const ca = certificateAuthority("Trustflow sandbox", { untilDays: 3650 });
  const client = clientCertificate("sandbox", ca);
  return {
    ca,
    // `sandbox` is its name in docker-compose.yml.
    server: serverCertificate(["localhost", "127.0.0.1", "::1", "sandbox"], ca),
    client,
    pkcs12: pkcs12(client, PKCS12_PASSWORD),
  };
}

function areUsable(certificates: Certificates): boolean {
  return names.every((name) => {
    const { validTo } = new X509Certificate(certificates[name].cert);
    return Date.parse(validTo) - Date.now() > MIN_REST_MS;
  });
}

async function write(folder: string, certificates: Certificates): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const put = (file: string, content: string | Buffer) =>
    writeFile(join(folder, file), content, { mode: 0o600 });
  const pkcs12File = join(folder, "client.p12");
  await rm(pkcs12File, { force: true });
  for (const name of names) {
    await put(`${name}-key.pem`, certificates[name].key);
    await put(`${name}.pem`, certificates[name].cert);
  }
  // Written last: without this file, the set is incomplete.
  await put("client.p12", certificates.pkcs12);
}

async function read(folder: string): Promise<Certificates | undefined> {
  const text = (file: string) => readFile(join(folder, file), "utf8");
  const pair = async (name: Name) => ({
    cert: await text(`${name}.pem`),
    key: await text(`${name}-key.pem`),
  });
  try {
    return {
      ca: await pair("ca"),
      server: await pair("server"),
      client: await pair("client"),
      pkcs12: await readFile(join(folder, "client.p12")),
    };
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return undefined;
    throw error;
  }
}
