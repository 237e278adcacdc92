// What doors.test.ts starts: production code behind the doors, once for each seed of the command line, all in this process. Prints
// as JSON what happened; a fact of `seen` is what doors.test.ts expects.
import { installWorld, removeWorld } from "./world.js";
import type { Program, World } from "./world.js";
import { installNetwork } from "./doors/sockets.js";
import type { ExchangeFault, Network } from "./doors/sockets.js";
import { Database } from "./doors/database.js";
import { installFiles } from "./doors/files.js";
import { writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { zipSync } from "fflate";
import { startSandbox } from "../../packages/sandbox/src/index.js";
import { callbackUrl } from "../../src/callbacks/address.js";
import { startRelay } from "../../src/callbacks/relay/relay.js";
import { startReceiver } from "../../src/callbacks/receiver/receiver.js";
import { KeyRing } from "../../src/crypto/key-ring.js";
import { publicRingOf } from "../../src/crypto/sealed-box.js";
import { DirectoryDriver } from "../../src/documents/directory-driver.js";
import { DocumentStore } from "../../src/documents/store.js";
import { listen } from "../../src/postgres/listen.js";
import { migrate } from "../../src/postgres/migrate.js";
import { createPool, transaction } from "../../src/postgres/pool.js";
import type { Pool } from "../../src/postgres/pool.js";
import { SoleHolder } from "../../src/postgres/sole-holder.js";
import { readZip } from "../../src/providers/evi/zip.js";
import { query, submit } from "../../src/providers/evi-post/client.js";
import { ClientCertificate } from "../../src/providers/http/client-certificate.js";
import { exchange } from "../../src/providers/http/exchange.js";
import { accountAt, submission } from "../providers/evi-post/account.js";
import { FakeTemporal, parsers } from "../callbacks/support.js";
import { inMemory } from "../providers/memory-keep.js";

const DAY_MS = 86_400_000;
const startAt = new Date("2027-01-01T00:00:00Z");
const FOLDER = "/simulated/documents";
const ring = KeyRing.parse(`k1:${Buffer.alloc(32, 1).toString("base64")}`);
const credentials = { username: "trustflow", password: "a password" };
const recipientAddress = { ...submission.recipientAddress, region: "Madrid" };

interface Stand {
  world: World;
  network: Network;
  database: Database;
  receiver: string;
  sandbox: Awaited<ReturnType<typeof startSandbox>>;
  worker: Program;
  pool: Pool;
  /** Runs it as the worker, to its end. */
  run<T>(work: () => Promise<T>): Promise<T>;
  stop(): Promise<void>;
}

async function start(world: World, dump: Blob): Promise<Stand> {
  const network = installNetwork(world);
  const database = await Database.open(network, dump);
  const worker = world.program("worker 1");
  const pool = worker.run(() => createPool(database.url));
  const receiver = await world.settle(
    world.program("receiver").run(async () => {
      const its = createPool(database.url);
      const sealRing = KeyRing.parse(publicRingOf(ring));
      const started = await startReceiver({
        pool: its,
        ring,
        sealRing,
        host: "receiver",
        port: 80,
      });
      return { close: () => started.close().then(() => its.end()) };
    }),
  );
  const sandbox = await world.settle(
    world
      .program("sandbox")
      .run(() => startSandbox({ host: "provider", port: 80, accounts: [credentials] })),
  );
  const run = <T>(work: () => Promise<T>) => world.settle(worker.run(work));
  return {
    ...{ world, network, database, sandbox, worker, pool, run },
    receiver: "http://receiver",
    async stop() {
      await world.settle(Promise.all([receiver.close(), sandbox.close(), pool.end()]));
      await database.close();
    },
  };
}

async function letter({ run, receiver, database, sandbox, world }: Stand) {
  const account = accountAt("http://provider");
  const token = "6d0a2c0e-6f0c-4c43-8f49-3b1d3c5f0a11";
  const { uniqueId } = await run(() => submit(account, { ...submission, recipientAddress }, token));
  const subject = { provider: "test", namespace: "default", workflowId: "sendPostal/1" };
  const answer = await run(() =>
    fetch(callbackUrl(ring, receiver, subject), {
      method: "POST",
      body: '{ "Identifier": "e-1" }',
    }),
  );
  const temporal = new FakeTemporal();
  const relay = world.program("relay");
  const options = { ring, bodyKeys: ring, parsers, clientFor: () => temporal };
  await world.settle(relay.run(() => startRelay({ pool: createPool(database.url), ...options })));
  await world.runUntil(() => temporal.signals.length > 0);
  await world.pass(100);
  relay.kill();
  const { results } = await run(() => query(account, { uniqueIds: [uniqueId] }));
  const stored = await database.rows(
    "select identifier, state, received_at::date::text as day from trustflow.callbacks",
  );
  return {
    found: results.length,
    effects: sandbox.ledger().effects?.length,
    status: answer.status,
    stored,
    signals: temporal.signals,
  };
}

/** The error's `effect` for each fault of one submission, and how many letters there are then. */
async function faults({ run, network, world, sandbox }: Stand) {
  const account = accountAt("http://provider", { timeoutMs: 2_000 });
  const page = { status: 200, headers: { "content-type": "text/html" }, body: "<html>" };
  const all: Record<string, ExchangeFault> = {
    cutBefore: { before: "cut" },
    lost: { after: "cut" },
    page: { before: page },
    late: { answerDelayMs: 5_000 },
    busy: { before: { status: 429, headers: { "retry-after": "7" } } },
    failedAfter: { after: { status: 500 } },
    slow: { delayMs: 500 },
  };
  const seen: Record<string, string | number | undefined> = {};
  for (const [name, fault] of Object.entries(all)) {
    network.onRequest = ({ url }) => (url.includes("Submit") ? fault : undefined);
    const sent = submit.bind(undefined, account, { ...submission, recipientAddress }, name);
    seen[name] = await run(() =>
      sent().then(
        () => "sent",
        ({ kind, effect, status }) => [kind, effect, status].join(" "),
      ),
    );
  }
  network.onRequest = () => undefined;
  network.onConnection = ({ host }) => (host === "provider" ? "refuse" : undefined);
  const refused = () => submit(account, { ...submission, recipientAddress }, "refused");
  const fresh = world.program("without a connection");
  seen["refused"] = await world.settle(
    fresh.run(() =>
      refused().then(
        () => "sent",
        ({ kind, effect, code }) => [kind, effect, code].join(" "),
      ),
    ),
  );
  network.onConnection = () => undefined;
  return { ...seen, letters: sandbox.ledger().effects?.length };
}

async function mutualTls({ run, sandbox }: Stand) {
  const { certificateFile, keyFile } = sandbox.pki;
  const identity = new ClientCertificate({ certificateFile, keyFile }).identity();
  const url = new URL(sandbox.tlsUrl);
  const request = { provider: "p", operation: "o", effectClass: "read", method: "GET" } as const;
  const ask = (tls?: typeof identity) =>
    run(() => exchange({ ...request, url, headers: {}, tls, timeoutMs: 5_000 })).catch(
      (error) => error,
    );
  return { known: (await ask(identity)).status, unknown: (await ask()).kind };
}

async function session({ world, database, run, pool }: Stand) {
  let news = 0;
  const other = world.program("worker 2");
  const its = other.run(() => createPool(database.url, { statementTimeoutMs: 1_000 }));
  const listener = other.run(() => listen(its, "news", () => (news += 1)));
  await world.runUntil(() => listener.connected);
  await run(() => pool.query("notify news"));
  await world.pass(50);
  const [mine, theirs] = [new SoleHolder(pool, "sole"), new SoleHolder(its, "sole")];
  const held = [await run(() => mine.isHeld()), await world.settle(theirs.isHeld())];
  // Its open transaction keeps all others waiting.
  const open = other.run(() =>
    transaction(its, async (client) => {
      await client.query("insert into trustflow.migrations (name) values ('never')");
      await new Promise(() => undefined);
    }),
  );
  void open.catch(() => undefined);
  await world.runUntil(() => database.isBusy);
  const impatient = world.program("worker 3");
  const third = impatient.run(() => createPool(database.url, { statementTimeoutMs: 1_000 }));
  const timedOut = await world.settle(
    impatient.run(() => third.query("select 1")).catch(({ code }: { code: string }) => code),
  );
  other.kill();
  await world.pass(100);
  const never = await run(() =>
    pool.query("select from trustflow.migrations where name = 'never'"),
  );
  mine.close();
  await world.pass(100);
  const last = new SoleHolder(third, "sole");
  return { news, held, timedOut, rows: never.rowCount, free: await world.settle(last.isHeld()) };
}

async function databaseFaults({ world, database, run, pool }: Stand) {
  const write = (name: string) =>
    run(() =>
      transaction(pool, (client) =>
        client.query("insert into trustflow.migrations (name) values ($1)", [name]),
      ),
    ).then(
      () => "committed",
      () => "failed",
    );
  const seen: string[] = [];
  for (const cut of ["cutBefore", "cutAfter"] as const) {
    database.onStatement = ({ text }) => (text === "commit" ? cut : undefined);
    seen.push(await write(cut));
    database.onStatement = () => undefined;
  }
  database.away(5_000);
  await world.pass(1_000);
  const isAway = await run(() => pool.query("select 1")).catch(({ code }) => code);
  await world.pass(5_000);
  const { rows } = await run(() =>
    pool.query(
      "select name, applied_at = now() as now from trustflow.migrations where name like 'cut%'",
    ),
  );
  return { seen, isAway, rows };
}

async function documents({ run, world }: Stand) {
  const files = installFiles(world, "/simulated");
  const store = new DocumentStore(new DirectoryDriver(FOLDER), ring);
  const bytes = Buffer.alloc(3_000_000, "a document");
  const { uri, sha256 } = await run(() => store.put(bytes, "application/pdf"));
  const back = await run(() =>
    store.get({ uri, sha256, size: bytes.length, mediaType: "application/pdf" }),
  );
  files.onWrite = () => "ENOSPC";
  const full = await run(() => store.put(bytes, "application/pdf")).catch(({ name }) => name);
  files.onWrite = () => undefined;
  const zip = zipSync({ "a.pdf": Buffer.alloc(100_000, "%PDF-1.4") });
  const names = await run(async () =>
    (await readZip(await inMemory.keep([zip] as never))).map(({ name }) => name),
  );
  const unfinished = files.paths().filter((path) => path.includes("/.")).length;
  return { isSame: back.equals(bytes), full, names, unfinished };
}

/** A migrated database, from which each world begins. */
async function template(): Promise<Blob> {
  const world = installWorld({ seed: "template", startAt });
  const database = await Database.open(installNetwork(world));
  const pool = createPool(database.url);
  await world.settle(migrate(pool).then(() => pool.end()));
  const dump = await database.dump();
  await database.close();
  return dump;
}

/** What a killed program still does. */
async function kill({ world, sandbox }: Stand) {
  const victim = world.program("victim");
  const seen = { ticks: 0, letters: 0, woke: false, wrote: false };
  const lettersBefore = sandbox.ledger().effects?.length ?? 0;
  victim.run(() => {
    setInterval(() => (seen.ticks += 1), 10);
    void sleep(50).then(() => (seen.woke = true));
  });
  await world.runUntil(() => seen.ticks === 1);
  victim.run(() => {
    void writeFile(`${FOLDER}/victim`, "late").then(() => (seen.wrote = true));
    const account = accountAt("http://provider");
    void submit(account, { ...submission, recipientAddress }, "victim").catch(() => undefined);
  });
  victim.kill();
  await world.pass(1_000);
  return { ...seen, letters: (sandbox.ledger().effects?.length ?? 0) - lettersBefore };
}

async function simulate(seed: string, dump: Blob) {
  const began = process.cpuUsage();
  const world = installWorld({ seed, startAt });
  const stand = await start(world, dump);
  const seen = {
    letter: await letter(stand),
    faults: await faults(stand),
    mutualTls: await mutualTls(stand),
    session: await session(stand),
    databaseFaults: await databaseFaults(stand),
    documents: await documents(stand),
    kill: await kill(stand),
  };
  await world.pass(30 * DAY_MS);
  await stand.stop();
  const { hash, steps, log } = world;
  removeWorld();
  const { user, system } = process.cpuUsage(began);
  const virtualSeconds = (world.now - world.startAt) / 1e3;
  return { seed, hash, steps, seen, virtualSeconds, cpuSeconds: (user + system) / 1e6, log };
}

const dump = await template();
const results = [];
for (const seed of process.argv.slice(2)) results.push(await simulate(seed, dump));
process.stdout.write(JSON.stringify(results), () => process.exit());
