// A bare caller of the simulated envelope-based service: the CA host over mutual TLS, the envelope host with its token.
import type { Certificate } from "../../../src/tls/certificate.js";
import type { Sandbox } from "../../../src/sandbox.js";
import { samplePdf } from "../../../../../test/harness/fixtures/fixtures.js";
import { exchange, type Answered } from "../../exchange.js";

export interface Created {
  req_pk: string;
  esaw_token: string;
}

/** Keys take their time: one certificate for each name of a sandbox. */
const certificates = new Map<string, Certificate>();
export function certificateOf(sandbox: Sandbox, name: string): Certificate {
  const key = `${sandbox.tlsUrl} ${name}`;
  const certificate = certificates.get(key) ?? sandbox.issueClientCertificate(name);
  certificates.set(key, certificate);
  return certificate;
}

export const creation = {
  method: "POST",
  path: "/api/v1/esawoneshot",
  clientCertificate: true,
} as const;

const SIGN_TYPE = "GenericSigningPluginVENDOROneShot";

export function sender(sandbox: Sandbox, username = "sandbox") {
  const certificate = certificateOf(sandbox, username);
  const headers = { apitoken: `${username}-api-token` };
  const path = (action: string) => `/Api/v6/${action}`;

  const create = (body: unknown = {}): Promise<Answered> =>
    exchange(sandbox, { ...creation, body }, certificate);

  const upload = (fileName = "contract.pdf", bytes = samplePdf): Promise<Answered> => {
    const form = [{ name: "File", fileName, content: bytes.toString("base64") }];
    const request = { method: "POST", path: path("file/upload"), headers, form } as const;
    return exchange(sandbox, request);
  };

  const send = (fileIds: string[], requestToken: string): Promise<Answered> => {
    const body = {
      Documents: fileIds.map((FileId, index) => ({ FileId, DocumentNumber: index + 1 })),
      Activities: [{ Action: { Sign: { Type: SIGN_TYPE, requestToken } } }],
    };
    const request = { method: "POST", path: path("envelope/send"), headers, body } as const;
    return exchange(sandbox, request);
  };

  async function all(body: unknown, names: string[]): Promise<Created & { fileIds: string[] }> {
    const created = await create(body);
    const fileIds: string[] = [];
    for (const name of names) fileIds.push((await upload(name)).body.FileId);
    return { ...created.body, fileIds };
  }

  return { create, upload, send, all };
}
