// The journal's transition table: each state of a row, effect class and cause has its next action. A new state or class does not
// compile before it has its entries here.
import { describe, expect, test } from "vitest";
import type { EffectClass } from "../../src/journal/effect.js";
import { afterCleanEnd, isUncertainOnceTaken, nextAction } from "../../src/journal/next-action.js";
import type {
  CallAction,
  CallCause,
  CleanEnd,
  PersonCause,
  RowFacts,
} from "../../src/journal/next-action.js";
import { effectOf, states } from "../../src/journal/row.js";
import type { KnownEffect, State } from "../../src/journal/row.js";
import { rowOf } from "./support.js";

const LEASE = 400;
const SPACING = 100;

function row(state: State, over: Partial<RowFacts> = {}): RowFacts {
  return { ...rowOf("0", state), hasOtherInput: false, ...over };
}

const otherInput = { hasOtherInput: true };
const lease = { leaseLeft: LEASE };
const lookedUp = { absent: 1, absentFor: SPACING };

/** Rows of each state, by what else they say. */
const rows = {
  none: { "no row": undefined },
  notSent: {
    free: row("notSent"),
    "its lease runs": row("notSent", lease),
    "after a denial": row("notSent", { tokenGeneration: 1 }),
    "a person decided to send it again": row("notSent", { uncertain: true }),
    "another input": row("notSent", otherInput),
    "another input, an earlier attempt is uncertain": row("notSent", {
      ...otherInput,
      uncertain: true,
    }),
  },
  sending: {
    "held, its lease runs": row("sending", { ...lease, held: true }),
    "its call is over, its lease runs": row("sending", lease),
    "its call is over, its lease runs, one empty look-up": row("sending", {
      ...lease,
      ...lookedUp,
    }),
    "its lease is over": row("sending"),
    "its sender was killed, its lease is over": row("sending", { held: true }),
    "one empty look-up just now": row("sending", { absent: 1, absentFor: 40 }),
    "one empty look-up": row("sending", lookedUp),
    "one empty look-up, a refusal waits": row("sending", {
      ...lookedUp,
      uncertain: true,
      answer: Buffer.from("refusal"),
    }),
    "another row replaces it": row("sending", { ...lookedUp, nextOccurrence: "1" }),
    "another input": row("sending", otherInput),
  },
  answered: { answered: row("answered"), "another input": row("answered", otherInput) },
  refused: {
    refused: row("refused"),
    "another input": row("refused", otherInput),
    "another input, after a denial": row("refused", { ...otherInput, tokenGeneration: 1 }),
    "another input, held by an abandonment": row("refused", { ...otherInput, ...lease }),
  },
  withdrawn: { withdrawn: row("withdrawn"), "another input": row("withdrawn", otherInput) },
} as const satisfies Record<State | "none", Record<string, RowFacts | undefined>>;

/** One cell per cause, in the order of its list. */
type Cells = Record<EffectClass, string>;
type Table = { [S in keyof typeof rows]: { [Name in keyof (typeof rows)[S]]: Cells } };

const classes = Object.keys({
  repeatable: 0,
  keyed: 0,
  lookup: 0,
  once: 0,
} satisfies Record<EffectClass, 0>) as EffectClass[];
const every = (cells: string) =>
  Object.fromEntries(classes.map((effectClass) => [effectClass, cells])) as Cells;
/** A cell for the classes whose look-up can prove something, and one for the others. */
const asked = (cells: string, others: string): Cells => ({
  repeatable: others,
  keyed: cells,
  lookup: cells,
  once: others,
});

function call(over: Partial<CallCause & { by: "call" }> = {}): CallCause {
  return { by: "call", isAnswerLost: false, canLookUp: true, spacingMs: SPACING, ...over };
}

const callCauses = {
  call: [call()],
  "answer lost": [call({ isAnswerLost: true })],
  "no look-up": [call({ canLookUp: false }), call({ canLookUp: false, isAnswerLost: true })],
  watch: [{ by: "watch" }],
} satisfies Record<string, CallCause[]>;

const unsent = asked(
  "take | take | take | look up: unknown, proof asked",
  "take | take | take | look up: unknown",
);
const askedFirst = asked(
  "look up: take | look up: take | take | look up: unknown, proof asked",
  "look up: take | look up: take | take | look up: unknown",
);
const waiting = every("wait 400 | wait 400 | wait 400 | wait 400");
const mismatch = every("mismatch | mismatch | mismatch | mismatch");
const watching = "look up: goOn, proof asked";
const repeated = "take | take | take | look up: unknown";
const unknown = "unknown | unknown | unknown | look up: unknown";
const leaseOver: Cells = {
  repeatable: repeated,
  keyed: `look up: lookAgain 100, first | look up: lookAgain 100, first | unknown | ${watching}`,
  lookup: `look up: take, proof asked | look up: lookAgain 100, first | unknown | ${watching}`,
  once: unknown,
};
const repeatedLater = "wait 400 | wait 400 | wait 400 | look up: unknown";

//                    call | answer lost | no look-up | watch
const calls: Table = {
  none: { "no row": unsent },
  notSent: {
    free: unsent,
    "its lease runs": waiting,
    "after a denial": askedFirst,
    "a person decided to send it again": askedFirst,
    "another input": unsent,
    "another input, an earlier attempt is uncertain": mismatch,
  },
  sending: {
    "held, its lease runs": waiting,
    "its call is over, its lease runs": {
      repeatable: repeatedLater,
      keyed: `look up: lookAgain 100, first | look up: lookAgain 100, first | unknown | ${watching}`,
      lookup: `look up: lookAgain 400 | look up: lookAgain 100, first | unknown | ${watching}`,
      once: unknown,
    },
    "its call is over, its lease runs, one empty look-up": {
      repeatable: repeatedLater,
      keyed: `look up: lookAgain 400 | look up: lookAgain 400 | unknown | ${watching}`,
      lookup: `look up: lookAgain 400 | look up: lookAgain 400 | unknown | ${watching}`,
      once: unknown,
    },
    "its lease is over": leaseOver,
    "its sender was killed, its lease is over": leaseOver,
    "one empty look-up just now": {
      repeatable: repeated,
      keyed: `lookAgain 60 | lookAgain 60 | unknown | ${watching}`,
      lookup: `lookAgain 60 | lookAgain 60 | unknown | ${watching}`,
      once: unknown,
    },
    "one empty look-up": {
      repeatable: repeated,
      keyed: `look up: take, proof asked | look up: take, proof asked | unknown | ${watching}`,
      lookup: `look up: take, proof asked | look up: take, proof asked | unknown | ${watching}`,
      once: unknown,
    },
    "one empty look-up, a refusal waits": {
      repeatable: repeated,
      keyed: `look up: refuse, proof asked | look up: refuse, proof asked | unknown | ${watching}`,
      lookup: `look up: refuse, proof asked | look up: refuse, proof asked | unknown | ${watching}`,
      once: unknown,
    },
    "another row replaces it": {
      repeatable: repeated,
      keyed: `look up: take | look up: take | take | ${watching}`,
      lookup: `look up: take | look up: take | take | ${watching}`,
      once: repeated,
    },
    "another input": mismatch,
  },
  answered: { answered: every("answer | answer | answer | answer"), "another input": mismatch },
  refused: {
    refused: every("refuse | refuse | refuse | refuse"),
    "another input": unsent,
    "another input, after a denial": askedFirst,
    "another input, held by an abandonment": waiting,
  },
  withdrawn: {
    withdrawn: every("withdrawn | withdrawn | withdrawn | withdrawn"),
    "another input": every("withdrawn | withdrawn | withdrawn | withdrawn"),
  },
};

const retry = (isConfirmed: boolean, nobodyKnows: boolean): PersonCause => ({
  by: "retry",
  isConfirmed,
  nobodyKnows,
});
const personCauses = {
  "retry, not confirmed": [retry(false, false), retry(false, true)],
  "retry, confirmed": [retry(true, false)],
  "retry, confirmed, outcome shown as unknown": [retry(true, true)],
  happened: [{ by: "happened" }],
  abandon: [{ by: "abandon" }],
  withdrawal: [{ by: "withdrawal" }],
} satisfies Record<string, PersonCause[]>;

const free = every("keep | keep | keep | store | hold | withdraw");
const uncertain = every("keep | keep | keep | store | hold | keep");
const closed = every("keep | keep | keep | store | keep | keep");
const kept = every("keep | keep | keep | keep | keep | keep");
const open: Cells = {
  repeatable: "keep | keep | replace | store | keep | keep",
  keyed: "keep | keep | sendAgain | store | keep | keep",
  lookup: "keep | keep | replace | store | keep | keep",
  once: "keep | replace | replace | store | keep | keep",
};
const leaseRuns: Cells = {
  ...every("keep | keep | leaseRuns | store | keep | keep"),
  once: "keep | leaseRuns | leaseRuns | store | keep | keep",
};

//    not confirmed | confirmed | confirmed and told | happened | abandon | withdrawal
const decisions: Table = {
  none: { "no row": free },
  notSent: {
    free,
    "its lease runs": free,
    "after a denial": free,
    "a person decided to send it again": uncertain,
    "another input": free,
    "another input, an earlier attempt is uncertain": uncertain,
  },
  sending: {
    "held, its lease runs": leaseRuns,
    "its call is over, its lease runs": leaseRuns,
    "its call is over, its lease runs, one empty look-up": leaseRuns,
    "its lease is over": open,
    "its sender was killed, its lease is over": open,
    "one empty look-up just now": open,
    "one empty look-up": open,
    "one empty look-up, a refusal waits": open,
    "another row replaces it": open,
    "another input": open,
  },
  answered: { answered: kept, "another input": kept },
  refused: {
    refused: free,
    "another input": free,
    "another input, after a denial": free,
    "another input, held by an abandonment": free,
  },
  withdrawn: { withdrawn: closed, "another input": closed },
};

interface Case {
  state: string;
  about: string;
  effectClass: EffectClass;
  row: RowFacts | undefined;
  /** One per cause. */
  expected: string[];
}

const casesOf = (table: Table): Case[] =>
  Object.entries(rows).flatMap(([state, byName]) =>
    Object.entries(byName as Record<string, RowFacts | undefined>).flatMap(([about, row]) => {
      const cells = (table[state as keyof Table] as Record<string, Cells>)[about];
      return classes.map((effectClass) => {
        const expected = cells?.[effectClass].split("|").map((cell) => cell.trim()) ?? [];
        return { state, about, effectClass, row, expected };
      });
    }),
  );

function textOf(action: CallAction): string {
  if (action.do !== "lookUp") return "ms" in action ? `${action.do} ${action.ms}` : action.do;
  const { ifAbsent } = action;
  if (ifAbsent.do === "lookAgain")
    return `look up: lookAgain ${ifAbsent.ms}${ifAbsent.isFirst ? ", first" : ""}`;
  return `look up: ${ifAbsent.do}${ifAbsent.needsProof ? ", proof asked" : ""}`;
}

test.each(casesOf(calls))(
  "an activity finds $state ($about), $effectClass",
  ({ row, effectClass, expected }) => {
    const actions = Object.values(callCauses).map((causes) =>
      causes.map((cause) => textOf(nextAction(row, effectClass, cause))),
    );
    expect(actions).toEqual(expected.map((cell, at) => actions[at]?.map(() => cell)));
    expect(actions).toHaveLength(expected.length);
  },
);

test.each(casesOf(decisions))(
  "a person decides on $state ($about), $effectClass",
  ({ row, effectClass, expected }) => {
    const actions = Object.values(personCauses).map((causes) =>
      causes.map((cause) => nextAction(row, effectClass, cause)),
    );
    expect(actions).toEqual(expected.map((cell, at) => actions[at]?.map(() => cell)));
    expect(actions).toHaveLength(expected.length);
  },
);

test("a wait is given in whole milliseconds, and never too short", () => {
  const soon = row("sending", { held: true, leaseLeft: 0.2 });
  expect(nextAction(soon, "keyed", call())).toEqual({ do: "wait", ms: 1 });
  const late = row("sending", { absent: 1, absentFor: SPACING - 0.2 });
  expect(nextAction(late, "keyed", call())).toEqual({ do: "lookAgain", ms: 1 });
});

describe("what a take and a clean end write", () => {
  test.each(states)("%s: an unanswered attempt before the take is uncertain", (state) => {
    expect(isUncertainOnceTaken(row(state))).toBe(state === "sending");
    expect(isUncertainOnceTaken(row(state, { uncertain: true }))).toBe(true);
  });

  const ends: Record<CleanEnd, Record<"certain" | "uncertain" | "decided", string>> = {
    refused: { certain: "refused", uncertain: "sending", decided: "sending" },
    notSent: { certain: "notSent", uncertain: "sending", decided: "notSent" },
    denied: {
      certain: "notSent, new token",
      uncertain: "sending, new token",
      decided: "notSent",
    },
    noAnswer: { certain: "notSent", uncertain: "sending", decided: "notSent" },
  };
  test.each(Object.entries(ends))("%s", (end, expected) => {
    const textAfter = (row: { uncertain: boolean; before?: State; isRepeatable?: boolean }) => {
      const { state, renewsToken } = afterCleanEnd(end as CleanEnd, row);
      return renewsToken ? `${state}, new token` : state;
    };
    for (const before of [undefined, "notSent", "refused", "withdrawn"] as const)
      expect(textAfter({ uncertain: false, ...(before && { before }) })).toBe(expected.certain);
    expect(textAfter({ uncertain: true, before: "sending" })).toBe(expected.uncertain);
    expect(textAfter({ uncertain: true, before: "notSent" })).toBe(expected.decided);
    const repeatable = { uncertain: true, before: "sending", isRepeatable: true } as const;
    expect(textAfter(repeatable)).toBe(expected.certain);
  });
});

test("what a row says of its effect", () => {
  const expected: Record<State, [certain: KnownEffect, uncertain: KnownEffect]> = {
    sending: ["unknown", "unknown"],
    answered: ["exists", "exists"],
    refused: ["none", "unknown"],
    notSent: ["none", "unknown"],
    withdrawn: ["none", "unknown"],
  };
  for (const state of states)
    expect([false, true].map((uncertain) => effectOf({ state, uncertain }))).toEqual(
      expected[state],
    );
});
