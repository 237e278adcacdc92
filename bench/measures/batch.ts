// A batch of notices: what a recipient costs, beside one workflow for each; what the history and the worker hold; how fast the
// callbacks of its notices are taken; how long the report takes. It has a stack of its own, with bench/notices.js as the provider.
import { randomUUID } from "node:crypto";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { got } from "got";
import { BatchItems } from "../../src/batch/items/items.js";
import { callbackUrl, correlationOf } from "../../src/callbacks/address.js";
import { Trustflow } from "../../src/client.js";
import type { SendNoticeBatchResult } from "../../src/contracts/send-notice-batch/contract.js";
import { workflowIdOf } from "../../src/contracts/shared/names.js";
import { KeyRing } from "../../src/crypto/key-ring.js";
import { freePorts } from "../../packages/dev/src/processes/free-ports.js";
import { startStack } from "../../packages/dev/src/stack/stack.js";
import type { Stack } from "../../packages/dev/src/stack/stack.js";
import { createPool } from "../../src/postgres/pool.js";
import type { Pool } from "../../src/postgres/pool.js";
import { alone, atLeast, atMost } from "../measure.js";
import type { Measure } from "../measure.js";
import { cpuMs, peakBytes } from "../proc.js";
import { perEach, spreadOf } from "../spread.js";
import { profiledEnv, startPart } from "../stand.js";
import { countStatements } from "../statements.js";

export interface BatchSizes {
  /** Recipients of a batch; the first one is what the others are compared with. */
  recipients: number[];
  /** Notices with a workflow each. */
  notices: number;
  callbacks: number;
}

export const usualSizes: BatchSizes = {
  recipients: [1_000, 10_000, 100_000],
  notices: 1_000,
  callbacks: 500_000,
};
export const quickSizes: BatchSizes = {
  recipients: [500, 5_000],
  notices: 200,
  callbacks: 40_000,
};

interface Options {
  quick: boolean;
  say(line: string): void;
  sizes?: Partial<BatchSizes>;
  /** The roles leave their CPU profiles in that folder, PostgreSQL what its statements cost. */
  profiles?: string | undefined;
}

/** The parts of which the goals speak; server and receiver are shown beside them. */
const counted = ["worker", "relay", "database"];
const all = [...counted, "receiver", "server"];
const KINDS = ["Sent", "Delivered", "Read", "Closed"];
/** As `configure` allows for each recipient. */
const ROWS_A_RECIPIENT = 40;
const WARM_UP = 1_000;
/** The account whose recipients are read in small pages. */
const PAGED = "paged";
const SETTLE_MS = 2_000;
/** One single notice each second. */
const SINGLE_MS = 1_000;
/** How many callbacks the provider has under way: less than the receiver takes of one address at a time. */
const CONNECTIONS = 192;

export async function measureBatch(options: Options): Promise<Measure[]> {
  const { quick, say, sizes: given } = options;
  const sizes = { ...(quick ? quickSizes : usualSizes), ...given };
  const measures: Measure[] = [];
  const stand = await openStand(options);
  try {
    const bench = new BatchBench(stand, say);
    const runs: BatchRun[] = [];
    for (const recipients of sizes.recipients) runs.push(await bench.batch(recipients, "default"));
    const single = await bench.notices(sizes.notices);
    const largest = Math.max(...sizes.recipients);
    const usual = await bench.singles(delay(quick ? 3_000 : 20_000));
    const paged = await bench.batch(largest, PAGED, { withSingles: true });
    measures.push(...measuresOf(runs, single), reportMeasure(paged));
    measures.push(singleMeasure(paged, usual));
    measures.push(...(await bench.callbacks(Math.ceil(sizes.callbacks / KINDS.length))));
  } finally {
    await stand.close();
  }
  return measures;
}

interface Cost {
  number: number;
  /** CPU in ms for each of `number`, by part. */
  parts: Record<string, number>;
}

interface BatchRun extends Cost {
  seconds: number;
  reportSeconds: number;
  events: number;
  bytes: number;
  peakBytes: number;
  /** What the tables of callbacks and items grew by, with their indexes. */
  diskBytes: number;
  /** What each single notice took in ms, from its start to its submission at the provider. */
  singles: number[];
}

function measuresOf(runs: BatchRun[], single: Cost): Measure[] {
  const [first] = runs;
  const last = runs.at(-1);
  if (!first || !last) return [];
  const perRecipient = runs.map((run) =>
    alone(
      {
        name: `batch-cpu-${run.number}`,
        unit: "ms CPU a recipient",
        parts: { trustflow: { ...run.parts, "s in all": run.seconds } },
        ...(run === last && { goal: atMost(2, "value") }),
      },
      [costOf(run)],
    ),
  );
  const about = (name: string, unit: string) => ({ name: `batch-${name}`, unit });
  return [
    ...perRecipient,
    alone(
      {
        ...about("notices", "ms CPU a notice with a workflow"),
        parts: { trustflow: single.parts },
      },
      [costOf(single)],
    ),
    alone(
      {
        ...about("times", "times the CPU of a recipient of the batch"),
        goal: atLeast(47, "value"),
        parts: {
          trustflow: { "with receiver and server": costOf(single, all) / costOf(last, all) },
        },
      },
      [costOf(single) / costOf(last)],
    ),
    alone({ ...about("events", "history events"), goal: atMost(999, "value") }, [last.events]),
    alone({ ...about("bytes", "history bytes"), goal: atMost(999_999, "value") }, [last.bytes]),
    alone(about("disk", "bytes in PostgreSQL a recipient, with its four callbacks"), [
      last.diskBytes / last.number,
    ]),
    alone(
      {
        ...about("memory", `worker's most resident memory, of that with ${first.number}`),
        goal: atMost(1.1, "value"),
        parts: {
          trustflow: Object.fromEntries(
            runs.map((run) => [`MB at ${run.number}`, run.peakBytes / 1e6]),
          ),
        },
      },
      [last.peakBytes / first.peakBytes],
    ),
  ];
}

function reportMeasure({ number, reportSeconds }: BatchRun): Measure {
  const unit = `s for ${number} rows, in pages of 100`;
  return alone({ name: "batch-report", unit, goal: atMost(60, "value") }, [reportSeconds]);
}

/** The batch and the single notices have one account: they share its queue, its limits and its turn. */
function singleMeasure({ number, singles }: BatchRun, usually: number[]): Measure {
  const [beside, usual] = [spreadOf(singles), spreadOf(usually)];
  return alone(
    {
      name: "batch-delays",
      unit: `ms by which ${number} recipients delay a single notice's submission, at most`,
      goal: atMost(1_000, "value"),
      parts: {
        trustflow: {
          notices: beside.rounds,
          "ms beside": beside.median,
          "ms alone": usual.median,
          "ms alone at most": usual.max,
        },
      },
    },
    [beside.max - usual.median],
  );
}

function costOf({ parts }: Cost, of = counted): number {
  return of.reduce((sum, part) => sum + (parts[part] ?? 0), 0);
}

/** What runs while it is measured. */
interface BatchStand {
  stack: Stack;
  client: Trustflow;
  pool: Pool;
  /** GET, or with `json` POST. */
  provider<T>(path: string, json?: object): Promise<T>;
  close(): Promise<void>;
}

async function openStand({ say, profiles }: Options): Promise<BatchStand> {
  const directory = await mkdtemp(join(tmpdir(), "trustflow-bench-"));
  const [port] = await freePorts(1);
  const providerUrl = `http://127.0.0.1:${port}`;
  const closers: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const closer of closers.splice(0)) await closer();
  };
  try {
    const plan = { port, connections: CONNECTIONS };
    const provider = await startPart("notices.js", plan, join(directory, "provider.log"));
    closers.unshift(() => provider.stop());
    const account = (name: string) => ({
      [`TRUSTFLOW_ACCOUNTS__${name}__EVI_NOTICE__BASE_URL`]: providerUrl,
      [`TRUSTFLOW_ACCOUNTS__${name}__EVI_NOTICE__USERNAME`]: "bench",
      [`TRUSTFLOW_ACCOUNTS__${name}__EVI_NOTICE__PASSWORD`]: "bench",
      // The politeness towards a provider is not what is measured.
      [`TRUSTFLOW_ACCOUNTS__${name}__EVI_NOTICE__BATCH__READS_PER_SECOND`]: "10000",
    });
    const paged = PAGED.toUpperCase();
    const stack = await startStack({
      directory,
      persistent: false,
      roles: ["receiver", "relay", "worker"],
      env: {
        ...account("DEFAULT"),
        ...account(paged),
        [`TRUSTFLOW_ACCOUNTS__${paged}__EVI_NOTICE__BATCH__RECIPIENTS_PAGE`]: "100",
        TRUSTFLOW_WORKER__REQUESTS_PER_SECOND: "10000",
        TRUSTFLOW_LOG__LEVEL: "WARN",
        ...(profiles && (await profiledEnv(profiles))),
      },
      progress: say,
    });
    closers.unshift(() => stack.close());
    Object.assign(process.env, stack.env);
    const client = await Trustflow.connect();
    closers.unshift(() => client.close());
    const pool = createPool(stack.databaseUrl, { max: 2 });
    closers.unshift(() => pool.end());
    if (profiles) closers.unshift(await countStatements(stack, pool, profiles));
    return {
      stack,
      client,
      pool,
      provider(path, json) {
        const options = json === undefined ? {} : { method: "POST" as const, json };
        return got(`${providerUrl}/${path}`, { retry: { limit: 0 }, ...options }).json();
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function cpuOf({ stack }: BatchStand): Record<string, number> {
  return {
    worker: cpuMs(stack.role("worker").pid),
    relay: cpuMs(stack.role("relay").pid),
    database: cpuMs(stack.postgres?.pid ?? 0),
    receiver: cpuMs(stack.role("receiver").pid),
    server: cpuMs(stack.temporal.pid),
  };
}

interface Posted {
  posted: number;
  accepted: number;
  refused: number;
  seconds: number;
}

class BatchBench {
  readonly #stand: BatchStand;
  readonly #say: (line: string) => void;

  constructor(stand: BatchStand, say: (line: string) => void) {
    this.#stand = stand;
    this.#say = say;
  }

  /** From the set-up to the report, by a worker that has sent a small batch before: its code is loaded, its heap has its size. */
  async batch(
    recipients: number,
    account: string,
    { withSingles = false } = {},
  ): Promise<BatchRun> {
    const { stack } = this.#stand;
    this.#say(`batch: ${recipients} recipients, account ${account}`);
    // The most that it was resident is that of this run.
    await stack.role("worker").stop();
    await stack.role("worker").restart();
    await this.#send(Math.min(WARM_UP, recipients), account);
    const diskBefore = await this.#diskBytes();
    const startedAt = performance.now();
    let id = "";
    let singles: number[] = [];
    const cost = await this.#cost(recipients, async () => {
      const sending = this.#send(recipients, account);
      if (withSingles) singles = await this.singles(sending, account);
      id = await sending;
    });
    const seconds = (performance.now() - startedAt - 2 * SETTLE_MS) / 1_000;
    const shape = await this.#shape(workflowIdOf("sendNoticeBatch", id));
    const peak = peakBytes(stack.role("worker").pid);
    const diskBytes = (await this.#diskBytes()) - diskBefore;
    const run = { ...cost, ...shape, seconds, peakBytes: peak, diskBytes, singles };
    this.#say(`  ${JSON.stringify({ ms: costOf(run), ...run })}`);
    return run;
  }

  /** Returns the id of the batch when it has ended. */
  async #send(recipients: number, account: string): Promise<string> {
    const { client, provider } = this.#stand;
    await provider("_clear", {});
    const document = await client.documents.putStream(listOf(recipients), "text/csv");
    const id = randomUUID();
    const handle = await client.sendNoticeBatch(id, {
      account,
      subject: "A notice of the bench",
      body: "<p>A notice of the bench</p>",
      recipients: document,
      settings: { progressIntervalSeconds: 1, affidavitWindowSeconds: 0 },
    });
    requireAllRead(await handle.result(), recipients);
    return id;
  }

  /** A process for each; the provider reports their states a second apart, so that each is an event of its own. */
  async notices(number: number): Promise<Cost> {
    const { client, provider } = this.#stand;
    this.#say(`batch: ${number} notices with a workflow each`);
    await provider("_clear", {});
    const all = async (many: number) => {
      const handles = await Promise.all(
        Array.from({ length: many }, () => client.sendNotice(randomUUID(), notice())),
      );
      await Promise.all(handles.map((handle) => handle.result()));
    };
    await all(Math.min(number, 50));
    return this.#cost(number, () => all(number));
  }

  /** A single notice each second until `work` has ended: the ms from its start to its submission at the provider. */
  async singles(work: Promise<unknown>, account = "default"): Promise<number[]> {
    const { client, provider } = this.#stand;
    const taken: Promise<number>[] = [];
    const over = new AbortController();
    const end = () => over.abort();
    work.then(end, end);
    const one = async () => {
      const input = notice();
      const from = Date.now();
      await client.sendNotice(randomUUID(), { ...input, account });
      for (;;) {
        const { at } = await provider<{ at?: number }>(`_submitted/${input.lookupKey}`);
        if (at !== undefined) return at - from;
        await delay(SINGLE_MS);
      }
    };
    while (!over.signal.aborted) {
      taken.push(one());
      await delay(SINGLE_MS);
    }
    return Promise.all(taken);
  }

  /** Four callbacks for each of so many notices: acknowledged without the relay, then kept by it. */
  async callbacks(notices: number): Promise<Measure[]> {
    const { stack, pool, provider } = this.#stand;
    for (const name of ["fsync", "synchronous_commit"]) {
      const { rows } = await pool.query<Record<string, string>>(`show ${name}`);
      if (rows[0]?.[name] !== "on") throw new Error(`${name} is off: nothing would be durable`);
    }
    const total = notices * KINDS.length;
    this.#say(`batch: ${total} callbacks`);
    await provider("_clear", {});
    const key = { namespace: "default", workflowId: workflowIdOf("sendNoticeBatch", randomUUID()) };
    const items = new BatchItems(pool);
    await items.open(key, notices);
    await stack.role("relay").stop();
    const ring = KeyRing.parse(stack.env["TRUSTFLOW_KEYS__CALLBACK"] as string);
    const subject = { provider: "evi-notice", ...key };
    const rows = notices * ROWS_A_RECIPIENT;
    await provider("_callbacks", {
      number: notices,
      url: callbackUrl(ring, stack.receiverUrl, subject, { rows }),
      extraData: correlationOf(ring, subject),
      filter: KINDS,
    });
    const before = cpuOf(this.#stand);
    let posted: Posted;
    do {
      await delay(500);
      posted = await provider<Posted>("_report");
      if (posted.refused > total) throw new Error(`refused: ${JSON.stringify(posted)}`);
    } while (posted.accepted < total);
    const taken = perEach(before, cpuOf(this.#stand), total);
    this.#say(`  ${JSON.stringify({ ...posted, taken })}`);
    const relayFrom = performance.now();
    await stack.role("relay").restart();
    const count = async (state: string) => {
      const { rows } = await pool.query<{ count: number }>(
        "select count(*)::int as count from trustflow.callbacks where workflow_id = $1 and state = $2",
        [key.workflowId, state],
      );
      return rows[0]?.count ?? 0;
    };
    while ((await count("waiting")) > 0) await delay(500);
    const keptSeconds = (performance.now() - relayFrom) / 1_000;
    const kept = await count("kept");
    const totals = await items.totals(key);
    const closed = totals.find(
      ({ state, outcome }) => state === "Closed" && /^read$/i.test(outcome ?? ""),
    );
    const isExact = totals.length === 1 && closed?.count === notices;
    this.#say(`  kept ${kept} in ${keptSeconds.toFixed(1)} s, totals ${JSON.stringify(totals)}`);
    const about = (name: string, unit: string) => ({ name: `batch-${name}`, unit });
    return [
      alone(
        {
          ...about("acknowledgements", `a second of ${total} callbacks`),
          goal: atLeast(8_000, "value"),
          parts: {
            trustflow: {
              "ms receiver": taken["receiver"] ?? 0,
              "ms database": taken["database"] ?? 0,
              "kept a second": kept / keptSeconds,
            },
          },
        },
        [total / posted.seconds],
      ),
      alone({ ...about("lost", "callbacks"), goal: atMost(0, "value") }, [total - kept]),
      alone({ ...about("totals", "wrong totals"), goal: atMost(0, "value") }, [isExact ? 0 : 1]),
    ];
  }

  async #cost(number: number, work: () => Promise<void>): Promise<Cost> {
    await delay(SETTLE_MS);
    const before = cpuOf(this.#stand);
    await work();
    // What is still being written belongs to it.
    await delay(SETTLE_MS);
    return { number, parts: perEach(before, cpuOf(this.#stand), number) };
  }

  async #diskBytes(): Promise<number> {
    const { rows } = await this.#stand.pool.query<{ bytes: string }>(
      `select pg_total_relation_size('trustflow.callbacks')
         + pg_total_relation_size('trustflow.batch_items') as bytes`,
    );
    return Number(rows[0]?.bytes ?? 0);
  }

  async #shape(workflowId: string) {
    const handle = this.#stand.client.temporal.workflow.getHandle(workflowId);
    const { historyLength, historySize = 0 } = await handle.describe();
    const { events = [] } = await handle.fetchHistory();
    const scheduled = events?.find(({ activityTaskScheduledEventAttributes: activity }) =>
      activity?.activityType?.name?.endsWith("writeReport"),
    );
    const of = (
      kind: "activityTaskStartedEventAttributes" | "activityTaskCompletedEventAttributes",
    ) =>
      events?.find((event) => String(event[kind]?.scheduledEventId) === String(scheduled?.eventId));
    const secondsOf = (event: ReturnType<typeof of>) =>
      Number(event?.eventTime?.seconds ?? Number.NaN) + (event?.eventTime?.nanos ?? 0) / 1e9;
    const reportSeconds =
      secondsOf(of("activityTaskCompletedEventAttributes")) -
      secondsOf(of("activityTaskStartedEventAttributes"));
    return { events: historyLength, bytes: historySize, reportSeconds };
  }
}

const notice = () => ({
  subject: "A notice of the bench",
  body: "<p>A notice of the bench</p>",
  recipientAddress: "recipient@example.com",
  lookupKey: `bench-${randomUUID()}`,
  settings: { affidavitWindowSeconds: 0 },
});

function requireAllRead({ outcome, counts }: SendNoticeBatchResult, recipients: number): void {
  if (
    outcome !== "closed" ||
    counts.recipients !== recipients ||
    counts.outcomes["read"] !== recipients
  )
    throw new Error(`the batch ended as ${outcome}: ${JSON.stringify(counts)}`);
}

async function* listOf(recipients: number): AsyncGenerator<Buffer> {
  const PIECE = 1_000;
  yield Buffer.from("address;legalname;lookupkey\r\n");
  for (let first = 0; first < recipients; first += PIECE) {
    const rows = Array.from({ length: Math.min(PIECE, recipients - first) }, (_, index) => {
      const row = first + index;
      return `recipient.${row}@example.com;Recipient ${row};invoice-2026-${row}\r\n`;
    });
    yield Buffer.from(rows.join(""));
  }
}
