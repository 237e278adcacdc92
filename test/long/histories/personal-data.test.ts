// Nothing personal may stand in anything that is written while processes run (docs/design.md §1, §8). What runs is a sample of the
// paths: of each process those on which a person or the provider says something, on which a secret is made, or on which a text stands in
// an error. All other paths are replayed (test/replay), and the simulation makes others by chance.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Client } from "@temporalio/client";
import { appendFile, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { InvalidInputError } from "../../../src/client.js";
import { contracts } from "../../../src/contracts/index.js";
import type { ProcessName } from "../../../src/contracts/registry.js";
import { searchAttributes, workflowTaskQueue } from "../../../src/contracts/shared/names.js";
import { removeOnExit } from "../../../packages/dev/src/processes/watchdog.js";
import { addressOf, postAll } from "../../processes/send-postal/callbacks.js";
import { Canaries, formsOf, found, Needles } from "../../harness/histories/canaries.js";
import { decoded } from "../../harness/histories/decoded.js";
import {
  descriptions,
  files,
  histories,
  historyBytes,
  metrics,
  rows,
} from "../../harness/histories/haystack.js";
import type { Haystack } from "../../harness/histories/haystack.js";
import { startPathStack } from "../../harness/histories/stack.js";
import { allPaths, only } from "../../harness/histories/paths.js";
import type { PathStack, PathResults } from "../../harness/histories/stack.js";
import { idOf } from "../../harness/histories/path-run.js";
import { eventually } from "../../harness/outages/wait.js";
import { inboxSettled } from "../../harness/stack/inbox.js";
import { metricsPorts } from "../../harness/stack/metrics-ports.js";

const taken: Record<ProcessName, string[]> = {
  sendPostal: [
    "delivered",
    "cancelled-by-name",
    "attention-happened",
    "affidavit-on-demand",
    "not-accepted",
    "invalid-input",
    "unknown-account",
    "input-mismatch",
    // Those to which callbacks are sent below.
    "still-open",
    "terminated",
  ],
  sendNotice: ["with-attachments", "attention-retry", "affidavit-on-demand"],
  sendNoticeBatch: ["with-affidavits", "rows-left-out", "list-refused", "attention-happened"],
  serveNotice: ["refused", "notice-abandoned"],
  issueCertificate: [
    "by-email",
    "wrong-code",
    "assertion-expired",
    "enrolment-happened",
    "cancelled-after-enrolment",
  ],
  signOneShot: [
    "signed",
    "asynchronous",
    "video-updated",
    "contract-accepted-by-name",
    "creation-happened",
  ],
  verifyIdentity: ["verified", "asynchronous", "rejected", "alerted"],
  signEnvelope: ["sent", "request-happened"],
  sendMessage: ["accepted", "unanswered-happened"],
  issueCredential: ["initiated", "refused-later-abandoned"],
  presentCredential: ["initiated", "service-happened"],
};
const sample = allPaths.map((of) => only(of, taken[of.process]));

/** What the sandbox's callbacks say about a notice's reader (P2 §2.12). */
const ofReader = ["Sandbox 1.0", "Mozilla/5.0 (sandbox)"];
/** Those that the paths carry, each with canaries of its own. */
const secrets = [
  "assertion",
  "callToken",
  "certificate.password",
  "certificate.securityCode",
  "code",
  "deviceCode",
  "disposableCertificate.password",
  "disposableCertificate.securityCode",
  "esawToken",
  "evidenceAccessControlChallengeResponse",
  "notice.evidenceAccessControlChallengeResponse",
  "offer",
  "options.evidenceAccessControlChallengeResponse",
  "post.options.evidenceAccessControlChallengeResponse",
  "the accounts' password",
];
/** So many canaries are written beside them. */
const LEAST = 70;

const canaries = new Canaries();
let stack: PathStack;
let results: PathResults;
let directory: string;
let ports: Awaited<ReturnType<typeof metricsPorts>>["ports"];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "trustflow-canaries-"));
  removeOnExit(directory);
  const served = await metricsPorts();
  ({ ports } = served);
  const password = canaries.secret("the accounts' password", canaries.words("password"));
  stack = await startPathStack(sample, password, {
    directory,
    persistent: true,
    env: {
      TRUSTFLOW_LOG__LEVEL: "TRACE",
      ...served.env,
    },
  });
  results = await stack.runPaths(sample, canaries);
}, 900_000);

afterAll(async () => {
  await stack?.system.close();
  await rm(directory, { recursive: true, force: true, maxRetries: 5 });
}, 60_000);

describe.each(sample)("$process takes its paths:", (of) => {
  test.each(Object.keys(of.paths))("%s", (id) => {
    const result = results.get(idOf({ of, id }));
    if (result?.status === "rejected") throw result.reason;
    expect(result?.status).toBe("fulfilled");
  });
});

/** Where any of the texts stands, and in which encoding. */
async function places(texts: string[], sources: AsyncIterable<Haystack>[]): Promise<string[]> {
  const needles = new Needles(texts.flatMap(formsOf));
  const hits = new Set<string>();
  for (const source of sources)
    for await (const [place, bytes] of source)
      for (const [form] of needles.in(bytes)) hits.add(`${place}: ${form}`);
  return [...hits].filter((hit) => !hit.startsWith("stack.json"));
}

function everything(): AsyncIterable<Haystack>[] {
  const { system } = stack;
  return [
    histories(system),
    descriptions(system),
    rows(system),
    metrics(Object.values(ports)),
    files(system),
  ];
}

test("callbacks full of canaries are stored, parked or refused, each as it should be", async () => {
  const answers = await postAll(stack.system, (of) => canaries.words(of), {
    open: `sendPostal/still-open`,
    ended: `sendPostal/terminated`,
  });
  const stored = { good: 204, affidavit: 204, unreadable: 204, unnamed: 204, uncorrelated: 204 };
  const refused = { forged: 404, unheard: 404, malformed: 400, oversized: 413 };
  expect(answers).toEqual({ ...stored, late: 204, unknown: 204, ...refused });
  const states = async () => {
    const sql =
      "select state, reason from trustflow.callbacks where workflow_id = any($1) order by 1, 2";
    const ids = ["still-open", "terminated", "never-was"].map((id) => `sendPostal/${id}`);
    const { rows: found } = await stack.system.pool.query(sql, [ids]);
    return (found as Record<string, string>[]).map(({ state, reason }) => reason ?? state ?? "");
  };
  await inboxSettled(stack.system, 20_000);
  expect(new Set(await states())).toEqual(
    new Set(["delivered", "late", "correlationMismatch", "unknownProcess", "unreadable"]),
  );
}, 30_000);

test("refused updates and unhandled signals do not leak it either", async () => {
  const { client } = stack.system;
  const by = canaries.words("name");
  const handle = client.handle(`sendPostal/still-open`);
  const stale = { attention: canaries.words("attention"), decision: "retry", by } as const;
  const refusal: unknown = await handle.resolve(stale).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(InvalidInputError);
  expect(inspect(refusal, { depth: 10 })).not.toContain(canaries.mark);
  await client.temporal.workflow.getHandle(handle.workflowId).signal("unheard", by);
  await handle.status();
}, 30_000);

test("no canary stands in histories, visibility, rows, metrics, logs, documents or the servers' own files", async () => {
  expect([...canaries.secrets.keys()].toSorted()).toEqual(secrets);
  expect(canaries.all.size).toBeGreaterThan(LEAST);
  expect(await places([...canaries.texts, ...ofReader], everything())).toEqual([]);
}, 60_000);

test.each(sample)(
  "a reader who can decrypt $process finds no secret (docs/reading-the-specification.md §8)",
  async (of) => {
    const hits: Record<string, Set<string>> = {};
    const secrets = new Needles(
      [...canaries.secrets].flatMap(([secret, values]) =>
        [...values].map((value): [Secret, Buffer] => [{ secret, value }, Buffer.from(value)]),
      ),
    );
    for await (const [place, text] of decoded(stack.system, of.process)) {
      const bytes = Buffer.from(text);
      for (const [{ secret, value }, at] of secrets.in(bytes))
        if (!isChance(value, bytes, at)) (hits[place] ??= new Set()).add(secret.split(".").at(-1)!);
    }
    const found = Object.entries(hits).map(([place, secrets]) => [place, [...secrets].toSorted()]);
    // Our client seals them for the workers (docs/design.md §8).
    expect(Object.fromEntries(found)).toEqual({});
  },
  60_000,
);

test("keys do not leak either, and the address of a running process stays secret", async () => {
  const { env } = stack.system.stack;
  const keys = Object.entries(env)
    .filter(([key]) => key.startsWith("TRUSTFLOW_KEYS__"))
    .map(([, ring]) => ring.slice(ring.indexOf(":") + 1));
  const capability = addressOf(stack.system, `sendPostal/still-open`).split(".").at(-1) ?? "";
  const token = env["TRUSTFLOW_CODEC_SERVER__TOKEN"] ?? "";
  expect([...keys, capability, token].every((secret) => secret.length > 30)).toBe(true);
  expect(await places([...keys, capability, token], everything())).toEqual([]);
}, 60_000);

test("where there is no codec the search finds each field of a letter, a document, an attribute, a row and a log entry", async () => {
  const { system } = stack;
  const { connection } = system.client.temporal;
  const inClear = new Client({ connection }).workflow;
  const [of] = sample.filter(({ process }) => process === "sendPostal");
  const writing = { author: canaries, intent: canaries.intent("in-clear-letter") };
  const input = canaries.write(
    contracts.sendPostal.input,
    of!.inputs["letter"]!(writing),
    of!.kept,
  );
  await inClear.start("sendPostal", {
    workflowId: "sendPostal/in-clear-letter",
    taskQueue: workflowTaskQueue,
    args: [input],
  });
  const { exported, raw } = await historyBytes(system, "sendPostal/in-clear-letter");
  const inside = [...canaries.all].filter(([, canary]) => JSON.stringify(input).includes(canary));
  expect(inside.length).toBeGreaterThan(4);
  expect(inside.filter(([, canary]) => !found(canary, raw).includes("clear"))).toEqual([]);
  expect(inside.filter(([, canary]) => found(canary, exported).length === 0)).toEqual([]);
  expect(found(canaries.words("the document"), raw)).toEqual(["base64"]);

  const attribute = { key: searchAttributes.outcome, value: canaries.words("an attribute") };
  await inClear.start("sendPostal", {
    workflowId: "sendPostal/in-clear",
    taskQueue: workflowTaskQueue,
    args: [{}],
    typedSearchAttributes: [attribute],
  });
  await eventually("its description", async () => {
    const described = await places([attribute.value], [descriptions(system)]);
    return described.includes("description of sendPostal/in-clear: clear");
  });

  await system.pool.query("create table trustflow.canary as select $1::text as a, $2::bytea as b", [
    canaries.words("a text"),
    Buffer.from(canaries.words("bytes")),
  ]);
  const hidden = await readdir(join(directory, "documents"));
  await appendFile(join(directory, "logs", "relay.log"), encodeURI(canaries.words("a log")));
  await writeFile(join(directory, "documents", hidden[0] ?? "", "x"), canaries.words("a document"));
  for (const [of, source, form] of [
    ["a text", rows(system), "table canary: clear"],
    ["bytes", rows(system), "table canary: clear"],
    ["a log", files(system), "logs/relay.log: clear"],
    ["a document", files(system), `documents/${hidden[0]}/x: clear`],
  ] as const) {
    expect(await places([canaries.words(of)], [source])).toContain(form);
  }
}, 60_000);

interface Secret {
  secret: string;
  value: string;
}

/** A code of six digits may be part of a longer number by chance. */
function isChance(value: string, bytes: Buffer, at: number): boolean {
  const around = bytes.toString("latin1", Math.max(0, at - 1), at + 7);
  return /^\d{6}$/.test(value) && !new RegExp(`(?<![0-9a-f.])${value}(?![0-9a-f])`).test(around);
}
