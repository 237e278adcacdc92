// At which moments of a batch what is killed. A moment is what the provider has seen, never a time, so each phase is hit on a slow
// machine too. The seed decides everything.
import fc from "fast-check";
import type { Victim } from "../../../harness/outages/victims.js";

/** The n-th call of an operation, from the start of its phase on: the provider lets it wait, and they are killed meanwhile. */
export interface CallKill {
  victims: Victim[];
  operation: string;
  call: number;
  /** Whether the call takes effect after its wait (`slow`) or before it (`slow-answer`). */
  kind: "slow" | "slow-answer";
}

/** `share`: of all callbacks of the batch that are stored by then. */
interface CallbackKill {
  victims: Victim[];
  share: number;
}

export interface KillPlan {
  setUp: CallKill[];
  sending: CallKill[];
  callbacks: CallbackKill[];
  sweep: CallKill[];
  archive: CallKill[];
  report: CallKill[];
}

/** How many calls a phase makes at least, and how many of them may be made while one waits. */
export interface Calls {
  total: number;
  together: number;
}

const all: Victim[] = ["worker", "relay", "receiver", "postgres"];
/** In the order in which they are made. */
const setUpCalls = [
  "createBatch",
  "setBody",
  "addRecipients",
  "addBatchAttachment",
  "updateBatch",
  "startBatch",
];
/** What comes after it waits for a retry of the provider, so that the last moment still comes. */
const LAST_SHARE = 0.85;

const shuffled = (victims: Victim[]) => fc.shuffledSubarray(victims, { minLength: victims.length });
const share = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const kind = fc.constantFrom("slow", "slow-answer");
const pairs = shuffled(all).map(([a, b, c, d]) => [[a, b] as Victim[], [c, d] as Victim[]]);

const setUp = fc
  .tuple(
    shuffled(all),
    fc.subarray(setUpCalls, { minLength: all.length, maxLength: all.length }),
    fc.tuple(...all.map(() => kind)),
  )
  .map(([victims, operations, kinds]) =>
    victims.map((victim, index) => ({
      victims: [victim],
      operation: operations[index] ?? "",
      call: 1,
      kind: kinds[index] ?? "slow",
    })),
  );

const callbacks = fc
  .tuple(
    shuffled(["receiver", "relay"]),
    shuffled(all),
    fc.array(share, { minLength: 6, maxLength: 6 }),
  )
  .map(([more, each, shares]) => {
    const sorted = shares.toSorted((a, b) => a - b);
    return [...more, ...each].map((victim, index) => ({
      victims: [victim],
      share: LAST_SHARE * (sorted[index] ?? 0),
    }));
  });

/** Two moments, at each of which half of the victims are killed. */
function inTwo(operation: string, { total, together }: Calls): fc.Arbitrary<CallKill[]> {
  return fc.tuple(pairs, share, share, kind, kind).map(([victims, early, late, ...kinds]) => {
    const first = 1 + Math.floor(early * Math.max(1, total / 2 - together));
    const second = first + together + Math.floor(late * (total - first - together + 1));
    return [first, Math.min(second, total)].map((call, index) => ({
      victims: victims[index] ?? [],
      operation,
      call,
      kind: kinds[index] ?? "slow",
    }));
  });
}

export function killPlan(
  seed: number,
  { sweep, archive, report }: Record<"sweep" | "archive" | "report", Calls>,
): KillPlan {
  const plan = fc.record({
    setUp,
    // The provider is asked for its progress until it has made all notices, which is when the test says so.
    sending: inTwo("getBatch", { total: 4, together: 1 }),
    callbacks,
    sweep: inTwo("query", sweep),
    archive: inTwo("affidavits", archive),
    report: inTwo("queryRecipients", report),
  });
  return fc.sample(plan, { seed, numRuns: 1 })[0] as KillPlan;
}
