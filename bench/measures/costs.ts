// What a process of each kind costs on its plain good way, with its children: billable actions, history, CPU, and what it writes and leaves
// in the databases; and what a letter costs where there were many processes before (docs/operations/costs.md). Its provider is the sandbox.
import { Connection, Client } from "@temporalio/client";
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { createPool } from "../../src/postgres/pool.js";
import type { Pool } from "../../src/postgres/pool.js";
import { outcomeOf } from "../../test/cluster/load.js";
import { startTestStack } from "../../test/harness/stack/stack.js";
import type { TestStack } from "../../test/harness/stack/stack.js";
import { processesUnderTest } from "../../test/processes/index.js";
import type { ProcessUnderTest } from "../../test/processes/process-under-test.js";
import type { startPersistentTemporal } from "../cluster.js";
import { alone, partsText } from "../measure.js";
import type { Measure } from "../measure.js";
import { cpuMs } from "../proc.js";
import { shapeOf } from "../shape.js";
import type { Shape } from "../shape.js";
import { perEach, spreadOf } from "../spread.js";

interface Options {
  quick: boolean;
  say(line: string): void;
  /** Default: each. */
  only?: string | undefined;
  /** Letters are measured after so many processes: messages fill up to it, as they are the cheapest. */
  after?: number[] | undefined;
  /** Default: the dev server, which keeps everything in its memory. */
  temporal?: Awaited<ReturnType<typeof startPersistentTemporal>> | undefined;
}

/** So many are open at a time. */
const OPEN = 20;
/** While messages fill up. */
const OPEN_MESSAGES = 100;
/** What is still being written belongs to it; PostgreSQL counts within seconds. */
const SETTLE_MS = 3_000;
/** Histories that are read. */
const SAMPLE = 10;
const roles = ["worker", "receiver", "relay"] as const;

export async function measureCosts(options: Options): Promise<Measure[]> {
  const { quick, say, only, after = [], temporal } = options;
  const system = await startTestStack({
    env: {
      // The politeness towards a provider is not what is measured.
      TRUSTFLOW_WORKER__REQUESTS_PER_SECOND: "10000",
      TRUSTFLOW_LOG__LEVEL: "WARN",
      ...(temporal && { TEMPORAL_ADDRESS: temporal.address }),
    },
    // Codes and tokens get old by the clock of those who use them.
    sandboxPersonTime: "real",
  });
  const address = temporal?.address ?? system.stack.temporal.address;
  const connection = await Connection.connect({ address });
  const temporalPool = temporal && createPool(temporal.databaseUrl, { max: 1 });
  const bench = new CostBench({
    system,
    plain: new Client({ connection }),
    temporal,
    temporalPool,
  });
  const measures: Measure[] = [];
  const measure = async (underTest: ProcessUnderTest, number: number, name: string) => {
    say(`costs: ${number} × ${underTest.process}`);
    const found = costMeasure(name, await bench.run(underTest, number));
    measures.push(found);
    say(partsText([found]));
  };
  try {
    for (const underTest of processesUnderTest) {
      if (only !== undefined && underTest.process !== only) continue;
      await bench.run(underTest, quick ? 2 : OPEN);
      await measure(underTest, quick ? 4 : 40, `cost-${underTest.process}`);
    }
    const named = (name: string) => processesUnderTest.find(({ process }) => process === name)!;
    const [letter, message] = [named("sendPostal"), named("sendMessage")];
    const letters = quick ? 20 : 200;
    if (after.length === 0) await measure(letter, letters, "cost-letters");
    for (const number of after) {
      const left = number - bench.lived;
      say(`costs: ${left} × sendMessage before the letters`);
      if (left > 0) await bench.live(message, left, OPEN_MESSAGES);
      await measure(letter, letters, `cost-letters-after-${number}`);
    }
  } finally {
    await temporalPool?.end();
    await connection.close();
    await system.close();
  }
  return measures;
}

interface Cost {
  perSecond: number;
  /** Medians of a process with its children. */
  shape: Shape;
  /** CPU in ms a process. */
  cpu: Record<string, number>;
  /** Of a process. */
  written: Record<string, number>;
}

function costMeasure(name: string, { shape, cpu, written, perSecond }: Cost): Measure {
  const { actions, events, bytes } = shape;
  const parts = { actions, events, "history bytes": bytes, ...cpu, ...written };
  const total = Object.values(cpu).reduce((sum, part) => sum + part);
  const trustflow = { ...parts, "a second": perSecond };
  return alone({ name, unit: "ms CPU a process", parts: { trustflow } }, [total]);
}

interface Servers {
  system: TestStack;
  plain: Client;
  temporal: Options["temporal"];
  temporalPool: Pool | undefined;
}

class CostBench {
  /** Processes so far, without their children. */
  lived = 0;
  readonly #given: Servers;

  constructor(given: Servers) {
    this.#given = given;
  }

  async run(underTest: ProcessUnderTest, number: number): Promise<Cost> {
    const before = await this.#used();
    const startedAt = performance.now();
    const ids = await this.live(underTest, number);
    const perSecond = (number * 1_000) / (performance.now() - startedAt);
    const after = await this.#used();
    const shapes = await Promise.all(ids.slice(-SAMPLE).map((id) => this.#shape(id)));
    const median = (value: (shape: Shape) => number) => spreadOf(shapes.map(value)).median;
    const shape = {
      actions: median(({ actions }) => actions),
      events: median(({ events }) => events),
      bytes: median(({ bytes }) => bytes),
      signals: median(({ signals }) => signals),
      activities: median(({ activities }) => activities),
    };
    return {
      perSecond,
      shape,
      cpu: perEach(before.cpu, after.cpu, number),
      written: perEach(before.written, after.written, number),
    };
  }

  /** Returns the ids of those that have ended, each as it should. */
  async live(underTest: ProcessUnderTest, number: number, open = OPEN): Promise<string[]> {
    const { client, stack } = this.#given.system;
    const ended: string[] = [];
    let left = number;
    const application = async () => {
      while (left > 0) {
        left -= 1;
        const intent = randomUUID();
        const handle = await underTest.start(client, intent);
        const scene = { sandboxUrl: stack.sandboxUrl, intent };
        const turn = underTest.play && (() => underTest.play?.(handle, scene));
        const outcome = await outcomeOf(handle, turn);
        if (outcome !== underTest.outcome)
          throw new Error(`${handle.workflowId} ended as ${outcome}`);
        ended.push(handle.workflowId);
        this.lived += 1;
      }
    };
    await Promise.all(Array.from({ length: Math.min(open, number) }, application));
    return ended;
  }

  /** The sum over a process and its children. */
  async #shape(workflowId: string): Promise<Shape> {
    const { plain } = this.#given;
    const sum: Shape = { events: 0, bytes: 0, actions: 0, signals: 0, activities: 0 };
    const query = `RootWorkflowId = "${workflowId}"`;
    const listed = await plain.workflowService.listWorkflowExecutions({
      ...{ namespace: "default", query },
    });
    for (const { execution } of listed.executions) {
      const one = await shapeOf(plain, execution?.workflowId ?? "");
      for (const name of Object.keys(sum) as (keyof Shape)[]) sum[name] += one[name];
    }
    return sum;
  }

  async #used(): Promise<Record<"cpu" | "written", Record<string, number>>> {
    await delay(SETTLE_MS);
    const { system, temporal, temporalPool } = this.#given;
    const { stack, pool } = system;
    const serverPids = temporal?.pids ?? [stack.temporal.pid];
    const cpu = {
      "ms Temporal": serverPids.reduce((sum, pid) => sum + cpuMs(pid), 0),
      ...Object.fromEntries(roles.map((name) => [`ms ${name}`, cpuMs(stack.role(name).pid)])),
      "ms database": cpuMs(stack.postgres?.pid ?? 0),
    };
    const written = {
      ...(await writtenTo(pool, "Trustflow")),
      ...(temporalPool && (await writtenTo(temporalPool, "Temporal"))),
    };
    return { cpu, written };
  }
}

/** By PostgreSQL's own counters, over all of its databases. */
async function writtenTo(pool: Pool, whose: string): Promise<Record<string, number>> {
  const { rows } = await pool.query<Record<"bytes" | "commits" | "wal", string>>(
    `select (select sum(pg_database_size(oid)) from pg_database) as bytes,
       (select sum(xact_commit) from pg_stat_database) as commits,
       pg_current_wal_lsn() - '0/0'::pg_lsn as wal`,
  );
  const { bytes = 0, commits = 0, wal = 0 } = rows[0] ?? {};
  return {
    [`bytes of ${whose}`]: Number(bytes),
    [`commits of ${whose}`]: Number(commits),
    [`log bytes of ${whose}`]: Number(wal),
  };
}
