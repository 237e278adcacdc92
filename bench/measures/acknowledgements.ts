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

const inFlight = 64;
/** Four times as many senders as the receiver lets in at once (`receiver.queueLimit`); refused, they come back soon. */
const crowd = { connections: 1_024, pauseMs: 200 };
/** Enough connections for senders that come at four times the peak's rate, whatever they are told. */
const floodConnections = 6_000;

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
  const { fsync } = await setting(bench);
  if (fsync !== "on") throw new Error("fsync is off: nothing here would be durable");
  const waiting = await hold(bench, sides[0], inFlight);
  // The relay's work comes later, when it wants; here it would measure Temporal.
  await stand.stack.role("relay").stop();
  const rates: Round[] = [];
  const p99: number[] = [];
  const overload: Over[] = [];
  const flood: Over[] = [];
  await load(bench, { connections: inFlight, seconds: quick ? 1 : 4 });
  for (let round = 0; round < rounds; round += 1) {
    say(`acknowledgements: round ${round + 1} of ${rounds}`);
    const floor = await rawSignals(bench, waiting, seconds);
    const peak = await load(bench, { connections: inFlight, seconds });
    const rate = peak.accepted.count / peak.seconds;
    rates.push({ floor, trustflow: rate });
    p99.push(peak.accepted.p99);
    const crowded = await load(bench, { ...crowd, seconds });
    const flooded = await load(bench, {
      connections: floodConnections,
      seconds,
      rate: Math.round(rate * 4),
    });
    for (const [name, one] of Object.entries({ peak, crowded, flooded })) {
      say(`  ${name} ${JSON.stringify(one)}`);
    }
    overload.push(over(crowded, rate));
    flood.push(over(flooded, rate));
  }
  await stand.pool.query("truncate trustflow.callbacks");
  await stand.stack.role("relay").restart();
  await waiting.end();
  return [
    compared(
      { name: "acknowledgements", unit: "a second at 64 in flight", goal: atLeast(20, "ratio") },
      rates,
    ),
    alone({ name: "acknowledgements-p99", unit: "ms", goal: atMost(60, "value") }, p99),
    shareOfPeak("acknowledgements-overload", "of the peak, with 4 × its senders", overload),
    shareOfPeak("acknowledgements-flood", "of the peak, at 4 × its rate", flood),
  ];
}

function over({ accepted, refused, seconds }: Load, rate: number): Over {
  return {
    share: accepted.count / seconds / rate,
    refused: refused.count / (refused.count + accepted.count),
    refusedP99: refused.p99,
    acceptedP99: accepted.p99,
  };
}

function shareOfPeak(name: string, unit: string, rounds: Over[]): Measure {
  const median = (value: (one: Over) => number) => spreadOf(rounds.map(value)).median;
  const parts = {
    trustflow: {
      "share of 503": median(({ refused }) => refused),
      "503 p99 ms": median(({ refusedP99 }) => refusedP99),
      "2xx p99 ms": median(({ acceptedP99 }) => acceptedP99),
    },
  };
  const about = { name, unit, goal: atLeast(0.9, "value"), parts };
  return alone(
    about,
    rounds.map(({ share }) => share),
  );
}

async function setting({ stand }: Bench): Promise<{ fsync: string }> {
  const { rows } = await stand.pool.query<{ fsync: string }>("show fsync");
  return rows[0] ?? { fsync: "unknown" };
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
