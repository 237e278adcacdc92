// One storm over one kind of process: open ones, some whose submit is not answered yet, ended, terminated and unknown ones,
// while receiver, relay and worker are killed in turn. The report says what was acknowledged and where it landed.
import type { CalledBack } from "../../processes/process-under-test.js";
import { inboxSettled, landed } from "../stack/inbox.js";
import { statusWhere, type TestStack } from "../stack/stack.js";
import { killInTurn } from "./kills.js";
import { Postings, doubledAndShuffled } from "./postings.js";
import { quantile, send, sendSlowly, type Posting, type Sending } from "./sender.js";
import { watchMemory } from "./watch.js";

const names = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
const open = names("open", 16);
const early = names("early", 4);
const ended = names("ended", 2);
const terminated = names("terminated", 2);
const unknown = names("unknown", 2);

export async function runStorm(
  system: TestStack,
  underTest: CalledBack,
  { callbacks, connections }: { callbacks: number; connections: number },
) {
  const postings = new Postings(system, underTest);
  const memory = watchMemory(system);
  await prepare(system, underTest);
  const shares = [
    [open, 0.88],
    [early, 0.08],
    [ended, 0.02],
    [terminated, 0.01],
    [unknown, 0.01],
  ] as const;
  const genuine = shares.flatMap(([ids, share]) =>
    ids.flatMap((id) => postings.genuine(id, Math.round((callbacks * share) / ids.length))),
  );
  const others = [
    ...postings.forged("open-3", callbacks / 20),
    ...postings.malformed("open-4", callbacks / 50),
    ...postings.oversized("open-5", callbacks / 500),
  ];
  const complete = postings.genuine("open-0", 20);
  const slowly = (some: Posting[], share: number) =>
    Promise.all(some.map((posting) => sendSlowly(posting, share)));
  const slow = Promise.all([
    slowly(complete, 1),
    slowly(postings.genuine("open-1", 20), 0.5),
    slowly(postings.forged("open-1", 8), 0.5),
  ]);

  const started = Date.now();
  const all = doubledAndShuffled([...genuine, ...others], 42);
  const sending = send(all, { connections, limitMs: 150_000 });
  const [kills] = await Promise.all([killInTurn(system, sending, all.length), sending.done]);
  const settled = await inboxSettled(system).then(
    () => true,
    () => false,
  );
  const seconds = (Date.now() - started) / 1_000;

  const [completed, incomplete, forged] = await slow;
  const { applied, rows } = await landed(system, underTest, [...open, ...early]);
  await memory.stop();

  const acknowledged = new Set(sending.acknowledged);
  complete.forEach(({ key = "" }, index) => {
    if (completed[index] === 204) acknowledged.add(key);
  });
  const sent = [...genuine, ...complete].flatMap(({ key }) => key ?? []);
  const found = {
    applied: new Set(applied),
    late: new Set(rows.get("late")),
    unknownProcess: new Set(rows.get("unknownProcess")),
  };
  const wrongEffects: string[] = [];
  for (const id of [...open, ...early]) {
    const effects = await system.effects(id);
    if (JSON.stringify(effects) !== JSON.stringify(underTest.effects)) wrongEffects.push(id);
  }
  const known = new Set(sent);
  const everywhere = [...applied, ...[...rows.values()].flat()];
  return {
    process: underTest.process,
    callbacks: genuine.length,
    connections,
    kills,
    seconds,
    /** Acknowledged, and found neither in a timeline nor late or parked as it should be. */
    lost: [...acknowledged].filter((key) => !found[fateOf(key)].has(key)),
    /** More than once in a timeline. */
    twice: duplicatesOf(applied),
    /** Arrived, though the sender never posted them. */
    foreign: everywhere.filter((key) => !known.has(key)),
    /** Genuine ones that were not acknowledged in the end. */
    unacknowledged: genuine.filter(({ key = "" }) => !acknowledged.has(key)).length,
    /** Whether no callback waits any more. */
    settled,
    fates: Object.fromEntries([...rows].map(([fate, keys]) => [fate, keys.length])),
    answers: sending.answers,
    slow: { complete: completed, incomplete, forged },
    /** Milliseconds, of the attempts answered 2xx and 503. */
    p99: { accepted: p99(sending, 204), overloaded: p99(sending, 503) },
    overloaded: sending.latencies.get(503)?.length ?? 0,
    /** Intents whose effects are not what they should be. */
    wrongEffects,
    /** MB. */
    memoryPeaks: memory.peaks,
  };
}

function fateOf(key: string): "applied" | "late" | "unknownProcess" {
  const id = /\/(\w+)-/.exec(key)?.[1];
  if (id === "unknown") return "unknownProcess";
  return id === "ended" || id === "terminated" ? "late" : "applied";
}

async function prepare(system: TestStack, underTest: CalledBack): Promise<void> {
  const { client } = system;
  const { staysOpen } = underTest;
  const results = ended.map(async (id) => (await underTest.start(client, id)).result());
  const stay = [...open, ...terminated].map((id) => underTest.start(client, id, staysOpen));
  for (const handle of await Promise.all(stay))
    await statusWhere(handle, ({ phase }) => phase === "tracking");
  for (const id of terminated)
    await client.temporal.workflow.getHandle(`${underTest.process}/${id}`).terminate("storm");
  await Promise.all(results);
  // The provider takes long to answer these submits, so callbacks are early.
  const submit = underTest.calls[0]?.sandbox.split(".")[1];
  const words = `${staysOpen.words},${submit}=slow-answer-4000`;
  await Promise.all(early.map((id) => underTest.start(client, id, { ...staysOpen, words })));
}

export function duplicatesOf(keys: readonly string[]): string[] {
  const seen = new Set<string>();
  return keys.filter((key) => seen.size === seen.add(key).size);
}

const p99 = ({ latencies }: Sending, status: number): number =>
  Math.round(quantile(latencies.get(status) ?? [], 0.99));
