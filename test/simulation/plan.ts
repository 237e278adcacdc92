// What happens in a simulation, made from its seed: which processes begin when, and what goes wrong when. A plan is data, so that a failure
// can be shrunk by leaving parts out, kept in a file and run again.
import type { ProcessName } from "../../src/contracts/registry.js";
import { processesUnderTest } from "../processes/index.js";
import { Random } from "./random.js";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** One process, with the persons around it. */
export interface Life {
  life: string;
  /** Milliseconds after the start of the simulation, here and in faults. */
  at: number;
  process: ProcessName;
  /** The call of its descriptor that it is about; undefined: the plain way, or a long one. */
  call?: string;
  /** The long way of its descriptor that it takes. */
  longWay?: number;
  /** Its persons let things lie for days or weeks. */
  isSlow?: true;
}

/** For how long each kind of fault may last, in milliseconds; 0: it happens at once, or to the next call alone. */
export const faultKinds = {
  /** The worker ends like a killed process, and another one starts. */
  killWorker: 2 * MINUTE_MS,
  killRelay: 2 * MINUTE_MS,
  killReceiver: 3 * DAY_MS,
  /** A role ends so between two things that it does; another one starts after that time. */
  crashAtEvent: MINUTE_MS,
  stopWorker: 0,
  secondWorker: HOUR_MS,
  /** A second worker, of a release with other words in its workflows. */
  otherRelease: DAY_MS,
  /** What becomes of tasks on their way between Temporal and its workers. */
  loseTasks: 10 * MINUTE_MS,
  /** There is place for one process in a worker's memory. */
  fillCache: DAY_MS,
  /** Queries come to a worker together with what no task has taken yet. */
  askEarly: 150 * DAY_MS,
  /** What becomes of calls to the providers. */
  refuse: HOUR_MS,
  cutBefore: 0,
  cutAfter: 0,
  answer500: 0,
  answer429: 10 * MINUTE_MS,
  answer503: 2 * HOUR_MS,
  webPage: 10 * MINUTE_MS,
  slow: HOUR_MS,
  lateRequest: 0,
  /** What becomes of callbacks: a provider tries for two days. */
  loseCallbacks: 40 * DAY_MS,
  doubleCallbacks: DAY_MS,
  lateCallbacks: DAY_MS,
  forgeCallback: 0,
  oddCallbacks: 10 * DAY_MS,
  oddMessages: 0,
  /** What is new is found by no query for a while, which is shorter than that between the look-ups of the journal. */
  hideNew: 2 * HOUR_MS,
  dropDatabase: 0,
  noDatabase: 5 * MINUTE_MS,
  noTemporal: 5 * MINUTE_MS,
  loseTemporalAnswers: MINUTE_MS,
  /** Persons ask in the last moment, and the provider takes its time for what they ask. */
  askLate: 60 * DAY_MS,
  fullDisk: 10 * MINUTE_MS,
  denyAccount: 6 * HOUR_MS,
  lagLookUps: DAY_MS,
  outlastLease: HOUR_MS,
  /** By how much the clocks of the programs differ from then on. */
  skewClocks: 3 * MINUTE_MS,
  /** Once, then every day, later every week; most lives are over by its end, and retention deletes. */
  cleanUp: 450 * DAY_MS,
  rotateKeys: 0,
  /** Of a process that has ended. */
  erase: 0,
} as const;
export type FaultKind = keyof typeof faultKinds;

export interface Fault {
  fault: FaultKind;
  at: number;
  forMs: number;
  /** Of a fault that hits one call: how many go before it. */
  skip?: number;
}

export type Step = Life | Fault;
export interface Plan {
  seed: number;
  steps: Step[];
}

export interface PlanOptions {
  seed: number;
  steps: number;
  processes?: readonly ProcessName[];
  kinds?: readonly FaultKind[];
}

/** A shorter plan is for a closer look: its lives are over within days. */
const SLOW_FROM_STEPS = 30;
/** Of the lives of a longer one; the others stay as short as those of a shorter plan, and what has no long way stays short. */
const SLOW_SHARE = 0.9;
/** For so long most slow lives are open. */
const SLOW_MS = 60 * DAY_MS;

/** Every second step is a process, the others are faults; all within a time in which processes are open. */
export function planOf({
  seed,
  steps,
  processes,
  kinds = Object.keys(faultKinds) as FaultKind[],
}: PlanOptions): Plan {
  const random = new Random(`${seed}/plan`);
  const among = processesUnderTest.filter(({ process }) => processes?.includes(process) ?? true);
  const spanMs = Math.max(HOUR_MS, Math.min(40, steps / 4) * DAY_MS);
  // Much happens in the first hours of a process, and little in its months.
  const when = () => Math.floor(spanMs * random.next() ** 2);
  const made: Step[] = [];
  for (let number = 0; number < steps; number += 1) {
    if (number % 2 === 0) {
      const { process, calls } = random.pick(among);
      const call = random.chance(0.3) ? undefined : random.pick(calls).operation;
      made.push({
        life: `${seed}-${number}`,
        at: when(),
        process,
        ...(call !== undefined && { call }),
      });
    } else {
      const kind = random.pick(kinds);
      made.push({
        fault: kind,
        at: Math.max(0, nearLife(made, random) ?? when()),
        forMs: Math.floor(faultKinds[kind] * random.next() ** 2),
        ...(faultKinds[kind] === 0 && { skip: Math.floor(6 * random.next() ** 3) }),
      });
    }
  }
  const paced = steps < SLOW_FROM_STEPS ? made : slowed(made, new Random(`${seed}/slow`));
  return { seed, steps: paced.toSorted((one, other) => one.at - other.at) };
}

/** Of the lives of each process. */
const LIVES_EACH = 2;

/** Two lives of each process, and one fault of each kind: the sample that a run of the tests has time for. */
export function sampleOf({ seed, steps }: Plan): Plan {
  const kept = new Map<string, number>();
  const isKept = (name: string, most: number) => {
    const count = (kept.get(name) ?? 0) + 1;
    kept.set(name, count);
    return count <= most;
  };
  return {
    seed,
    steps: steps.filter((step) =>
      "fault" in step ? isKept(step.fault, 1) : isKept(step.process, LIVES_EACH),
    ),
  };
}

/** Most lives take weeks, and some of the faults strike in the midst of them. */
function slowed(made: Step[], random: Random): Step[] {
  return made.map((step) => {
    if ("fault" in step)
      return random.chance(0.3) ? { ...step, at: step.at + random.int(0, SLOW_MS) } : step;
    if (!random.chance(SLOW_SHARE)) return step;
    const { call, ...plain } = step;
    const underTest = processesUnderTest.find(({ process }) => process === step.process);
    const ways = underTest?.longWays ?? [];
    const isLong = ways.length > 0 && (call === undefined || random.chance(0.8));
    return isLong
      ? { ...plain, longWay: random.int(0, ways.length), isSlow: true }
      : { ...step, isSlow: true };
  });
}

/** One seed after the other, without end. */
export function* plansFrom(first: PlanOptions): Generator<Plan> {
  for (let seed = first.seed; ; seed += 1) yield planOf({ ...first, seed });
}

/** Most faults come while a process does something, many as it begins. */
function nearLife(made: Step[], random: Random): number | undefined {
  const lives = made.filter((step) => "life" in step);
  if (random.chance(0.2)) return undefined;
  const { at } = random.pick(lives);
  return random.chance(0.4) ? at - 1 : at + Math.floor(2 * HOUR_MS * random.next() ** 4);
}
