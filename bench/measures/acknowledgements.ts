// Callback acknowledgements, durable on PostgreSQL, against raw signals of the same run; then at four times the capacity:
// as many senders, and as many requests.
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { callbackUrl } from "../../src/callbacks/address.js";
import { KeyRing } from "../../src/crypto/key-ring.js";
import { alone, atLeast, atMost, compared } from "../measure.js";
import type { Measure, Round } from "../measure.js";
import { spreadOf } from "../spread.js";
import type { Bench } from "../sides.js";
import { hold } from "./waiting.js";

const IN_FLIGHT = 64;
/** As many senders as the receiver lets in at once (`receiver.queueLimit`): its capacity. */
const QUEUE_LIMIT = 256;
/** Refused, they come back soon. */
const crowd = { connections: 4 * QUEUE_LIMIT, pauseMs: 200 };
/** Enough connections for senders that come at four times the peak's rate, whatever they are told. */
const FLOOD_CONNECTIONS = 6_000;

interface Answered {
  count: number;
  p50: number;
  p99: number;
}

interface Over {
  share: number;
  refused: number;
  refusedP99: number;
  acceptedP99: number;
}

interface Load {
  seconds: number;
  accepted: Answered;
  refused: Answered;
  other: number;
  offered: number;
  unsent: number;
}

export async function measureAcknowledgements(bench: Bench): Promise<Measure[]> {
  const { stand, sides, quick, say } = bench;
  const seconds = quick ? 3 : 6;
  const rounds = quick ? 1 : 3;
  for (const name of ["fsync", "synchronous_commit"]) {
    const { rows } = await stand.pool.query<Record<string, string>>(`show ${name}`);
    if (rows[0]?.[name] !== "on") throw new Error(`${name} is off: nothing here would be durable`);
  }
  const waiting = await hold(bench, sides[0], IN_FLIGHT);
  // The relay's work comes later, when it wants; here it would measure Temporal.
  await stand.stack.role("relay").stop();
  const rates: Round[] = [];
  const p99: number[] = [];
  const crowds: Over[] = [];
  const floods: Over[] = [];
  await load(bench, { connections: IN_FLIGHT, seconds: quick ? 1 : 4 });
  for (let round = 0; round < rounds; round += 1) {
    say(`acknowledgements: round ${round + 1} of ${rounds}`);
    const floor = await rawSignals(bench, waiting, seconds);
    const peak = await load(bench, { connections: IN_FLIGHT, seconds });
    rates.push({ floor, trustflow: perSecond(peak) });
    p99.push(peak.accepted.p99);
    const full = await load(bench, { connections: QUEUE_LIMIT, seconds });
    const rate = Math.max(perSecond(peak), perSecond(full));
    const crowded = await load(bench, { ...crowd, seconds });
    const flooded = await load(bench, {
      connections: FLOOD_CONNECTIONS,
      seconds,
      rate: Math.round(rate * 4),
    });
    for (const [name, one] of Object.entries({ peak, full, crowded, flooded })) {
      say(`  ${name} ${JSON.stringify(one)}`);
      if (one.other > 0)
        throw new Error(`${one.other} requests had another answer than 204 or 503`);
    }
    crowds.push(over(crowded, rate));
    floods.push(over(flooded, rate));
  }
  await stand.pool.query("truncate trustflow.callbacks");
  await stand.stack.role("relay").restart();
  await waiting.end();
  return [
    compared(
      { name: "acknowledgements", unit: "a second at 64 in flight", goal: atLeast(30, "ratio") },
      rates,
    ),
    alone({ name: "acknowledgements-p99", unit: "ms", goal: atMost(60, "value") }, p99),
    shareOfPeak("acknowledgements-crowd", "of the peak, with 4 × its senders", crowds, 0.95),
    shareOfPeak("acknowledgements-overload", "of the peak, at 4 × its rate", floods, 0.9),
  ];
}

function perSecond({ accepted, seconds }: Load): number {
  return accepted.count / seconds;
}

function over({ accepted, refused, seconds }: Load, rate: number): Over {
  return {
    share: accepted.count / seconds / rate,
    refused: refused.count / (refused.count + accepted.count),
    refusedP99: refused.p99,
    acceptedP99: accepted.p99,
  };
}

function shareOfPeak(name: string, unit: string, rounds: Over[], goal: number): Measure {
  const median = (value: (one: Over) => number) => spreadOf(rounds.map(value)).median;
  const parts = {
    trustflow: {
      "share of 503": median(({ refused }) => refused),
      "503 p99 ms": median(({ refusedP99 }) => refusedP99),
      "2xx p99 ms": median(({ acceptedP99 }) => acceptedP99),
    },
  };
  const about = { name, unit, parts, goal: atLeast(goal, "value") };
  return alone(
    about,
    rounds.map(({ share }) => share),
  );
}

/** Signals a second from 64 callers to 64 processes whose worker is at work. */
async function rawSignals(
  { stand }: Bench,
  { ids }: { ids: string[] },
  seconds: number,
): Promise<number> {
  const end = performance.now() + seconds * 1_000;
  let sent = 0;
  await Promise.all(
    ids.map(async (id) => {
      const handle = stand.plain.workflow.getHandle(id);
      for (; performance.now() < end; sent += 1) await handle.signal("callback", { Kind: "Sent" });
    }),
  );
  return sent / seconds;
}

async function load(
  { stand }: Bench,
  options: { connections: number; seconds: number; pauseMs?: number; rate?: number },
): Promise<Load> {
  const ring = KeyRing.parse(stand.stack.env["TRUSTFLOW_KEYS__CALLBACK"] as string);
  const paths = Array.from({ length: 200 }, () => {
    const subject = {
      provider: "evi-post",
      namespace: "default",
      workflowId: `sendPostal/${randomUUID()}`,
    };
    return new URL(callbackUrl(ring, stand.stack.receiverUrl, subject)).pathname;
  });
  const script = fileURLToPath(new URL("../load.js", import.meta.url));
  const given = JSON.stringify({ url: stand.stack.receiverUrl, paths, ...options });
  const { stdout } = await promisify(execFile)(process.execPath, [script, given], {
    timeout: (options.seconds + 60) * 1_000,
  });
  return JSON.parse(stdout) as Load;
}
