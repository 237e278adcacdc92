// The authority's host is shown the client certificate, the envelope host is not (P1 §4.5, §5.5).
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ClientCertificate } from "../../../src/providers/http/client-certificate.js";
import * as client from "../../../src/providers/envelope-signature/client.js";
import {
  certificateAuthority,
  clientCertificate,
  serverCertificate,
} from "../../../packages/sandbox/src/tls/certificate.js";
import { errorOf } from "../evi-post/account.js";
import { accountAt, pdf } from "./account.js";

const authority = certificateAuthority("Test authority");
const own = clientCertificate("trustflow", authority);
let directory: string;
let shown: string[];
let ca: Awaited<ReturnType<typeof startHost>>;
let esign: Awaited<ReturnType<typeof startHost>>;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "trustflow-test-"));
  shown = [];
  ca = await startHost({ rejectUnauthorized: true });
  esign = await startHost({ rejectUnauthorized: false });
});
afterEach(() => {
  ca.close();
  esign.close();
  rmSync(directory, { recursive: true });
});

test("the certificate goes to the authority's host alone", async () => {
  const account = accountAt(ca.url, esign.url);
  account.ca.tls = new ClientCertificate({
    certificateFile: file("own.pem", own.cert),
    keyFile: file("own.key", own.key),
    caFile: file("ca.pem", authority.cert),
  });
  account.esign.tls = new ClientCertificate({ caFile: file("ca.pem", authority.cert) });
  await client.esawoneshot(account, {});
  await client.uploadFile(account, pdf);
  const given = { documents: [{ fileId: "f1" }], esawToken: "tok", envelope: {} };
  await client.sendEnvelope(account, given);
  expect(shown).toEqual([
    "/api/v1/esawoneshot trustflow",
    "/Api/v6/file/upload -",
    "/Api/v6/envelope/send -",
  ]);
});

test("without one the authority's host refuses: nothing happened", async () => {
  const account = accountAt(ca.url, esign.url);
  account.ca.tls = new ClientCertificate({ caFile: file("ca.pem", authority.cert) });
  const error = await errorOf(client.esawoneshot(account, {}));
  expect(error).toMatchObject({ kind: "accessDenied", effect: "none" });
  expect(shown).toEqual([]);
});

async function startHost({ rejectUnauthorized }: { rejectUnauthorized: boolean }) {
  const identity = { ...serverCertificate(["localhost"], authority), ca: authority.cert };
  const options = { ...identity, requestCert: true, rejectUnauthorized };
  const server = createServer(options, (request, response) => {
    const { subject } = (request.socket as TLSSocket).getPeerCertificate();
    shown.push(`${request.url} ${subject?.CN ?? "-"}`);
    request.resume();
    request.on("end", () => {
      response.end(JSON.stringify({ req_pk: "q1", esaw_token: "tok", FileId: "f1" }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://localhost:${port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function file(name: string, content: string): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
}
