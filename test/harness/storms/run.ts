// One storm over one kind of process: open ones, some whose submit is not answered yet, ended, terminated and unknown ones,
// while receiver, relay and worker are killed in turn. The report says what was acknowledged and where it landed.
import type { RoleName } from "../../../src/local/stack/stack.js";
import type { CalledBack } from "../../processes/process-under-test.js";
import { statusWhere } from "../stack/stack.js";
import type { TestStack } from "../stack/stack.js";
import { killInTurn } from "./kills.js";
import type { Killed } from "./kills.js";
import type { Landing } from "./landing.js";
import { Postings, doubledAndShuffled } from "./postings.js";
import { quantile, send } from "./sender.js";
import type { PostingKind, Sending } from "./sender.js";
import { sendSlowly } from "./slow.js";
import { watchMemory } from "./watch.js";

export interface StormReport {
  callbacks: number;
  connections: number;
  kills: Killed[];
  seconds: number;
  /** Acknowledged, and found neither in a timeline nor late or parked as it should be. */
  lost: string[];
  /** More than once in a timeline. */
  twice: string[];
  /** Present although no test sent them. */
  foreign: string[];
  /** Genuine ones that were not acknowledged in the end. */
  unacknowledged: number;
  /** Whether no callback waits any more. */
  settled: boolean;
  fates: Record<string, number>;
  answers: Record<PostingKind, Record<string, number>>;
  slow: { complete: number[]; incomplete: number[]; forged: number[] };
  /** Milliseconds, of the attempts answered 2xx and 503. */
  p99: { accepted: number; overloaded: number };
  overloaded: number;
  /** Intents whose effects are not what they should be. */
  wrongEffects: string[];
  /** MB. */
  memoryPeaks: Partial<Record<RoleName, number>>;
}

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
  landing: Landing,
  { callbacks, connections }: { callbacks: number; connections: number },
): Promise<StormReport> {
  const postings = new Postings(system, underTest);
  const memory = watchMemory(system);
  await prepare(system, underTest);
  const shares: [string[], number][] = [
    [open, 0.88],
    [early, 0.08],
    [ended, 0.02],
    [terminated, 0.01],
    [unknown, 0.01],
  ];
  const genuine = shares.flatMap(([ids, share]) =>
    ids.flatMap((id) => postings.genuine(id, Math.round((callbacks * share) / ids.length))),
  );
  const others = [
    ...postings.forged("open-3", callbacks / 20),
    ...postings.malformed("open-4", callbacks / 50),
    ...postings.oversized("open-5", callbacks / 500),
  ];
  const complete = postings.genuine("open-0", 20);
  const slowly = (count: number, share: number, kind: "genuine" | "forged") =>
    postings[kind]("open-1", count).map(({ url, body }) => sendSlowly(url, body, share, 2_000));
  const slow = {
    complete: complete.map(({ url, body }) => sendSlowly(url, body, 1, 2_000)),
    incomplete: slowly(20, 0.5, "genuine"),
    forged: slowly(8, 0.5, "forged"),
  };

  const started = Date.now();
  const sending = send(doubledAndShuffled([...genuine, ...others], 42), {
    connections,
    limitMs: 150_000,
  });
  const [kills] = await Promise.all([killInTurn(system, sending), sending.done]);
  const settled = await landing.settled().then(
    () => true,
    () => false,
  );
  const seconds = (Date.now() - started) / 1_000;

  const answersOf = (senders: { answer: Promise<number> }[]) =>
    Promise.all(senders.map(({ answer }) => answer));
  const slowAnswers = {
    complete: await answersOf(slow.complete),
    incomplete: await answersOf(slow.incomplete),
    forged: await answersOf(slow.forged),
  };
  const { applied, rows } = await landing.of(underTest, [...open, ...early]);
  await memory.stop();

  const acknowledged = new Set(sending.acknowledged);
  complete.forEach(({ key = "" }, index) => {
    if (slowAnswers.complete[index] === 204) acknowledged.add(key);
  });
  const sent = [...genuine, ...complete].flatMap(({ key }) => key ?? []);
  const expected = (key: string): ReadonlySet<string> => found[fateOf(key)] ?? none;
  const found: Record<string, ReadonlySet<string>> = {
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
  const landed = [...applied, ...[...rows.values()].flat()];
  return {
    callbacks: genuine.length,
    connections,
    kills,
    seconds,
    lost: [...acknowledged].filter((key) => !expected(key).has(key)),
    twice: duplicatesOf(applied),
    foreign: landed.filter((key) => !known.has(key)),
    unacknowledged: genuine.filter(({ key = "" }) => !acknowledged.has(key)).length,
    settled,
    fates: Object.fromEntries([...rows].map(([fate, keys]) => [fate, keys.length])),
    answers: plain(sending.answers),
    slow: slowAnswers,
    p99: { accepted: p99(sending, 204), overloaded: p99(sending, 503) },
    overloaded: sending.latencies.get(503)?.length ?? 0,
    wrongEffects,
    memoryPeaks: memory.peaks,
  };
}

const none: ReadonlySet<string> = new Set();

function fateOf(key: string): string {
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

function plain(answers: Sending["answers"]): StormReport["answers"] {
  return Object.fromEntries(
    Object.entries(answers).map(([kind, counts]) => [kind, Object.fromEntries(counts)]),
  ) as StormReport["answers"];
}
