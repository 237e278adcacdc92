// The TLS profile: with the certificates of its script and the environment of its file, every role reaches Temporal through a
// real TLS hop; a client without a certificate, or with one of another authority, is refused.
import { execFile } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { commandLine } from "../../cli/in-process.js";
import { readyLine, start, trustflow } from "../../cli/run.js";
import { startTestStack } from "../../harness/stack/stack.js";
import type { TestStack } from "../../harness/stack/stack.js";
import { startHop } from "../../harness/stack/hop.js";
import type { Hop } from "../../harness/stack/hop.js";
import { testReady } from "../outages/ready.js";
import { authoritiesOfClients, portOfTemporal, root, tlsOf } from "../../deploy/compose-file.js";

let system: TestStack;
let folder: string;
let ours: string;
let others: string;
let hop: Hop;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "trustflow-mtls-"));
  [ours, others] = [join(folder, "ours"), join(folder, "others")];
  for (const directory of [ours, others])
    await promisify(execFile)("sh", [`${root}deploy/mtls/make-certificates.sh`, directory]);
  system = await startTestStack({ roles: [] });
  hop = await hopOf(ours);
}, 120_000);
afterAll(async () => {
  hop?.close();
  await system?.close();
  await rm(folder, { recursive: true, force: true });
});

const hopOf = (directory: string): Promise<Hop> =>
  startHop([system.stack.temporal.address], portOfTemporal(directory, authoritiesOfClients));

function envOf(service: string, tls = tlsOf(service, ours)): Record<string, string> {
  const { stack } = system;
  const own = service === "worker" || service === "relay" ? stack.envOf(service) : stack.env;
  return { ...own, TEMPORAL_ADDRESS: hop.address, ...tls };
}

async function stop(role: ChildProcess): Promise<void> {
  role.kill("SIGTERM");
  await once(role, "close");
}

test("the worker starts, and polls, with its certificate", async () => {
  const role = start(["worker"], { env: envOf("worker") });
  expect(await readyLine(role)).toMatchObject({ ready: "worker" });
  await stop(role);
}, 60_000);

test("the relay starts with its certificate, where the secrets of the accounts are absent", async () => {
  const config = join(folder, "shared.toml");
  await writeFile(
    config,
    `[accounts.default.one-shot-signature]
baseUrl = "https://signatures.example.com"
token = { file = "/nowhere/token" }
webhookPointer = "/id"

[accounts.default.evi-post]
baseUrl = "https://post.example.com"
username = "acme"
password = { env = "NOT_HERE" }
`,
  );
  const role = start(["relay"], { env: { ...envOf("relay"), TRUSTFLOW_CONFIG: config } });
  expect(await readyLine(role)).toMatchObject({ ready: "relay" });
  await stop(role);
}, 60_000);

test.each([
  ["migrate", ["migrate", "--temporal-only"]],
  ["cleanup", ["list"]],
  ["cli", ["list"]],
])("%s reaches Temporal with its certificate", async (service, args) => {
  const { code, stderr } = await commandLine(args, { env: envOf(service) });
  expect([code, stderr.includes("Cannot reach Temporal")]).toEqual([0, false]);
});

test("a client without a certificate, with one of another authority, or without TLS is refused", async () => {
  const { TEMPORAL_TLS_SERVER_CA_CERT_PATH = "", TEMPORAL_TLS = "" } = tlsOf("cli", ours);
  const trusting = { TEMPORAL_TLS_SERVER_CA_CERT_PATH };
  const strange = { ...tlsOf("cli", others), ...trusting };
  const refused = [{ TEMPORAL_TLS, ...trusting }, strange, {}];
  const workers = refused.map((tls) => trustflow(["worker"], { env: envOf("worker", tls) }));
  for (const tls of refused) {
    const { code, stderr } = await commandLine(["list"], { env: envOf("cli", tls) });
    expect([code, stderr]).toEqual([
      4,
      expect.stringMatching(/^(Cannot reach|TLS with) Temporal\b/m),
    ]);
  }
  for (const { code } of await Promise.all(workers)) expect(code).toBe(4);
}, 120_000);

test("a server with a certificate of another authority is not believed", async () => {
  const impostor = await hopOf(others);
  try {
    const env = { ...envOf("cli"), TEMPORAL_ADDRESS: impostor.address };
    expect((await commandLine(["list"], { env })).code).toBe(4);
  } finally {
    impostor.close();
  }
});

test("run again, the script keeps existing files; only the owner can read the authority's key", async () => {
  const before = readFileSync(join(ours, "worker.pem"), "utf8");
  await rm(join(ours, "relay.pem"));
  await promisify(execFile)("sh", [`${root}deploy/mtls/make-certificates.sh`, ours]);
  expect(readFileSync(join(ours, "worker.pem"), "utf8")).toBe(before);
  expect(readFileSync(join(ours, "relay.pem"), "utf8")).toContain("BEGIN CERTIFICATE");
  for (const key of ["server-ca-key.pem", "client-ca-key.pem"])
    expect((await stat(join(ours, key))).mode & 0o777).toBe(0o600);
  expect((await stat(ours)).mode & 0o777).toBe(0o700);
});

describe("a worker whose way to Temporal has ended", () => testReady(() => system));
