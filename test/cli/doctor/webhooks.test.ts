// What `trustflow doctor` finds about the endpoints of webhooks: by connections alone, so that no endpoint hears of anything.
import { afterAll, beforeAll, expect, test } from "vitest";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { IncomingMessage, Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { join } from "node:path";
import {
  certificateAuthority,
  serverCertificate,
} from "../../../packages/sandbox/src/tls/certificate.js";
import { newSecret } from "../../../src/webhooks/signature.js";
import { closedPort, doctor, expectFinding, listening } from "./doctor.js";
import type { Report } from "./doctor.js";
import { temporaryFolder } from "../../harness/temporary.js";

const authority = certificateAuthority("Authority of the test");
const requests: string[] = [];
const heard = ({ url = "" }: IncomingMessage) => void requests.push(url);
const servers: Server[] = [
  createServer(heard),
  createTlsServer(serverCertificate(["localhost"], authority), heard) as Server,
];
const folder = await temporaryFolder();
let report: Report;

beforeAll(async () => {
  const authorityFile = join(folder, "authority.pem");
  await writeFile(authorityFile, authority.cert);
  const [plain, tls] = await Promise.all(servers.map(listening));
  const closed = await closedPort();
  const given: Record<string, { url: string; secret?: string; allow?: boolean }> = {
    GOOD: { url: `https://localhost:${tls}/hooks`, allow: true },
    CLEAR: { url: `http://localhost:${plain}/hooks`, allow: true },
    UNTRUSTED: { url: `https://127.0.0.1:${tls}/hooks`, allow: true },
    NAMED: { url: `http://localhost:${plain}/hooks` },
    LITERAL: { url: `http://127.0.0.1:${plain}/hooks` },
    AWAY: { url: `http://127.0.0.1:${closed}/hooks`, allow: true },
    UNKNOWN: { url: "http://nobody.invalid/hooks" },
    UNSIGNED: { url: `http://localhost:${plain}/hooks`, secret: "whsec_short", allow: true },
  };
  const env = Object.entries(given).flatMap(([name, { url, secret = newSecret(), allow }]) => {
    const key = `TRUSTFLOW_WEBHOOKS__${name}`;
    const settings = { URL: url, SECRET: secret, ALLOW_PRIVATE: String(allow === true) };
    return Object.entries(settings).map(([member, value]) => [`${key}__${member}`, value]);
  });
  report = await doctor({
    ...Object.fromEntries(env),
    TRUSTFLOW_ENVIRONMENT: "sandbox",
    NODE_EXTRA_CA_CERTS: authorityFile,
  });
}, 60_000);
afterAll(async () => {
  for (const server of servers) server.close();
});

const checkOf = (name: string) => report.checks.find(({ check }) => check === `webhook ${name}`);

test("an endpoint that answers is fine, with the life of its certificate", () => {
  expect(checkOf("good")).toMatchObject({
    state: "ok",
    detail: expect.stringMatching(/^the certificate of localhost:\d+ is valid /),
  });
  expect(checkOf("clear")).toMatchObject({
    state: "ok",
    detail: expect.stringMatching(/reachable, without TLS$/),
  });
});

test("a certificate of another host is found", () => {
  expectFinding(report, "webhook untrusted", "certificateOfOtherHost");
});

test.each(["named", "literal"])("webhookAddressPrivate: %s", (name) => {
  expectFinding(report, `webhook ${name}`, "webhookAddressPrivate", /has no public address/);
});

test("webhookAway: a port without a server, and a name without an address", () => {
  expectFinding(report, "webhook away", "webhookAway", /ECONNREFUSED/);
  expectFinding(report, "webhook unknown", "webhookAway", /\((ENOTFOUND|EAI_AGAIN)\)/);
});

test("a secret that signs nothing is found, and not shown", () => {
  expectFinding(report, "webhook unsigned", "configurationInvalid", /webhooks\.unsigned\.secret/);
  expect(report.stdout).not.toContain("whsec_short");
});

test("no endpoint hears of anything", () => {
  expect(requests).toEqual([]);
});

test("without an endpoint the check says so", async () => {
  const { checks } = await doctor({});
  expect(checks.find(({ check }) => check === "webhooks")).toMatchObject({ state: "skip" });
});
