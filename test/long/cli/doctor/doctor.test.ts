// What `trustflow doctor` finds in a whole system: one part of it is wrong at a time.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { randomUUID } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { type Server, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream";
import { createServer as createTlsServer } from "node:tls";
import { accountsOf, loadWithAccounts } from "../../../../src/providers/accounts.js";
import { searchAttributes } from "../../../../src/contracts/shared/names.js";
import { KeyRing, generateKeyRing } from "../../../../src/crypto/key-ring.js";
import { lookUpProofsOf } from "../../../../src/config/look-up-proofs.js";
import { connectClient } from "../../../../src/temporal/connection.js";
import {
  certificateAuthority,
  serverCertificate,
} from "../../../../packages/sandbox/src/tls/certificate.js";
import type { Validity } from "../../../../packages/sandbox/src/tls/certificate.js";
import { temporaryFolder } from "../../../harness/temporary.js";
import { type TestStack, startTestStack } from "../../../harness/stack/stack.js";
import {
  type Report,
  doctor,
  doctorOfAll,
  expectFinding,
  listening,
} from "../../../cli/doctor/doctor.js";

const account = "TRUSTFLOW_ACCOUNTS__DEFAULT__EVI_POST";
const KEYWORD = 2;
let system: TestStack;
let env: Record<string, string>;

beforeAll(async () => {
  system = await startTestStack({ roles: ["sandbox", "receiver"] });
  env = system.stack.env;
});
afterAll(() => system.close());

const doctorWith = (changes: Record<string, string>) => doctor({ ...env, ...changes });

test("all is well, and no secret is shown", async () => {
  const { code, checks, stdout } = await doctorOfAll(env);
  expect(checks.filter(({ state }) => /warn|fail/.test(state))).toEqual([]);
  expect(code).toBe(0);
  const secrets = Object.entries(env).filter(([name]) => /__KEYS__|_KEYS__|TOKEN/.test(name));
  for (const [, secret] of secrets) expect(stdout).not.toContain(secret.replace(/^\w+:/, ""));
  expect(stdout).not.toContain(new URL(env["DATABASE_URL"] ?? "").password);
});

test("what is not examined has a line that says so, and why", async () => {
  const retrieve = "TRUSTFLOW_ACCOUNTS__DEFAULT__ONE_SHOT_SIGNATURE__PATHS__RETRIEVE";
  const { checks } = await doctorWith({ [retrieve]: "none" });
  const at = (url = "") => `certificate ${new URL(url).host}`;
  const withoutTls = "not examined: the connection has no TLS, so there is no certificate";
  const skipped = checks.flatMap(({ check, state, detail, ...more }) =>
    state === "skip" ? [[check, detail, more]] : [],
  );
  expect(new Set(skipped)).toEqual(
    new Set([
      [
        "look-up default one-shot-signature",
        'not examined: paths.retrieve is "none", so there is no such call',
        {},
      ],
      [at(system.stack.sandboxUrl), withoutTls, {}],
      [at(system.stack.receiverUrl), withoutTls, {}],
      ["certificate of Temporal", withoutTls, {}],
      [
        "operators",
        "not examined: no operator is configured here; only the workers know theirs",
        {},
      ],
      ["key operator", "not examined: keys.operator is not set, so this machine signs nothing", {}],
      ["roles", "not examined: GET /ready of each role shows whether it runs", {}],
      ["sandbox", "not examined: only the `trustflow sandbox` commands use sandbox.url", {}],
      ["webhooks", "not examined: no endpoint is configured here; the relays have them", {}],
    ]),
  );
  const details = Object.fromEntries(checks.map(({ check, detail }) => [check, detail]));
  expect(details["namespace"]).toContain("not compared with retention.inboxDays in the sandbox");
  expect(details["callback address"]).toContain("the sandbox does not need https");
});

describe("the database", () => {
  test("migrationsMissing: an empty database", async () => {
    const name = `empty_${randomUUID().replaceAll("-", "")}`;
    const url = new URL(system.stack.databaseUrl);
    await system.pool.query(`create database ${name}`);
    url.pathname = `/${name}`;
    const report = await doctorWith({ DATABASE_URL: url.href });
    expectFinding(report, "migrations", "migrationsMissing", "0001-tables");
    expect(report.checks.find(({ check }) => check.startsWith("look-up"))).toMatchObject({
      state: "warn",
      finding: "notChecked",
    });
  });

  test("databaseAway: a password that is wrong", async () => {
    const url = new URL(env["DATABASE_URL"] ?? "");
    url.password = "hunter2";
    const report = await doctorWith({ DATABASE_URL: url.href });
    expectFinding(report, "database", "databaseAway", "password authentication failed");
    expect(report.stdout).not.toContain("hunter2");
  });

  test("databaseAway: a server that takes no writes, as a standby after a failover", async () => {
    const url = new URL(env["DATABASE_URL"] ?? "");
    url.searchParams.set("options", "-c default_transaction_read_only=on");
    const report = await doctorWith({ DATABASE_URL: url.href });
    expectFinding(report, "database", "databaseAway", "takes no writes");
  });

  test("configurationInvalid: processes own documents, and the folder is empty, as one that is not mounted", async () => {
    const check = "documents of the database";
    await system.pool.query(
      "insert into trustflow.documents (id, namespace, workflow_id, kind) values ('0', 'default', 'a', 'submitted')",
    );
    const report = await doctorWith({ TRUSTFLOW_DOCUMENTS__DIRECTORY: await temporaryFolder() });
    await system.pool.query("delete from trustflow.documents");
    expectFinding(report, check, "configurationInvalid", "is not mounted");
  });
});

test("databaseUserOwns: the owner of the tables, outside the sandbox", async () => {
  const check = "user of the database";
  const owner = { DATABASE_URL: system.stack.databaseUrl };
  const report = await doctorWith({ ...owner, TRUSTFLOW_ENVIRONMENT: "preproduction" });
  expectFinding(report, check, "databaseUserOwns", "trustflow has the rights of the owner");
  const { checks } = await doctorWith(owner);
  expect(checks.find((one) => one.check === check)?.state).toBe("ok");
});

describe("look-ups", () => {
  const check = "look-up default evi-post";

  /** An item of ours that was answered so long ago is looked for: missed, and then found or not. */
  async function lookedFor(ages: [span: string, isFound: boolean][]): Promise<void> {
    const config = loadWithAccounts();
    const proofs = lookUpProofsOf(config, system.pool);
    const { lookUpConfiguration: configuration = "" } =
      accountsOf(config, "evi-post")["default"] ?? {};
    const key = { provider: "evi-post", account: "default", operation: "submit" };
    const whole = { ...key, form: "joined", configuration };
    await system.pool.query("delete from trustflow.look_up_proofs");
    await proofs.offer(whole, "item");
    for (const [span, isFound] of ages) {
      await system.pool.query(
        `update trustflow.look_up_proofs set sampled_at = clock_timestamp() - $1::interval,
           next_look_at = clock_timestamp()`,
        [span],
      );
      await proofs.look(whole, async () => isFound);
    }
  }

  test("what was found is well; before that it is not known yet", async () => {
    await system.pool.query("delete from trustflow.look_up_proofs");
    const before = await doctorWith({});
    expect(before.checks.find((one) => one.check === check)).toMatchObject({
      state: "ok",
      detail: expect.stringContaining("until then a lost answer needs an operator decision"),
    });
    await lookedFor([["0 seconds", true]]);
    const { checks } = await doctorWith({});
    expect(checks.find((one) => one.check === check)).toMatchObject({
      state: "ok",
      detail: expect.stringContaining("submit (joined) finds our own items"),
    });
  });

  test("lookUpFindsNothing: an item that is missed for as long as one may be invisible", async () => {
    await lookedFor([["2 hours", false]]);
    expectFinding(await doctorWith({}), check, "lookUpFindsNothing", "submit (joined)");
  });

  test("lookUpTooSlow: an item that shows later than two look-ups are apart", async () => {
    await lookedFor([
      ["20 seconds", false],
      ["30 seconds", true],
    ]);
    expectFinding(await doctorWith({}), check, "lookUpTooSlow", "too late");
    await system.pool.query("delete from trustflow.look_up_proofs");
  });
});

/** A machine whose clock is wrong: its Date says another time to the whole program. */
function clockOffBy(seconds: number): Record<string, string> {
  const code = `globalThis.Date = class extends Date {
    constructor(...given) { given.length > 0 ? super(...given) : super(Date.now()); }
    static now() { return super.now() + ${seconds * 1_000}; }
  };`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` };
}

test.each([
  // The way of the question is not counted as skew, and on a busy machine it takes a while.
  [-3_600, /it is (3600|359\d) s ahead of/],
  [3_600, /it is (3600|359\d) s behind/],
])(
  "clockSkewed: a machine %i s off differs from database and Temporal; a warning ends with 0",
  async (seconds, detail) => {
    const report = await doctorOfAll({ ...env, ...clockOffBy(seconds) });
    expectFinding(report, "clock of the database", "clockSkewed", detail);
    expectFinding(report, "clock of Temporal", "clockSkewed", detail);
    expect(report.code).toBe(0);
  },
);

describe("the namespace", () => {
  async function namespaceOf(days: number, attributes: Record<string, number> = {}) {
    const namespace = `n-${randomUUID()}`;
    const { connection, close } = await connectClient(KeyRing.parse(generateKeyRing()));
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: { seconds: (days * 86_400) as never },
    });
    if (Object.keys(attributes).length > 0)
      await connection.operatorService.addSearchAttributes({
        namespace,
        searchAttributes: attributes,
      });
    await close();
    return { TEMPORAL_NAMESPACE: namespace };
  }

  test("namespaceMissing: one that does not exist", async () => {
    const report = await doctorWith({ TEMPORAL_NAMESPACE: "nowhere" });
    expectFinding(report, "namespace", "namespaceMissing", "nowhere");
  });

  test("retentionTooShort: 1 day outside the sandbox", async () => {
    const namespace = await namespaceOf(1);
    const report = await doctorWith({ ...namespace, TRUSTFLOW_ENVIRONMENT: "preproduction" });
    expectFinding(report, "namespace", "retentionTooShort", "for 1 day,");
  });

  test("retentionTooLong: longer than the journal", async () => {
    const report = await doctorWith(await namespaceOf(401));
    expectFinding(report, "namespace", "retentionTooLong", "for 401 days");
  });

  test("searchAttributeOfOtherType: a name with another type", async () => {
    const { name } = searchAttributes.deadline;
    const report = await doctorWith(await namespaceOf(90, { [name]: KEYWORD }));
    expectFinding(report, "search attributes", "searchAttributeOfOtherType", name);
  });
});

describe("Temporal behind TLS", () => {
  const authority = certificateAuthority("Authority of the test");
  const file = join(tmpdir(), `trustflow-${randomUUID()}.pem`);
  let front: Server;
  beforeAll(() => writeFile(file, authority.cert));
  afterEach(() => void front.close());
  afterAll(() => rm(file));

  /** As a proxy before Temporal would, with a certificate of these days. */
  async function behindTls(validity: Validity): Promise<{ report: Report; check: string }> {
    const { hostname, port } = new URL(`tcp://${system.stack.temporal.address}`);
    const shown = serverCertificate(["localhost"], authority, validity);
    front = createTlsServer({ ...shown, ALPNProtocols: ["h2"] }, (socket) => {
      const onward = connect(Number(port), hostname);
      pipeline(socket, onward, socket, () => undefined);
    });
    const address = `localhost:${await listening(front)}`;
    const report = await doctorWith({
      TEMPORAL_ADDRESS: address,
      TEMPORAL_TLS: "true",
      TEMPORAL_TLS_SERVER_CA_CERT_PATH: file,
    });
    return { report, check: `certificate ${address}` };
  }

  test("all is well where the certificate is", async () => {
    const { report, check } = await behindTls({});
    expect(report.checks.filter(({ state }) => /warn|fail/.test(state))).toEqual([]);
    expect(report.checks.map((one) => one.check)).toContain(check);
  });

  test("temporalAway: a certificate that has expired, and it says so", async () => {
    const { report, check } = await behindTls({ fromDays: -2, untilDays: -1 });
    expectFinding(report, "temporal", "temporalAway");
    expectFinding(report, check, "certificateExpired");
  });
});

describe("the account", () => {
  test("credentialsRefused: each account is tried, here the second is not provisioned", async () => {
    const second = account.replace("DEFAULT", "SECOND");
    const report = await doctorWith({
      [`${second}__BASE_URL`]: system.stack.sandboxUrl,
      [`${second}__USERNAME`]: "not-provisioned",
      [`${second}__PASSWORD`]: "not-provisioned",
    });
    expectFinding(report, "account second evi-post", "credentialsRefused", "answered 403");
    expect(report.checks).toContainEqual(
      expect.objectContaining({ check: "account default evi-post", state: "ok" }),
    );
  });

  test("notTheProvider: a base URL that leads elsewhere", async () => {
    const report = await doctorWith({ [`${account}__BASE_URL`]: system.stack.receiverUrl });
    expectFinding(report, "account default evi-post", "notTheProvider", "answered 404");
  });

  test("nothing is left at the provider", async () => {
    const before = await system.sandbox.ledger();
    await doctor(env);
    expect(await system.sandbox.ledger()).toEqual(before);
  });
});

describe("the public callback URL", () => {
  const urlIs = (url: string) => ({ TRUSTFLOW_CALLBACKS__PUBLIC_URL: url });

  test.each([
    ["notOurReceiver", 400],
    ["notOurReceiver", 404],
    ["notChecked", 503],
  ] as const)("%s: a server that answers everything with %i", async (finding, status) => {
    const server = createServer((_request, response) => void response.writeHead(status).end());
    const report = await doctorWith(urlIs(`http://127.0.0.1:${await listening(server)}`));
    server.close();
    expectFinding(report, "callback address", finding, String(status));
  });

  test("notOurReceiver: our receiver, with other callback keys", async () => {
    const report = await doctorWith({ TRUSTFLOW_KEYS__CALLBACK: generateKeyRing() });
    expectFinding(report, "callback address", "notOurReceiver", "404 to a genuine one");
  });

  test("notOurReceiver: the receiver lacks a new key that does not issue addresses yet", async () => {
    const next = generateKeyRing("k9");
    const report = await doctorWith({
      TRUSTFLOW_KEYS__CALLBACK: `${env["TRUSTFLOW_KEYS__CALLBACK"]},${next}`,
    });
    expectFinding(
      report,
      "callback address",
      "notOurReceiver",
      /404 to a genuine one of the key k9/,
    );
  });

  test.each([
    ["callbackUrlNotHttps", "http://localhost"],
    ["callbackUrlLoopback", "https://localhost"],
    ["callbackUrlLoopback", "https://[::1]"],
  ] as const)("%s: %s outside the sandbox", async (finding, url) => {
    const report = await doctorWith({ ...urlIs(url), TRUSTFLOW_ENVIRONMENT: "preproduction" });
    expectFinding(report, "callback address", finding, url);
  });

  test("nothing is left in the inbox", async () => {
    await doctor(env);
    const { rows } = await system.pool.query("select from trustflow.callbacks");
    expect(rows).toEqual([]);
  });
});
