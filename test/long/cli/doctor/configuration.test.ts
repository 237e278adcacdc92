// What `trustflow doctor` finds where nothing but the configuration is there.
import { beforeAll, expect, test } from "vitest";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { type Socket, createServer } from "node:net";
import { join } from "node:path";
import { runCheck } from "../../../../src/cli/doctor/check.js";
import { generateKeyRing, KeyRing } from "../../../../src/crypto/key-ring.js";
import { publicRingOf } from "../../../../src/crypto/sealed-box.js";
import {
  type Report,
  closedPort,
  doctor,
  expectFinding,
  listening,
} from "../../../cli/doctor/doctor.js";
import { commandLine } from "../../../cli/in-process.js";
import { temporaryFolder } from "../../../harness/temporary.js";

const account = "TRUSTFLOW_ACCOUNTS__DEFAULT__EVI_POST";
const ring = generateKeyRing();
const folder = await temporaryFolder();
let env: Record<string, string>;

beforeAll(async () => {
  env = pointingAt(await closedPort());
});

/** A whole configuration whose servers are all at that port. */
function pointingAt(port: number): Record<string, string> {
  return {
    DATABASE_URL: `postgresql://user:hunter2@127.0.0.1:${port}/trustflow`,
    TEMPORAL_ADDRESS: `127.0.0.1:${port}`,
    TRUSTFLOW_ENVIRONMENT: "sandbox",
    TRUSTFLOW_DOCUMENTS__DIRECTORY: join(folder, "documents"),
    TRUSTFLOW_KEYS__CODEC: ring,
    TRUSTFLOW_KEYS__CALLBACK: ring,
    TRUSTFLOW_KEYS__JOURNAL: ring,
    TRUSTFLOW_KEYS__INBOX: ring,
    TRUSTFLOW_KEYS__DOCUMENTS: ring,
    TRUSTFLOW_CALLBACKS__PUBLIC_URL: `http://127.0.0.1:${port}`,
    [`${account}__BASE_URL`]: `http://127.0.0.1:${port}`,
    [`${account}__USERNAME`]: "user",
    [`${account}__PASSWORD`]: "hunter3",
  };
}

test("settingMissing: each key that is not there is named, with its variable", async () => {
  const report = await doctor({});
  for (const [check, variable] of [
    ["environment", "TRUSTFLOW_ENVIRONMENT"],
    ["database", "DATABASE_URL"],
    ["key ring codec", "TRUSTFLOW_KEYS__CODEC"],
    ["key ring callback", "TRUSTFLOW_KEYS__CALLBACK"],
    ["key ring journal", "TRUSTFLOW_KEYS__JOURNAL"],
    ["key ring inbox", "TRUSTFLOW_KEYS__INBOX"],
    ["key ring documents", "TRUSTFLOW_KEYS__DOCUMENTS"],
    ["document store", "TRUSTFLOW_DOCUMENTS__DIRECTORY"],
    ["callback address", "TRUSTFLOW_CALLBACKS__PUBLIC_URL"],
  ] as const)
    expectFinding(report, check, "settingMissing", variable);
  expectFinding(report, "accounts", "accountsMissing");
});

test("configurationInvalid: a key that does not exist, and a temporal.toml that cannot be read", async () => {
  const unknown = await doctor({ ...env, TRUSTFLOW_WORKER__WAGES: "1" });
  expectFinding(unknown, "configuration", "configurationInvalid", "wages");
  const file = join(folder, "temporal.toml");
  await writeFile(file, 'api_key = "hunter4');
  const broken = await doctor({ ...env, TEMPORAL_CONFIG_FILE: file });
  expectFinding(broken, "temporal", "configurationInvalid", "temporal.toml");
  expect(broken.stdout).not.toContain("hunter4");
});

test("inboxKeysDiffer: the relay could not open what the receiver seals", async () => {
  const seals = (given: string) => doctor({ ...env, TRUSTFLOW_KEYS__INBOX_PUBLIC: given });
  const fitting = await seals(publicRingOf(KeyRing.parse(ring)));
  expect(fitting.checks.find(({ check }) => check === "key ring inboxPublic")?.state).toBe("ok");
  // The private ring by mistake.
  expectFinding(
    await seals(ring),
    "key ring inboxPublic",
    "inboxKeysDiffer",
    "the relay cannot open",
  );
});

test("keysMalformed: a ring that cannot be read is named by entry and key id; one that is not configured here is skipped", async () => {
  const report = await doctor({
    ...{ ...env, TRUSTFLOW_KEYS__CODEC: "k1:c2hvcnQ=", TRUSTFLOW_KEYS__CODEC_WRITE: "w1:c2hvcnQ=" },
  });
  expectFinding(report, "key ring codec", "keysMalformed", /keys\.codec.*"k1".*5 bytes/);
  expectFinding(report, "key ring codecWrite", "keysMalformed", "w1");
  expect(report.stdout).not.toContain("c2hvcnQ=");
  const skipped = report.checks.filter(({ detail }) => detail?.startsWith("not configured here"));
  expect(skipped.map(({ check, state }) => [check, state])).toEqual([
    ["key ring secrets", "skip"],
    ["key ring secretsPublic", "skip"],
    ["key ring inboxPublic", "skip"],
  ]);
});

test("documentStoreUnusable: a folder that cannot be made", async () => {
  const file = join(folder, "file");
  await writeFile(file, "");
  const report = await doctor({ ...env, TRUSTFLOW_DOCUMENTS__DIRECTORY: join(file, "documents") });
  expectFinding(report, "document store", "documentStoreUnusable", "ENOTDIR");
});

function expectAllAway(report: Report): void {
  expectFinding(report, "database", "databaseAway");
  expectFinding(report, "temporal", "temporalAway");
  expectFinding(report, "account default evi-post", "providerAway");
  expectFinding(report, "callback address", "receiverAway");
  for (const check of ["migrations", "clock of the database"])
    expectFinding(report, check, "notChecked", "cannot reach the database");
  for (const check of ["namespace", "search attributes", "open processes", "clock of Temporal"])
    expectFinding(report, check, "notChecked", "cannot reach Temporal");
  expect(report.stdout).not.toContain("hunter");
  expect(report.stdout).not.toContain(ring.split(":")[1]);
}

test("databaseAway, temporalAway, providerAway, receiverAway, notChecked: where nobody listens", async () => {
  expectAllAway(await doctor(env));
});

test("servers that take the connection and never answer are found just so: nothing hangs", async () => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => void sockets.push(socket.on("error", () => undefined)));
  try {
    expectAllAway(await doctor(pointingAt(await listening(silent))));
  } finally {
    for (const socket of sockets) socket.destroy();
    silent.close();
    await once(silent, "close");
  }
});

test("noAnswer: whatever a check waits for, it ends", async () => {
  const never = () => new Promise<string>(() => undefined);
  expect(await runCheck("patience", never, 10)).toMatchObject({
    state: "fail",
    finding: "noAnswer",
  });
});

test("an unexpected error shows its kind only", async () => {
  const failing = () => Promise.reject(new RangeError("hunter5"));
  expect(await runCheck("surprise", failing)).toMatchObject({
    state: "warn",
    finding: "notChecked",
    detail: "not checked: RangeError",
  });
});

test("for a reader each finding has its name and its remedy", async () => {
  const { code, stdout } = await commandLine(["doctor"], { env });
  expect(code).toBe(4);
  expect(stdout).toMatch(/^FAIL {2}database .*ECONNREFUSED.*\n {6}databaseAway: Start PostgreSQL/m);
  expect(stdout).toMatch(/^ok {4}environment +sandbox$/m);
});
