// Each rule of checks.ts is red where what it protects is broken. Those that only a whole run shows have a defect that is put back (defects/),
// and `deterministic` has temporal/engine.alone.test.ts.
import { afterEach, describe, expect, test } from "vitest";
import { Ledger } from "../../packages/sandbox/src/engine/ledger.js";
import { dataKeyId } from "../../src/crypto/data-key.js";
import { Checks, rules } from "./checks.js";
import type { Rule } from "./checks.js";
import type { Database } from "./doors/database.js";
import type { Files } from "./doors/files.js";
import { underTestOf } from "./life.js";
import type { Living } from "./life.js";
import { remainsOf } from "./stored.js";
import type { System } from "./system.js";
import type { TemporalServer } from "./temporal/server.js";

/** Before the clock of this process. */
const at = new Date("2025-01-04T08:00:00Z");
const id = "sendPostal/a";
const life = { life: "a", at: 0, process: "sendPostal" } as const;
const { underTest } = underTestOf(life);
const [operation] = Object.keys(underTest.effects) as [string];
const { record } = Ledger.prototype;

interface State {
  living: Partial<Living>;
  run: { isOpen: boolean; closedAt: number; events: object[]; outcome: string };
  /** What a query answers that has these words. */
  rows: [RegExp, object[]][];
  paths: string[];
  effects: number;
}

/** A process that has ended well, and what the rules look at. */
const sound = (): State => ({
  living: { outcome: underTest.outcome, confirmed: [] },
  run: { isOpen: false, closedAt: Date.now(), events: [], outcome: underTest.outcome },
  rows: [
    [/from trustflow.effects/, [{ at }]],
    [/where identifier =/, [{}]],
  ],
  paths: [],
  effects: 1,
});

const database = ({ rows }: Pick<State, "rows">) =>
  ({
    rows: async (sql: string) => rows.find(([words]) => words.test(sql))?.[1] ?? [],
  }) as unknown as Database;

const files = (paths: string[], content = "") =>
  ({
    world: { now: at.getTime() },
    paths: () => paths,
    stat: () => ({ mtimeMs: 0, isFile: () => true }),
    readFile: () => Buffer.from(content),
  }) as unknown as Files;

/** The rules that are violated once all has come to rest. */
async function violated(
  change: (state: State, checks: Checks, ledger: Ledger) => void,
): Promise<string[]> {
  const state = sound();
  const ledger = new Ledger(() => undefined);
  const checks = new Checks(() => undefined);
  const { run } = state;
  const attributes = () => ({
    TrustflowOutcome: { data: Buffer.from(JSON.stringify(run.outcome)) },
  });
  const system = {
    sandbox: { ledger: (intent?: string) => ledger.report(intent) },
    temporal: { everyRun: [Object.assign(run, { id, attributes: {} })] },
    env: { TRUSTFLOW_KEYS__CODEC: "a secret key" },
  } as unknown as System;
  checks.watch(system);
  checks.know(Object.assign(state.living, { life, workflowId: id }) as Living);
  change(state, checks, ledger);
  Object.assign(run, { attributes: attributes() });
  for (let count = 0; count < state.effects; count += 1)
    ledger.record({ operation, intent: "a", itemId: "1", at: at.getTime(), account: "sandbox" });
  await checks.end(system, database(state), files(state.paths));
  return [...new Set(checks.violations.map(({ rule }) => rule))];
}

/** A second test counts no effect of the first one. */
afterEach(() => void (Ledger.prototype.record = record));

test("nothing is violated where all is sound", async () => {
  expect(await violated(() => undefined)).toEqual([]);
});

const event = (attributes: object) => ({ eventId: 1 as never, ...attributes });
const callback = (more: object) => JSON.stringify({ Identifier: "e-1", EvidenceId: "1", ...more });
const affidavit = { AdditionalData: { AffidavitId: "affidavit-1" } };
const twice = { at: at.toISOString(), source: "callback", event: "sent" };

const broken: [Rule, string, Parameters<typeof violated>[0]][] = [
  ["oneEffect", "an effect is there twice", (state) => (state.effects = 2)],
  [
    "oneEffect",
    "the provider has noted what it must never see",
    (_, __, ledger) => ledger.violate({ operation, at: 0 }, "reusedToken", "a", "again"),
  ],
  [
    "journalFirst",
    "an effect has no row",
    ({ rows }) => rows.unshift([/from trustflow.effects/, [{ at: null }]]),
  ],
  [
    "journalFirst",
    "the row comes after the effect",
    ({ rows }) => rows.unshift([/from trustflow.effects/, [{ at: new Date("2100-01-01") }]]),
  ],
  [
    "callbackKept",
    "what was acknowledged is not there",
    ({ rows }, checks) => {
      rows.unshift([/where identifier =/, []]);
      checks.onAcknowledged(callback({}), true);
    },
  ],
  [
    "callbackSettled",
    "a callback still waits",
    ({ rows }) => rows.unshift([/'waiting'/, [{ id: "1", workflow_id: id }]]),
  ],
  [
    "answered",
    "an accepted update has no answer",
    ({ run }) =>
      run.events.push(
        event({ workflowExecutionUpdateAcceptedEventAttributes: { protocolInstanceId: "u" } }),
      ),
  ],
  [
    "noSecret",
    "a history has an address",
    ({ run }, checks) => {
      const input = { payloads: [{ data: Buffer.from("to Calle Mayor 1") }] };
      const signaled = { signalName: "any", input };
      checks.onEvent(run as never, event({ workflowExecutionSignaledEventAttributes: signaled }));
    },
  ],
  [
    "noSecret",
    "a log has a key",
    (_, checks) => checks.noSecretIn("the log", Buffer.from("with a secret key in it")),
  ],
  ["ends", "a process is open", ({ run }) => (run.isOpen = true)],
  [
    "truth",
    "a process fails",
    ({ living }) =>
      Object.assign(living, { outcome: "RefusedError", waitedFor: "news from EviPost" }),
  ],
  [
    "callbackSettled",
    "the relay could not open a callback",
    ({ rows }) => rows.unshift([/undecryptable/, [{ id: 1, of: id, detail: "no key" }]]),
  ],
  [
    "truth",
    "a process ends otherwise than its provider says",
    ({ living, run }) => (living.outcome = run.outcome = "undelivered"),
  ],
  ["truth", "an effect is missing", (state) => (state.effects = 0)],
  [
    "truth",
    "an affidavit is missing",
    ({ living }, checks) => {
      living.result = { outcome: underTest.outcome, references: { uniqueId: "1" }, documents: [] };
      checks.onAcknowledged(callback(affidavit), true);
    },
  ],
  ["statusTrue", "the attributes say something else", ({ run }) => (run.outcome = "other")],
  [
    "statusTrue",
    "the timeline has a callback twice",
    ({ living }) =>
      (living.result = { outcome: underTest.outcome, timeline: [twice, { ...twice }] }),
  ],
  [
    "documents",
    "an owner misses its document",
    ({ rows }) =>
      rows.push([
        /from trustflow.documents/,
        [{ id: "0".repeat(32), of: id, kind: "input", at: new Date(0) }],
      ]),
  ],
  [
    "documents",
    "a document of a process has no owner",
    ({ paths }) => paths.push(`/simulated/documents/00/${"0".repeat(32)}`),
  ],
  [
    "oldKeys",
    "a result cannot be read",
    ({ living }) =>
      Object.assign(living, { outcome: "DecryptionError", waitedFor: "a new eID assertion" }),
  ],
];

test.each(broken)("%s: %s", async (rule, _, change) => {
  expect(await violated(change)).toEqual([rules[rule]]);
});

test("oneEffect: what a person confirmed is no second effect", async () => {
  expect(
    await violated((state) => {
      state.effects = 2;
      state.living = Object.assign(state.living, { confirmed: [operation] });
    }),
  ).toEqual([]);
});

describe("erased", () => {
  const keyId = dataKeyId({ namespace: "default", workflowId: id });
  const nothing: Parameters<typeof remains>[0] = { rows: [], runs: [], key: "erased" };

  function remains(left: { rows: State["rows"]; runs: { id: string }[]; key: string }) {
    const runs = new Map(left.runs.map((run) => [run.id, run]));
    const temporal = { namespace: "default", runs } as unknown as TemporalServer;
    const keys = files([`/simulated/keys/${keyId}`], left.key);
    return remainsOf({ database: database(left), files: keys, temporal }, [id]);
  }

  test("nothing is found where nothing is left", async () => {
    expect(await remains(nothing)).toEqual([]);
  });

  const row = [{ thing: "document 1", workflow_id: id }];
  test.each<[string, Partial<typeof nothing>]>([
    [`document 1 of ${id}`, { rows: [[/trustflow.documents/, row]] }],
    [`the history of ${id}`, { runs: [{ id }] }],
    [`the data key of ${id}`, { key: "a key" }],
  ])("%s is found", async (found, left) => {
    expect(await remains({ ...nothing, ...left })).toEqual([found]);
  });
});
