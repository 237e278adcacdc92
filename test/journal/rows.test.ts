// The SQL of the journal's rows and the transition table say the same: which states a statement changes, and what it writes.
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { EffectClass } from "../../src/journal/effect.js";
import { afterCleanEnd, isUncertainOnceTaken, nextAction } from "../../src/journal/next-action.js";
import type { CleanEnd } from "../../src/journal/next-action.js";
import { effectIn, mayExist, states } from "../../src/journal/row.js";
import type { Row, State } from "../../src/journal/row.js";
import { Rows } from "../../src/journal/rows.js";
import { testDatabase } from "../harness/stack/postgres.js";
import { effectOf } from "./support.js";
import { ofFile } from "../harness/of-file.js";

const database = ofFile(testDatabase);
const rows = ofFile(() => new Rows(database.pool, 60_000));

const holder = randomUUID();
const ends: CleanEnd[] = ["refused", "notSent", "denied"];
const classes: EffectClass[] = ["repeatable", "keyed", "lookup", "once"];
const sealed = Buffer.from("sealed");

/** A row of a separate process in a given state. */
async function stored(
  state: State,
  over: Partial<{ uncertain: boolean; holder: string; sealed: Buffer }> = {},
) {
  const effect = effectOf();
  await database.pool.query(
    `insert into trustflow.effects (token, namespace, workflow_id, step, occurrence, digest, state, uncertain, holder, sealed_answer)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      effect.token,
      effect.namespace,
      effect.workflowId,
      effect.step,
      effect.occurrence,
      effect.digest,
      state,
      over.uncertain === true,
      over.holder ?? null,
      over.sealed ?? null,
    ],
  );
  return { effect, row: await found(effect.token) };
}

async function found(token: string): Promise<Row> {
  const row = await rows.find(token);
  if (!row) throw new Error("the row is gone");
  return row;
}

/** What the statements change; the times pass by themselves. */
const written = ({ state, uncertain, absent, held, answer }: Row) =>
  JSON.stringify({ state, uncertain, absent, held, answer });

test("the database knows the states of the table, and no other", async () => {
  const { rows: checks } = await database.pool.query<{ text: string }>(
    `select pg_get_constraintdef(oid) as text from pg_constraint
     where conrelid = 'trustflow.effects'::regclass and contype = 'c'`,
  );
  const named = checks.flatMap(({ text }) =>
    [...text.matchAll(/'(\w+)'/g)].map(([, name]) => name),
  );
  expect(new Set(named)).toEqual(new Set(states));
  expect(Object.keys(effectIn)).toEqual([...states]);
});

test.each(states)(
  "%s: an answer is written unless the table gives the stored one",
  async (state) => {
    const { row } = await stored(state);
    const facts = { ...row, hasOtherInput: false };
    const hasAnswer = nextAction(facts, "keyed", { by: "watch" }).do === "answer";
    expect(await rows.answer(row.token, sealed)).toBe(!hasAnswer);
  },
);

test.each(states)(
  "%s: the end of a call changes it only while its effect is unknown",
  async (state) => {
    const isOpen = effectIn[state] === "unknown";
    const statements: Record<string, (row: Row) => Promise<unknown>> = {
      refused: (row) => rows.end({ token: row.token, holder, uncertain: false }, "refused", sealed),
      notSent: (row) => rows.end({ token: row.token, holder, uncertain: false }, "notSent"),
      noAnswer: ({ token }) =>
        rows.noAnswer({ token, holder, uncertain: false, attempt: 1, tokenGeneration: 0 }),
      absent: (row) => rows.absent(row),
      settleRefusal: (row) => rows.settleRefusal(row),
    };
    for (const [name, run] of Object.entries(statements)) {
      const held = name === "refused" || name === "notSent" || name === "noAnswer";
      const { row } = await stored(state, held ? { holder } : { sealed });
      const result = await run(row);
      const isChanged = written(await found(row.token)) !== written(row);
      expect({ name, isChanged }).toEqual({ name, isChanged: isOpen });
      if (name === "settleRefusal") expect(result).toBe(isOpen);
    }
  },
);

test.each(ends)("%s: what is written is what the table makes of it", async (end) => {
  for (const uncertain of [false, true])
    for (const before of [undefined, ...states]) {
      const { row } = await stored("sending", { uncertain, holder });
      const take = { token: row.token, holder, uncertain, ...(before && { before }) };
      const refusal = end === "refused" ? sealed : undefined;
      const expected = afterCleanEnd(end, take);
      const counts = await rows.end(take, end, refusal);
      expect(counts).toBe(expected.state === "refused");
      expect(await found(row.token)).toMatchObject({
        state: expected.state,
        tokenGeneration: expected.renewsToken ? 1 : 0,
        absent: expected.state === "sending" ? 1 : 0,
        uncertain: expected.state !== "refused" && (uncertain || end === "noAnswer"),
        held: false,
        answer: refusal ?? null,
      });
    }
});

test("a row is ended by its holder alone", async () => {
  const { row } = await stored("sending", { holder });
  const stranger = { token: row.token, holder: randomUUID(), uncertain: false };
  expect(await rows.end(stranger, "refused", sealed)).toBe(false);
  expect(await found(row.token)).toMatchObject({ state: "sending", held: true });
});

test.each(classes)(
  "%s: a take writes whether an attempt before it is uncertain, and says so to its sender",
  async (effectClass) => {
    for (const state of states)
      for (const uncertain of [false, true]) {
        const { effect, row } = await stored(state, { uncertain });
        const hold = await rows.takeAgain({ ...effect, effectClass }, row, holder, false);
        const expected = isUncertainOnceTaken(row);
        expect(hold).toMatchObject({
          attempt: 1,
          tokenGeneration: 0,
          uncertain: expected,
          before: state,
        });
        expect(await found(row.token)).toMatchObject({
          state: "sending",
          uncertain: expected,
          held: true,
        });
      }
  },
);

test.each(states)(
  "%s: another row of the process may exist in SQL where it may in the table",
  async (state) => {
    for (const uncertain of [false, true]) {
      const { effect, row } = await stored(state, { uncertain });
      const exists = mayExist(row);
      expect(await rows.anyExists(effect)).toBe(exists);
      expect(await rows.anyExists(effect, "default")).toBe(exists);
      const ofAccount = "update trustflow.effects set account = 'default' where token = $1";
      await database.pool.query(ofAccount, [row.token]);
      expect(await rows.anyExists(effect, "default")).toBe(exists);
      expect(await rows.anyExists(effect, "another")).toBe(false);
      const other = effectOf({ workflowId: effect.workflowId, step: "other" });
      await database.pool.query(
        `insert into trustflow.effects (token, namespace, workflow_id, step, occurrence, state) values ($1, $2, $3, $4, $5, 'notSent')`,
        [other.token, other.namespace, other.workflowId, other.step, other.occurrence],
      );
      const hold = await rows.takeAgain(other, await found(other.token), holder, true);
      expect(hold !== undefined).toBe(!exists);
    }
  },
);
