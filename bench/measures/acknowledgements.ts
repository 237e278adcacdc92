// Callback acknowledgements, durable on PostgreSQL, against raw signals of the same run; then at four times the capacity.
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { callbackUrl } from "../../src/callbacks/address.js";
import { KeyRing } from "../../src/crypto/key-ring.js";
import { alone, atLeast, atMost, compared } from "../measure.js";
import type { Measure, Round } from "../measure.js";
import { spreadOf } from "../spread.js";
import type { Bench } from "../run.js";
import { hold } from "./waiting.js";

const inFlight = 64;
/** More connections than the receiver lets in at once (`receiver.queueLimit`). */
const manyConnections = 6_000;

interface Answered {
  count: number;
  p50: number;
  p99: number;
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
  const overload: { share: number; refused: number; refusedP99: number; acceptedP99: number }[] =
    [];
  await load(bench, { connections: inFlight, seconds: quick ? 1 : 4 });
  for (let round = 0; round < rounds; round += 1) {
    say(`acknowledgements: round ${round + 1} of ${rounds}`);
    const floor = await rawSignals(bench, waiting, seconds);
    const peak = await load(bench, { connections: inFlight, seconds });
    const rate = peak.accepted.count / peak.seconds;
    rates.push({ floor, trustflow: rate });
    p99.push(peak.accepted.p99);
    const over = await load(bench, {
      connections: manyConnections,
      seconds,
      rate: Math.round(rate * 4),
    });
    say(`  peak ${JSON.stringify(peak)}\n  over ${JSON.stringify(over)}`);
    overload.push({
      share: over.accepted.count / over.seconds / rate,
      refused: over.refused.count / (over.refused.count + over.accepted.count),
      refusedP99: over.refused.p99,
      acceptedP99: over.accepted.p99,
    });
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
    alone(
      {
        name: "acknowledgements-overload",
        unit: "of the peak, at 4 × its rate",
        goal: atLeast(0.9, "value"),
        parts: {
          trustflow: {
            "share of 503": spreadOf(overload.map(({ refused }) => refused)).median,
            "503 p99 ms": spreadOf(overload.map(({ refusedP99 }) => refusedP99)).median,
            "2xx p99 ms": spreadOf(overload.map(({ acceptedP99 }) => acceptedP99)).median,
          },
        },
      },
      overload.map(({ share }) => share),
    ),
  ];
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
  options: { connections: number; seconds: number; rate?: number },
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
