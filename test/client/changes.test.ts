// The change feed: what it says of each change once, whatever Temporal does meanwhile, and how it ends.
import { expect, test } from "vitest";
import { changesOf } from "../../src/client/changes.js";
import { InvalidInputError } from "../../src/errors/index.js";
import { clientOf } from "../temporal/visibility/listed-processes.js";
import type { Listed } from "../temporal/visibility/listed-processes.js";

const done = (id: string, closedAt = new Date()): Listed => ({
  ...{ id, status: "completed", outcome: "sent", closedAt },
});
const away = () => Object.assign(new Error("away"), { code: 14 });

test("it goes on where Temporal was away, tells each change once, and ends with the reason of its signal", async () => {
  const looks: (() => Listed[])[] = [
    () => [done("a")],
    () => {
      throw away();
    },
    () => [done("a"), done("b")],
  ];
  let asked = 0;
  const { client } = clientOf(() => (looks[Math.floor(asked++ / 2)] ?? (() => []))());
  const stop = new AbortController();
  const told: string[] = [];
  const following = (async () => {
    for await (const { data, cursor } of changesOf(client, {
      ...{ since: new Date().toISOString(), signal: stop.signal, intervalMs: 1_000 },
    })) {
      expect(Date.parse(cursor)).toBeLessThanOrEqual(Date.now());
      told.push(data.id);
      if (data.id === "b") stop.abort("enough");
    }
  })();
  await expect(following).rejects.toBe("enough");
  expect(told).toEqual(["a", "b"]);
}, 20_000);

test("who resumes at a cursor misses nothing after it, and gets what was up to ten minutes before", async () => {
  const at = Date.now();
  const ago = (minutes: number) => new Date(at - minutes * 60_000);
  const { client } = clientOf(() => [
    done("before", ago(45)),
    done("near", ago(35)),
    done("after", ago(5)),
  ]);
  const told: string[] = [];
  for await (const { data } of changesOf(client, { since: ago(30).toISOString() })) {
    told.push(data.id);
    if (told.length === 2) break;
  }
  expect(told).toEqual(["near", "after"]);
});

test("without a cursor an end is told though this clock is two minutes ahead of Temporal's", async () => {
  const ago = (ms: number) => new Date(Date.now() - ms);
  const stop = new AbortController();
  let asked = 0;
  const { client } = clientOf(() => {
    // Not in the first look, which asks twice.
    if ((asked += 1) > 2) stop.abort();
    return [done("long ago", ago(121_000)), done("now", ago(110_000))];
  });
  const { value } = await changesOf(client, { signal: stop.signal, intervalMs: 1_000 }).next();
  expect(value?.data.id).toBe("now");
});

test("an overloaded visibility ends nothing, and an abort ends it whatever its reason looks like", async () => {
  const stop = new AbortController();
  let asked = 0;
  const { client } = clientOf(() => {
    asked += 1;
    if (asked === 4) stop.abort(away());
    if (asked < 5) throw Object.assign(new Error("busy"), { code: [8, 1, 10, 4][asked - 1] });
    return [done("a")];
  });
  const following = changesOf(client, { signal: stop.signal, intervalMs: 1_000 });
  await expect(following.next()).rejects.toMatchObject({ message: "away" });
  expect(asked).toBe(4);
}, 20_000);

test.each([0, Number.NaN, Infinity, 2 ** 31, "1000" as never])(
  "an interval of %o is refused",
  async (intervalMs) => {
    // A feed that begins all the same ends here, and does not ask without a pause.
    const { client } = clientOf(() => {
      throw Object.assign(new Error("no right"), { code: 7 });
    });
    await expect(changesOf(client, { intervalMs }).next()).rejects.toThrow(/intervalMs/);
  },
);

test("any other error, and a cursor that is none, end it", async () => {
  const { client } = clientOf(() => {
    throw Object.assign(new Error("no right"), { code: 7 });
  });
  await expect(changesOf(client, {}).next()).rejects.toThrow();
  await expect(changesOf(client, { since: "yesterday" }).next()).rejects.toThrow(InvalidInputError);
});
