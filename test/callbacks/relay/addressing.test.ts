// What becomes of callbacks to an account's address: which process each is for, and how long one waits whose process is not known
// (docs/reading-the-specification.md §6).
import { expect, test } from "vitest";
import type { Settlement, UnaddressedRow } from "../../../src/callbacks/inbox/rows.js";
import type { Judgement } from "../../../src/callbacks/inbox/unaddressed-tokens.js";
import { addressRows } from "../../../src/callbacks/relay/addressing.js";
import type { AddressingTools } from "../../../src/callbacks/relay/addressing.js";
import { sealedPrefix } from "../../../src/contracts/shared/sealed-secret.js";
import { dataError, idsOf, reader, unaddressed } from "./claimed.js";

const HOUR_MS = 3_600_000;

/** The body names `reference`, or carries the token. */
interface Said {
  reference?: string | undefined;
  token?: string;
}

const row = (Identifier: string, said: Said = {}, over: Partial<UnaddressedRow> = {}) =>
  unaddressed({ Identifier, request_pk: said.reference, token: said.token }, over);

/** What is done with the rows, in order. `known`: the references that name a process. */
async function done(
  given: UnaddressedRow[],
  { known = "", ...over }: Partial<AddressingTools> & { known?: string } = {},
) {
  const all: [ids: string, result: Settlement | `to ${string}` | "forgotten"][] = [];
  await addressRows(given, {
    ...reader,
    sources: {
      "test-account"(...read) {
        const { token } = read[1] as Said;
        return { ...reader.sources["test-account"](...read), ...(token && { secret: token }) };
      },
    },
    async address(referred) {
      const found = referred.filter(({ reference }) => known.split(" ").includes(reference));
      for (const one of found) all.push([one.row.id, `to ${one.reference}`]);
      return new Set(found.map((one) => one.row.id));
    },
    judge: () => Promise.reject(new Error("no token is there")),
    forget: async (rows) => void all.push([idsOf(rows), "forgotten"]),
    settle: async (rows, settlement) => void all.push([idsOf(rows), settlement]),
    unmatchedMs: 0,
    ...over,
  });
  return all;
}

const unmatched = (detail?: string) => ({
  ...{ state: "parked", reason: "unmatched" },
  ...(detail && { detail }),
});
const noReference = { state: "parked", reason: "unreadable", detail: "the body has no reference" };
const refused = {
  ...{ state: "parked", reason: "unreadable" },
  detail: "the database refuses it (22021)",
};

test("a callback goes to the process of its reference; one of another reference waits, and one without is parked", async () => {
  const [longest, tooLong] = ["l".repeat(500), "l".repeat(501)];
  const given = [
    row("a", { reference: "r-1" }),
    row("b", { reference: longest }),
    row("other", { reference: "r-2" }),
    ...[undefined, "", tooLong].map((reference) => row("none", { reference })),
    row("sealed", { token: `${sealedPrefix}abc` }),
    // A reference counts before a token.
    row("c", { reference: "r-1", token: "x" }),
  ];
  expect(await done(given, { known: `r-1 ${longest}`, unmatchedMs: 500 })).toEqual([
    ["none none none sealed", noReference],
    ["a", "to r-1"],
    ["b", `to ${longest}`],
    ["c", "to r-1"],
    ["other", { state: "waiting", pauseMs: 500 }],
  ]);
});

test.each([
  [5_000, [500, 1_000, 2_000, 1_500]],
  [3_500, [500, 1_000, 2_000]],
])(
  "an unknown reference is looked for after growing pauses, until its %d ms are over",
  async (unmatchedMs, pauses) => {
    const results: unknown[] = [];
    for (let attempts = 1; attempts <= pauses.length + 1; attempts += 1) {
      const given = [row("a", { reference: "r-1" }, { attempts })];
      results.push((await done(given, { unmatchedMs }))[0]?.[1]);
    }
    const waits = pauses.map((pauseMs) => ({ state: "waiting", pauseMs }));
    expect(results).toEqual([...waits, unmatched()]);
  },
);

test("a reference or a token that the database refuses is parked alone, and its neighbours are addressed", async () => {
  const address: AddressingTools["address"] = async (referred) => {
    if (referred.some(({ reference }) => reference === "poison")) throw dataError();
    return new Set(referred.map((one) => one.row.id));
  };
  const references = ["r-1", "poison", "r-2"].map((reference) => row(reference, { reference }));
  expect(await done(references, { address })).toEqual([["poison", refused]]);
  const judge: AddressingTools["judge"] = async (carrying) => {
    if (carrying.some(({ token }) => token === "poison")) throw dataError();
    return new Map(carrying.map((one) => [one.row.id, { isJudged: true, reference: "r-1" }]));
  };
  const tokens = ["a", "poison", "b"].map((token) => row(token, { token }));
  expect(await done(tokens, { judge, known: "r-1" })).toEqual([
    ["poison", refused],
    ["a", "to r-1"],
    ["b", "to r-1"],
  ]);
});

test("an error that is none of a row stops them all, and none is settled", async () => {
  const away = new Error("no connection");
  const fails = () => Promise.reject(away);
  await expect(done([row("a", { reference: "r-1" })], { address: fails })).rejects.toBe(away);
  await expect(done([row("a", { token: "x" })], { judge: fails })).rejects.toBe(away);
});

const judged = (judgement?: Judgement) => async () => new Map(judgement && [["a", judgement]]);
const opensNothing = "its token opens the data of no process of the account";
const notTried = "no worker could try its token to the end within a day";

test.each<[string, AddressingTools["judge"], number, unknown[]]>([
  ["is judged, and opens data", judged({ isJudged: true, reference: "r-1" }), 1, ["to r-1"]],
  ["opens nothing", judged({ isJudged: true }), 1, [unmatched(opensNothing), "forgotten"]],
  [
    ...(["cannot be kept", async () => undefined, 1] as const),
    [unmatched("keys.secretsPublic is not set"), "forgotten"],
  ],
  ["is not judged", judged({ isJudged: false }), 1, [{ state: "waiting", pauseMs: HOUR_MS }]],
  ["was just offered", judged(), 24, [{ state: "waiting", pauseMs: HOUR_MS }]],
  ["nobody has judged in a day", judged(), 25, [unmatched(notTried), "forgotten"]],
])("a callback whose token %s", async (_, judge, attempts, results) => {
  const given = [row("a", { token: "x" }, { attempts })];
  expect(await done(given, { judge, known: "r-1" })).toEqual(results.map((one) => ["a", one]));
});

test("of several tokens only those are forgotten whose callbacks are parked", async () => {
  const judge = async () => new Map([["b", { isJudged: true }]]);
  const given = ["a", "b"].map((id) => row(id, { token: "x" }));
  expect(await done(given, { judge })).toEqual([
    ["a", { state: "waiting", pauseMs: HOUR_MS }],
    ["b", unmatched(opensNothing)],
    ["b", "forgotten"],
  ]);
});
