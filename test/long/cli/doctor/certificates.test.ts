// The certificates that `trustflow doctor` judges, shown by real TLS servers.
import { afterEach, beforeAll, expect, test } from "vitest";
import { writeFile } from "node:fs/promises";
import { type Server, createServer } from "node:net";
import { join } from "node:path";
import { createServer as createTlsServer } from "node:tls";
import type { FindingName } from "../../../../src/cli/doctor/findings.js";
import {
  certificateAuthority,
  clientCertificate,
  serverCertificate,
} from "../../../../packages/sandbox/src/tls/certificate.js";
import type { Certificate, Validity } from "../../../../packages/sandbox/src/tls/certificate.js";
import { doctor, expectFinding, listening } from "../../../cli/doctor/doctor.js";
import { temporaryFolder } from "../../../harness/temporary.js";

const HOST = "localhost";
const authority = certificateAuthority("Authority of the test");
const servers: Server[] = [];
const folder = await temporaryFolder();
let authorityFile: string;

beforeAll(async () => {
  authorityFile = await written("authority.pem", authority.cert);
});
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function written(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

/** Completes the handshake and says nothing more. */
async function tlsServer(shown: Certificate): Promise<number> {
  const server = createTlsServer(shown, (socket) => socket.on("error", () => undefined).end());
  servers.push(server);
  return listening(server);
}

function providerAt(port: number, name = "DEFAULT"): Record<string, string> {
  const account = `TRUSTFLOW_ACCOUNTS__${name}__EVI_POST`;
  return {
    [`${account}__BASE_URL`]: `https://${HOST}:${port}`,
    [`${account}__USERNAME`]: "user",
    [`${account}__PASSWORD`]: "password",
  };
}

function temporalAt(port: number): Record<string, string> {
  return {
    TEMPORAL_ADDRESS: `${HOST}:${port}`,
    TEMPORAL_TLS: "true",
    TEMPORAL_API_KEY: "hunter2",
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: authorityFile,
  };
}

const cases: [FindingName, string, Validity][] = [
  ["certificateExpired", HOST, { fromDays: -90, untilDays: -1 }],
  ["certificateNotYetValid", HOST, { fromDays: 1 }],
  ["certificateExpiresSoon", HOST, { untilDays: 29 }],
  ["certificateOfOtherHost", "post.example.com", {}],
];

test("each account's provider is judged; a certificate that is good for more than 30 days is fine, of provider, receiver and Temporal", async () => {
  const judged = await Promise.all(
    cases.map(async ([finding, host, validity], index) => {
      const port = await tlsServer(serverCertificate([host], authority, validity));
      return { finding, port, account: providerAt(port, `OF_CASE_${index}`) };
    }),
  );
  const fine = serverCertificate([HOST], authority, { untilDays: 31 });
  const ports = await Promise.all([tlsServer(fine), tlsServer(fine), tlsServer(fine)]);
  const [provider, receiver, temporal] = ports;
  const report = await doctor({
    NODE_EXTRA_CA_CERTS: authorityFile,
    ...Object.assign({}, ...judged.map(({ account }) => account)),
    ...providerAt(provider),
    ...temporalAt(temporal),
    TRUSTFLOW_CALLBACKS__PUBLIC_URL: `https://${HOST}:${receiver}`,
  });
  for (const { finding, port } of judged)
    expectFinding(report, `certificate ${HOST}:${port}`, finding, `${HOST}:${port}`);
  for (const port of ports)
    expect(report.checks).toContainEqual(
      expect.objectContaining({ check: `certificate ${HOST}:${port}`, state: "ok" }),
    );
});

test("a name that Temporal's configuration gives is the one that the certificate must have", async () => {
  const port = await tlsServer(serverCertificate(["temporal.example.com"], authority));
  const { checks } = await doctor({
    ...temporalAt(port),
    TEMPORAL_TLS_SERVER_NAME: "temporal.example.com",
  });
  expect(checks).toContainEqual(
    expect.objectContaining({ check: `certificate ${HOST}:${port}`, state: "ok" }),
  );
});

test("certificateUntrusted: an issuer that this machine does not know", async () => {
  const port = await tlsServer(serverCertificate([HOST], authority));
  const report = await doctor(providerAt(port));
  expectFinding(report, `certificate ${HOST}:${port}`, "certificateUntrusted", "UNABLE_TO_VERIFY");
});

test("tlsFailed: a server that speaks no TLS", async () => {
  const plain = createServer((socket) => socket.on("error", () => undefined).end("hello\n"));
  servers.push(plain);
  const port = await listening(plain);
  const report = await doctor(providerAt(port));
  expectFinding(report, `certificate ${HOST}:${port}`, "tlsFailed", `${HOST}:${port}`);
});

test("a server that is not there is not judged", async () => {
  const gone = await tlsServer(serverCertificate([HOST], authority));
  for (const server of servers.splice(0)) server.close();
  const report = await doctor(providerAt(gone));
  expectFinding(report, `certificate ${HOST}:${gone}`, "notChecked", "ECONNREFUSED");
});

test("Temporal's certificate is judged, and our own for it; the key of the API is not shown", async () => {
  const port = await tlsServer(serverCertificate([HOST], authority, { untilDays: 29 }));
  const mine = clientCertificate("client", authority, { untilDays: -1, fromDays: -2 });
  const report = await doctor({
    ...temporalAt(port),
    TEMPORAL_TLS_CLIENT_CERT_PATH: await written("client.pem", mine.cert),
    TEMPORAL_TLS_CLIENT_KEY_PATH: await written("client.key", mine.key),
  });
  expectFinding(report, `certificate ${HOST}:${port}`, "certificateExpiresSoon");
  expectFinding(report, "client certificate", "certificateExpired");
  expect(report.stdout).not.toContain("hunter2");
});
