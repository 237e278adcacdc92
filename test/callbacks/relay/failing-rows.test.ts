// No row stops the others (docs/design.md §7): one that fails again and again is tried alone, and parked at last; an outage is no row's
// failure. PostgreSQL is real; Temporal's answers are given by the test.
import { randomUUID } from "node:crypto";
import { afterEach, expect, test, vi } from "vitest";
import { addressOf } from "../../../src/callbacks/address.js";
import { Inbox } from "../../../src/callbacks/inbox/inbox.js";
import {
  FAILURES_UNTIL_ALONE,
  MAX_FAILURES,
  undeliverable,
} from "../../../src/callbacks/inbox/rows.js";
import { parsers, sources, subjectOf } from "../support.js";
import { untilLockAwaited } from "../../harness/documents/document-owners.js";
import { until } from "../../harness/outages/wait.js";
import { uncommitted } from "../../harness/stack/postgres.js";
import { grpc, relayStand } from "./relay-stand.js";

const { temporal, database, archive, inbox, journal, start, arrive, without } = relayStand({
  ...{ gatherMs: 5, scanMs: 50, signalTimeoutMs: 500, leaseMs: 2_000 },
});
afterEach(() => void vi.restoreAllMocks());
const account = { provider: "test-account", account: "default" };

/** A process that the account's provider knows as `r-1`, and callbacks to the account that name it so. */
async function referred(...ids: string[]) {
  const subject = subjectOf();
  await journal.noteReference({ ...subject, ...account, reference: "r-1" });
  await arrive(
    account,
    ids.map((Identifier) => ({ Identifier, request_pk: "r-1" })),
  );
  return subject;
}

const events = (...ids: string[]) => ids.map((Identifier) => ({ Identifier }));

async function stateOf(identifier: string): Promise<string | undefined> {
  const [row] = (await archive.list()).filter((one) => one.identifier === identifier);
  return row && [row.state, row.reason, row.detail].filter(Boolean).join(": ");
}

async function claimsOf(identifier: string) {
  const { rows } = await database.pool.query<{ claim: string; attempts: number; failures: number }>(
    "select claim, attempts, failures from trustflow.callbacks where identifier = $1",
    [identifier],
  );
  return rows;
}

const failuresOf = async (identifier: string) => (await claimsOf(identifier))[0]?.failures;

/** Not while a relay tries it, which would count that try too. */
const setFailures = (identifier: string, failures: number) =>
  until(async () => {
    const { rowCount } = await database.pool.query(
      "update trustflow.callbacks set failures = $2, claimed_until = null where identifier = $1 and (claim is null or coalesce(claimed_until, '-infinity') <= clock_timestamp())",
      [identifier, failures],
    );
    return rowCount === 1;
  });

const BUSY = grpc(8, "namespace rate limit exceeded");

/** The signal of this event cannot be made, and Temporal takes all others. */
function poisoned(id: string): void {
  temporal.answer = ({ ids }) => {
    if (ids.includes(id)) throw new TypeError("cannot be encoded");
  };
}

test("a row whose signal cannot be made stops neither its process nor another one, and is parked at last", async () => {
  poisoned("poison");
  const [own, other] = [subjectOf(), subjectOf()];
  const seen: unknown[] = [];
  await arrive(own, events("a", "poison", "b", "c"));
  await arrive(other, events("d"));
  await start({ onEvent: (settlement, count) => void seen.push([settlement, count]) });
  await until(() => temporal.signals.flatMap(({ ids }) => ids).length === 4);
  expect(temporal.to(own.workflowId)).toEqual(["a", "b", "c"]);
  expect(temporal.to(other.workflowId)).toEqual(["d"]);
  await until(async () => (await failuresOf("poison")) !== 0);
  expect(["waiting", "claimed"]).toContain(await stateOf("poison"));
  await setFailures("poison", MAX_FAILURES - 1);
  const detail = `${MAX_FAILURES} tries failed; the last one: the signal cannot be made`;
  await until(async () => (await stateOf("poison")) === `parked: undeliverable: ${detail}`);
  expect(seen).toContainEqual([undeliverable("the signal cannot be made"), 1]);
  // Once its cause is gone, an operator puts it back.
  temporal.answer = () => undefined;
  const [parked] = await archive.list({ states: ["parked"] });
  expect(await archive.replay([parked?.id ?? ""])).toHaveLength(1);
  await until(async () => (await stateOf("poison")) === "delivered");
});

test("while a row that is tried alone rests, later rows of its process arrive", async () => {
  poisoned("poison");
  const subject = subjectOf();
  await arrive(subject, events("poison"));
  await setFailures("poison", FAILURES_UNTIL_ALONE);
  await database.pool.query("update trustflow.callbacks set attempts = 20");
  await arrive(subjectOf(), events("elsewhere"));
  await start();
  await until(async () => (await failuresOf("poison")) === FAILURES_UNTIL_ALONE + 1);
  const { rows } = await database.pool.query<{ rests: boolean }>(
    "select claimed_until > clock_timestamp() + interval '10 seconds' as rests from trustflow.callbacks where identifier = 'poison'",
  );
  expect(rows).toEqual([{ rests: true }]);
  await arrive(subject, events("later"));
  await until(() => temporal.to(subject.workflowId).includes("later"));
});

test("while others are served, the tries of a process that does not answer count", async () => {
  const [own, other] = [subjectOf(), subjectOf()];
  temporal.answer = ({ workflowId }) => {
    if (workflowId === own.workflowId) throw BUSY;
  };
  await arrive(other, events("other"));
  await start();
  await until(async () => (await stateOf("other")) === "delivered");
  await arrive(own, events("one"));
  await until(async () => ((await failuresOf("one")) ?? 0) > 0);
});

test("while nobody gets through, no try counts", async () => {
  let tries = 0;
  temporal.answer = () => {
    tries += 1;
    throw BUSY;
  };
  await arrive(subjectOf(), events("a"));
  await start();
  for (const count of [1, 2, 3]) {
    await until(() => tries >= count);
    await database.pass(60_000);
  }
  expect(await failuresOf("a")).toBe(0);
  temporal.answer = () => undefined;
  await database.pass(60_000);
  await until(async () => (await stateOf("a")) === "delivered");
});

test("a row in whose tries relays die is tried after the others, then parked without being read", async () => {
  const subject = subjectOf();
  await arrive(subject, events("deadly"));
  for (let death = 0; death < 3; death += 1)
    expect(await inbox.claim(randomUUID(), 0)).toHaveLength(1);
  // The first claim found it as it came.
  expect(await failuresOf("deadly")).toBe(2);
  await setFailures("deadly", FAILURES_UNTIL_ALONE);
  expect(await inbox.claim(randomUUID(), 0)).toEqual([]);
  await setFailures("deadly", MAX_FAILURES - 1);
  await arrive(subject, events("good"));
  const order: string[] = [];
  await start({
    parsers: {
      test(body) {
        order.push((body as { Identifier: string }).Identifier);
        return parsers.test(body);
      },
    },
  });
  const detail = `${MAX_FAILURES} tries failed; the last one: it did not end`;
  await until(async () => (await stateOf("deadly")) === `parked: undeliverable: ${detail}`);
  await until(async () => (await stateOf("good")) === "delivered");
  expect(order).toEqual(["good"]);
});

test("a callback that cannot be assigned does not say that the inbox cannot be read, and hides no other error", async () => {
  await referred("bad");
  let met: Error = new TypeError("a defect");
  let reads = 0;
  const warnings: string[] = [];
  const logger = {
    warn: (text: string, more?: object) => void warnings.push(`${text}: ${JSON.stringify(more)}`),
  };
  const relay = await start({
    logger,
    sources: {
      "test-account": (...given) => {
        const read = sources["test-account"](...given);
        return Object.defineProperty({ ...read }, "reference", {
          get() {
            reads += 1;
            throw met;
          },
        });
      },
    },
  });
  const warning = "callbacks to an account's address cannot be assigned to processes";
  await until(() => warnings.length > 0);
  await until(() => relay.health().lastLook !== undefined);
  expect(relay.health().reading).toBe(true);
  // A fault of our own code counts, any other one does not.
  await until(async () => (await failuresOf("bad")) === 1);
  met = Object.assign(new Error("another"), { code: "OTHER" });
  await arrive(account, [{ Identifier: "worse" }]);
  await database.pool.query("update trustflow.callbacks set claimed_until = null");
  await until(() => warnings.length > 1);
  expect(relay.health().reading).toBe(true);
  const before = reads;
  await database.pass(10_000);
  await until(() => reads > before);
  for (const id of ["bad", "worse"])
    await until(async () => (await claimsOf(id))[0]?.claim === null);
  expect([await failuresOf("bad"), await failuresOf("worse")]).toEqual([1, 0]);
  expect(warnings).toEqual([`${warning}: {"code":"TypeError"}`, `${warning}: {"code":"OTHER"}`]);
});

test("while the inbox cannot be read, that is said once, and so is an error of another kind", async () => {
  const said: string[] = [];
  const say = (text: string) => void said.push(text);
  const relay = await start({ logger: { warn: say, info: say } });
  await until(() => relay.health().reading);
  await without("callbacks", async () => {
    await until(() => !relay.health().reading);
    // It goes on looking meanwhile.
    await without("callback_addresses", () =>
      until(() => said.includes("processes cannot be notified of surplus callbacks")),
    );
    expect(relay.health()).toMatchObject({ listening: true, reading: false });
  });
  await until(() => relay.health().reading);
  expect(said.filter((text) => text.includes("inbox"))).toEqual([
    "the inbox cannot be read",
    "the inbox can be read again",
  ]);
  expect(said.filter((text) => text.includes("assigned"))).toEqual([]);
  expect(new Set(said).size).toBe(said.length);
});

test("a problem that comes again after it was over is said again", async () => {
  const subject = await referred("r-0");
  const said: string[] = [];
  await start({ logger: { warn: (text) => void said.push(text) } });
  const times = (word: string) => said.filter((text) => text.includes(word)).length;
  for (const round of [1, 2]) {
    await without("callback_addresses", () => until(() => times("notified") === round));
    await arrive(subjectOf(), events("a", "b"), { eventsPerProcess: 1 });
    await until(() => temporal.surplus.length === round);
    await without("correlations", async () => {
      await arrive(account, [{ Identifier: `r-${round}`, request_pk: "r-1" }]);
      await until(() => times("assigned") === round);
    });
    await database.pass(10_000);
    await until(() => temporal.to(subject.workflowId).length === 1 + round);
  }
});

test("what cannot be given back is given back once more, and then said", async () => {
  await referred("a");
  const error = Object.assign(new Error("no connection"), { code: "08006" });
  const giveBack = vi.spyOn(Inbox.prototype, "giveBack");
  for (let count = 0; count < 3; count += 1) giveBack.mockRejectedValueOnce(error);
  const warnings: unknown[] = [];
  await without("correlations", async () => {
    await start({ logger: { warn: (...said) => void warnings.push(said) } });
    await until(() => giveBack.mock.calls.length === 2);
    await database.pass(10_000);
    await until(() => giveBack.mock.calls.length === 4);
    await until(async () => (await claimsOf("a"))[0]?.claim === null);
  });
  const said = ["callbacks cannot be given back", { code: "08006" }];
  expect(warnings.filter((one) => JSON.stringify(one).includes("given back"))).toEqual([said]);
});

test("while no row that has failed can be claimed, the others arrive, and a warning says so", async () => {
  const error = Object.assign(new Error("canceled"), { code: "57014" });
  vi.spyOn(Inbox.prototype, "claimAlone").mockRejectedValue(error);
  const warnings: unknown[] = [];
  await start({ logger: { warn: (...said) => void warnings.push(said) } });
  await until(() => warnings.length > 0);
  expect(warnings[0]).toEqual(["callbacks that have failed cannot be tried", { code: "57014" }]);
  await arrive(subjectOf(), events("a"));
  await until(async () => (await stateOf("a")) === "delivered");
});

test("while the tokens that are judged cannot be looked at, callbacks of accounts arrive", async () => {
  const subject = await referred("of the account");
  const warnings: string[] = [];
  await without("unaddressed_tokens", async () => {
    await start({ logger: { warn: (text) => void warnings.push(text) } });
    await until(() => temporal.to(subject.workflowId).includes("of the account"));
  });
  expect(warnings).toContain("tokens that are judged cannot be tidied up");
});

test.each(["event_secrets", "correlations"])(
  "while the database takes claims and refuses %s, no failure counts, no try counts, no claim stays, and other processes go on",
  async (table) => {
    const { pool } = database;
    const [subject, other] = [await referred("late"), subjectOf()];
    if (table === "event_secrets")
      await pool.query(
        `update trustflow.callbacks set state = 'waiting', namespace = $1, workflow_id = $2`,
        [subject.namespace, subject.workflowId],
      );
    await setFailures("late", MAX_FAILURES - 1);
    const warnings: string[] = [];
    await without(table, async () => {
      await start({
        sources: {
          "test-account": (...given) => ({ ...sources["test-account"](...given), secret: "s" }),
        },
        sealSecret: (secret) => `sealed ${secret}`,
        unmatchedMs: 0,
        logger: { warn: (text) => void warnings.push(text) },
      });
      await until(() => warnings.length > 0);
      await arrive(other, events("other"));
      await until(() => temporal.to(other.workflowId).includes("other"));
      const given = [{ claim: null, attempts: 0, failures: MAX_FAILURES - 1 }];
      await until(async () => JSON.stringify(await claimsOf("late")) === JSON.stringify(given));
      expect(temporal.to(subject.workflowId)).toEqual([]);
    });
    await pool.query("update trustflow.callbacks set claimed_until = null");
    await until(() => temporal.to(subject.workflowId).includes("late"));
    expect(await journal.eventSecrets(subject)).toHaveLength(1);
  },
);

test("a relay that comes back to its own claim has not died in it", async () => {
  await arrive(subjectOf(), events("slow"));
  const own = randomUUID();
  for (const claim of [own, own, own]) expect(await inbox.claim(claim, 0)).toHaveLength(1);
  expect(await claimsOf("slow")).toEqual([{ claim: own, attempts: 1, failures: 0 }]);
  await inbox.claim(randomUUID(), 0);
  expect(await failuresOf("slow")).toBe(1);
});

test("a row that another relay takes over while it is addressed stays with that one", async () => {
  await referred("taken over");
  const [first, second] = [randomUUID(), randomUUID()];
  const [row] = await inbox.claimUnaddressed(first, 0);
  const commit = await uncommitted(database.pool, (client) =>
    client.query("update trustflow.callbacks set claim = $1", [second]),
  );
  const addressing = inbox.address(first, [{ row: row!, reference: "r-1" }], 100);
  await untilLockAwaited(database.pool);
  await commit();
  expect(await addressing).toEqual(new Set());
  await inbox.settle(first, [row!.id], { state: "parked", reason: "unmatched" });
  expect(await stateOf("taken over")).toBe("unaddressed");
  expect(await claimsOf("taken over")).toEqual([{ claim: second, attempts: 1, failures: 0 }]);
});

test("a receiver that leaves its transaction open holds up no callback to an account's address", async () => {
  const subject = await referred("a");
  const own = addressOf({ ...subject, provider: account.provider });
  const commit = await uncommitted(database.pool, (client) =>
    client.query("insert into trustflow.callback_addresses (address) values ($1)", [own]),
  );
  await start();
  await until(() => temporal.to(subject.workflowId).includes("a"));
  await commit();
});

test("a provider that an address names like a member of every object is unknown", async () => {
  const event = { id: "x", kind: "K", at: "t" };
  await arrive(subjectOf({ provider: "constructor" }), [{ Identifier: "own", event }]);
  await arrive({ ...account, provider: "constructor" }, [{ Identifier: "of the account" }]);
  await start();
  for (const identifier of ["own", "of the account"])
    await until(async () => (await stateOf(identifier)) === "parked: unknownProvider");
});
