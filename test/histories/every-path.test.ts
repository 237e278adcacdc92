// Every path of every process with no process kept in memory, so that each workflow task replays its history from the
// start; then nothing personal may stand in anything that was written meanwhile (DESIGN §1.5, §8).
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Client } from "@temporalio/client";
import { appendFile, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import pg from "pg";
import { InvalidInputError } from "../../src/client.js";
import { searchAttributes, workflowTaskQueue } from "../../src/contracts/names.js";
import { freePorts } from "../../src/local/free-ports.js";
import { removeWithUs } from "../../src/local/watchdog.js";
import { addressOf, postAll, settled } from "../support/history-callbacks.js";
import { Canaries, canaryAuthor, found } from "../support/history-canaries.js";
import { descriptions, files, histories, metrics, rows } from "../support/history-haystack.js";
import type { Haystack } from "../support/history-haystack.js";
import { sendPostalPaths } from "../support/history-paths.js";
import { startPathStack } from "../support/history-stack.js";
import type { PathStack } from "../support/history-stack.js";

const { process: name, paths } = sendPostalPaths;
const canaries = new Canaries();
const author = canaryAuthor(canaries);
let stack: PathStack;
let directory: string;
let metricsPorts: number[];
let walked: Map<string, PromiseSettledResult<void>>;
let database: pg.Client;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "trustflow-canaries-"));
  removeWithUs(directory);
  metricsPorts = await freePorts(3);
  stack = await startPathStack(sendPostalPaths, canaries.of("the account's password"), {
    directory,
    persistent: true,
    env: {
      TRUSTFLOW_LOG__LEVEL: "TRACE",
      TRUSTFLOW_WORKER__CACHED_PROCESSES: "0",
      TRUSTFLOW_WORKER__METRICS_ADDRESS: String(metricsPorts[0]),
      TRUSTFLOW_RECEIVER__METRICS_ADDRESS: String(metricsPorts[1]),
      TRUSTFLOW_RELAY__METRICS_ADDRESS: String(metricsPorts[2]),
    },
  });
  database = new pg.Client({ connectionString: stack.system.stack.env["DATABASE_URL"] });
  await database.connect();
  walked = await stack.walkAll(author);
}, 180_000);

afterAll(async () => {
  await database?.end();
  await stack?.system.close();
  await rm(directory, { recursive: true, force: true, maxRetries: 5 });
}, 60_000);

test.each(Object.keys(paths))("%s goes its way, and nothing is cached", (path) => {
  const way = walked.get(path);
  if (way?.status === "rejected") throw way.reason;
  expect(way?.status).toBe("fulfilled");
});

/** Where any of the texts stands, and in which encoding. */
async function places(texts: string[], sources: AsyncIterable<Haystack>[]): Promise<string[]> {
  const hits = new Set<string>();
  for (const source of sources) {
    for await (const [place, bytes] of source) {
      for (const text of texts)
        for (const form of found(text, bytes)) hits.add(`${place}: ${form}`);
    }
  }
  return [...hits].filter((hit) => !hit.startsWith("stack.json"));
}

function everything(): AsyncIterable<Haystack>[] {
  const { system } = stack;
  return [
    histories(system),
    descriptions(system),
    rows(system),
    metrics(metricsPorts),
    files(system),
  ];
}

test("callbacks full of canaries are stored, parked or refused, each as it should be", async () => {
  const answers = await postAll(stack.system, author.words, {
    open: `${name}/still-open`,
    ended: `${name}/terminated`,
  });
  const stored = { good: 204, affidavit: 204, unreadable: 204, unnamed: 204, uncorrelated: 204 };
  const refused = { forged: 404, unheard: 404, malformed: 400, oversized: 413 };
  expect(answers).toEqual({ ...stored, late: 204, unknown: 204, ...refused });
  const states = async () => {
    const sql =
      "select state, reason from trustflow.callbacks where workflow_id = any($1) order by 1, 2";
    const ids = ["still-open", "terminated", "never-was"].map((id) => `${name}/${id}`);
    const { rows: found } = await database.query(sql, [ids]);
    return (found as Record<string, string>[]).map(({ state, reason }) => reason ?? state ?? "");
  };
  await settled(async () => (await states()).filter((state) => state === "waiting").length);
  expect(new Set(await states())).toEqual(
    new Set(["delivered", "late", "correlationMismatch", "unknownProcess", "unreadable"]),
  );
}, 30_000);

test("refused updates and signals that nobody takes are no way out either", async () => {
  const { client } = stack.system;
  const by = author.words("name");
  const handle = client.handle(`${name}/still-open`);
  const stale = { attention: author.words("attention"), decision: "retry", by } as const;
  const refusal: unknown = await handle.resolve(stale).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(InvalidInputError);
  expect(inspect(refusal, { depth: 10 })).not.toContain(canaries.mark);
  await client.temporal.workflow.getHandle(handle.workflowId).signal("unheard", by);
  await handle.status();
}, 30_000);

test("no canary stands in histories, visibility, rows, metrics, logs, documents or the servers' own files", async () => {
  expect(canaries.all.size).toBeGreaterThan(40);
  expect(await places([canaries.mark], everything())).toEqual([]);
}, 60_000);

test("neither do keys, and the address of a running process is known to nobody", async () => {
  const { env } = stack.system.stack;
  const keys = Object.entries(env)
    .filter(([key]) => key.startsWith("TRUSTFLOW_KEYS__"))
    .map(([, ring]) => ring.slice(ring.indexOf(":") + 1));
  const capability = addressOf(stack.system, `${name}/still-open`).split(".").at(-1) ?? "";
  const token = env["TRUSTFLOW_CODEC_SERVER__TOKEN"] ?? "";
  expect([...keys, capability, token].every((secret) => secret.length > 30)).toBe(true);
  expect(await places([...keys, capability, token], everything())).toEqual([]);
}, 60_000);

test("the search finds what is there: each field without the codec, an attribute, a row, a log, a document", async () => {
  const { system } = stack;
  const { connection } = system.client.temporal;
  const inClear = new Client({ connection });
  const input = author.letter("in-clear", "open", {});
  const attribute = { key: searchAttributes.outcome, value: canaries.of("an attribute") };
  await inClear.workflow.start(name, {
    workflowId: `${name}/in-clear`,
    taskQueue: workflowTaskQueue,
    args: [input],
    typedSearchAttributes: [attribute],
  });
  const inside = [...canaries.all].filter(([, canary]) => JSON.stringify(input).includes(canary));
  expect(inside.length).toBeGreaterThan(25);
  const [history] = await matching(histories(system), "/in-clear, raw");
  const missed = inside.filter(([, canary]) => !found(canary, history!).includes("clear"));
  expect(missed).toEqual([]);
  expect(found(canaries.of("the document"), history!)).toEqual(["base64"]);
  const [exported] = await matching(histories(system), "/in-clear");
  expect(inside.filter(([, canary]) => found(canary, exported!).length === 0)).toEqual([]);
  const [description] = await matching(descriptions(system), "/in-clear");
  expect(found(attribute.value, description!)).toEqual(["clear"]);

  await database.query("create table trustflow.canary as select $1::text as a, $2::bytea as b", [
    canaries.of("a text"),
    Buffer.from(canaries.of("bytes")),
  ]);
  const hidden = await readdir(join(directory, "documents"));
  await appendFile(join(directory, "logs", "relay.log"), encodeURI(canaries.of("a log")));
  await writeFile(join(directory, "documents", hidden[0] ?? "", "x"), canaries.of("a document"));
  for (const [of, source, form] of [
    ["a text", rows(system), "table canary: clear"],
    ["bytes", rows(system), "table canary: clear"],
    ["a log", files(system), "logs/relay.log: clear"],
    ["a document", files(system), `documents/${hidden[0]}/x: clear`],
  ] as const) {
    expect(await places([canaries.of(of)], [source])).toContain(form);
  }
}, 60_000);

async function matching(source: AsyncIterable<Haystack>, ending: string): Promise<Buffer[]> {
  const bytes: Buffer[] = [];
  for await (const [place, found] of source) if (place.endsWith(ending)) bytes.push(found);
  return bytes;
}
