// An endpoint with a client certificate serves only clients with a valid certificate of the sandbox's authority.
import { once } from "node:events";
import { readFile, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { got } from "got";
import {
  certificateAuthority,
  clientCertificate,
  type Certificate,
} from "../src/tls/certificate.js";
import { sandboxControl } from "../src/control/client.js";
import { startSandbox, type Sandbox } from "../src/sandbox.js";
import { readyLine, start } from "../../../test/cli/run.js";
import { basic, mutualTls } from "./caller.js";
import { holderBody } from "./providers/disposable-certificate/caller.js";
import { temporaryFolder } from "../../../test/harness/temporary.js";

const sandbox = await startSandbox({ speed: "manual" });
afterAll(() => sandbox.close());

async function check(https: object, { tlsUrl }: Sandbox = sandbox): Promise<number> {
  const { statusCode } = await got.post(`${tlsUrl}/api/certificate/lra-1/checkData`, {
    https,
    headers: { authorization: basic() },
    json: holderBody(),
    retry: { limit: 0 },
    throwHttpErrors: false,
  });
  return statusCode;
}

test("the client certificate opens the way, as PEM and as PKCS#12 (P1 §5.1)", async () => {
  expect(await check(mutualTls(sandbox))).toBe(200);
  const { pki } = sandbox;
  const https = {
    certificateAuthority: await readFile(pki.caFile),
    pfx: await readFile(pki.pkcs12File),
    passphrase: pki.pkcs12Password,
  };
  expect(await check(https)).toBe(200);
});

test("a certificate that was issued besides does too, also one that expires tomorrow", async () => {
  const soon = sandbox.issueClientCertificate("another", { untilDays: 1 });
  expect(await check(mutualTls(sandbox, soon))).toBe(200);
});

const refused: [string, () => Partial<Certificate>][] = [
  ["none", () => ({})],
  ["one of another authority", () => clientCertificate("sandbox", certificateAuthority("Other"))],
  ["an expired one", () => sandbox.issueClientCertificate("x", { fromDays: -9, untilDays: -1 })],
  ["one that is not valid yet", () => sandbox.issueClientCertificate("x", { fromDays: 1 })],
];
test.each(refused)(
  "%s is refused before any request is read (P1 §5.1)",
  async (_name, certificate) => {
    const { cert, key } = certificate();
    const { certificateAuthority: authority } = mutualTls(sandbox);
    const before = await sandboxControl(sandbox.url).requests();
    const own = cert === undefined ? {} : { certificate: cert, key };
    await expect(check({ certificateAuthority: authority, ...own })).rejects.toMatchObject({
      code: expect.stringMatching(/^(ECONNRESET|EPIPE|ERR_SSL_.*ALERT.*)$/),
    });
    const { total } = await sandboxControl(sandbox.url).requests();
    expect(total).toEqual(before.total);
  },
);

test("the server's certificate is good for its addresses, and known by the CA file alone", async () => {
  const { certificate, key } = mutualTls(sandbox);
  await expect(check({ certificate, key })).rejects.toMatchObject({
    code: "SELF_SIGNED_CERT_IN_CHAIN",
  });
  const tlsUrl = sandbox.tlsUrl.replace("127.0.0.1", "localhost");
  expect(await check(mutualTls(sandbox), { ...sandbox, tlsUrl })).toBe(200);
});

test("plain HTTP does not serve what needs a certificate, and mutual TLS nothing else", async () => {
  const plain = await fetch(`${sandbox.url}/api/certificate/lra-1/checkData`, { method: "POST" });
  expect(plain.status).toBe(404);
  for (const path of ["/v1/EviPost/Query", "/_sandbox/state", "/health"]) {
    const options = { https: mutualTls(sandbox), throwHttpErrors: false };
    expect((await got(`${sandbox.tlsUrl}${path}`, options)).statusCode).toBe(404);
  }
});

test("the files are kept for the next start, and what was configured goes on", async () => {
  const stateDirectory = await temporaryFolder();
  const first = await startSandbox({ speed: "manual", stateDirectory });
  const certificate = await readFile(first.pki.certificateFile, "utf8");
  const kept = mutualTls(first);
  await first.close();
  const second = await startSandbox({ speed: "manual", stateDirectory });
  expect(second.pki).toEqual(first.pki);
  expect(await readFile(second.pki.certificateFile, "utf8")).toBe(certificate);
  expect(await check(kept, second)).toBe(200);
  await second.close();
  await rm(stateDirectory, { recursive: true });
});

test("a certificate that would expire within the month is made anew at the start", async () => {
  const pkiDirectory = await temporaryFolder();
  const first = await startSandbox({ speed: "manual", pkiDirectory });
  const ending = first.issueClientCertificate("sandbox", { untilDays: 29 });
  await writeFile(first.pki.certificateFile, ending.cert);
  await writeFile(first.pki.keyFile, ending.key);
  await first.close();
  const second = await startSandbox({ speed: "manual", pkiDirectory });
  expect(await readFile(second.pki.certificateFile, "utf8")).not.toBe(ending.cert);
  expect(await check(mutualTls(second), second)).toBe(200);
  await second.close();
  await rm(pkiDirectory, { recursive: true });
});

test("without a folder of its own the files go with the sandbox", async () => {
  const other = await startSandbox({ speed: "manual" });
  const folder = join(other.pki.caFile, "..");
  expect(await readdir(folder)).toContain("client.p12");
  await other.close();
  await expect(readdir(folder)).rejects.toMatchObject({ code: "ENOENT" });
});

test("the ready line of the role says where it is, and which files open it", async () => {
  const role = start(["sandbox", "--port", "0"]);
  const { tlsUrl, pki } = (await readyLine(role)) as unknown as Sandbox;
  expect(await check(mutualTls({ pki } as Sandbox), { tlsUrl } as Sandbox)).toBe(200);
  role.kill("SIGTERM");
  await once(role, "exit");
});
