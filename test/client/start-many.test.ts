// Many starts against a real Temporal: what each becomes, how many are made at once, and what ends them.
import { expect, test } from "vitest";
import { randomUUID } from "node:crypto";
import { setImmediate as immediate, setTimeout as delay } from "node:timers/promises";
import {
  InputMismatchError,
  InvalidInputError,
  TimedOutError,
  TooManyFailuresError,
} from "../../src/client.js";
import type { SendMessageInput, StartManyOptions, StartRequest } from "../../src/client.js";
import { startSome } from "../../src/client/start-many.js";
import { startServerAndClient } from "../temporal/support.js";
import { ofFile } from "../harness/of-file.js";

const server = ofFile(startServerAndClient);

type Message = StartRequest<SendMessageInput>;

const message = (id: string, to = "+34600000000"): Message => ({
  id,
  input: { providerFields: { to } },
});
const invalid = (id: string): Message => ({ id, input: { providerFields: {} } });

async function outcomes(
  requests: Iterable<Message> | AsyncIterable<Message>,
  options?: StartManyOptions,
) {
  const seen: [id: string, what: string][] = [];
  const reading = (async () => {
    for await (const { id, handle, error } of server.trustflow.startMany(
      "sendMessage",
      requests,
      options,
    ))
      seen.push([id, error?.code ?? handle?.started ?? ""]);
  })();
  const failed = await reading.catch((error: unknown) => error);
  return { seen: seen.toSorted(([one], [other]) => one.localeCompare(other)), failed };
}

const openIds = async () => {
  const ids: string[] = [];
  for await (const { id } of server.trustflow.list({ process: "sendMessage" })) ids.push(id);
  return ids;
};

test("each request becomes a process, joins its own, or says why not; what went well is not done again", async () => {
  const run = randomUUID();
  const unsendable = { id: `${run}-0`, input: { providerFields: { amount: 10n } } };
  const requests = [unsendable, message(`${run}-1`), invalid(`${run}-2`), message(`${run}-3`)];
  const first = await outcomes(requests);
  expect(first).toEqual({
    seen: [
      [`${run}-0`, "invalidInput"],
      [`${run}-1`, "created"],
      [`${run}-2`, "invalidInput"],
      [`${run}-3`, "created"],
    ],
    failed: undefined,
  });
  const again = [message(`${run}-1`), message(`${run}-2`), message(`${run}-3`, "+34611111111")];
  expect(await outcomes(again)).toEqual({
    seen: [
      [`${run}-1`, "joined"],
      [`${run}-2`, "created"],
      [`${run}-3`, "inputMismatch"],
    ],
    failed: undefined,
  });
  for await (const { error } of server.trustflow.startMany("sendMessage", [again[2]!]))
    expect(error).toBeInstanceOf(InputMismatchError);
});

test("after more failures than allowed no other request is read", async () => {
  const run = randomUUID();
  let read = 0;
  function* requests() {
    for (; ; read++) yield read < 3 ? message(`${run}-${read}`) : invalid(`${run}-${read}`);
  }
  const { seen, failed } = await outcomes(requests(), { concurrency: 2, maxFailures: 2 });
  expect(failed).toBeInstanceOf(TooManyFailuresError);
  expect(failed).toMatchObject({ details: { maxFailures: 2 } });
  const failures = seen.filter(([, what]) => what === "invalidInput").length;
  expect(failures).toBeGreaterThan(2);
  expect(read).toBeLessThan(8);
  const none = await outcomes([invalid(`${run}-a`), message(`${run}-b`)], {
    concurrency: 1,
    maxFailures: 0,
  });
  expect(none.seen).toEqual([[`${run}-a`, "invalidInput"]]);
  expect(await openIds()).not.toContain(`${run}-b`);
});

test.each([
  { concurrency: 0 },
  { concurrency: 1.5 },
  { maxFailures: -1 },
  { maxFailures: NaN },
  { limit: 1 },
])("the options %j are refused", (options) => {
  expect(() => server.trustflow.startMany("sendMessage", [], options)).toThrow(InvalidInputError);
});

test("the caller's signal and time end it, also while the next request is awaited", async () => {
  const reason = new Error("the user has left");
  const id = randomUUID();
  async function* slow() {
    yield message(id);
    await delay(60_000, undefined, { ref: false });
  }
  const abort = new AbortController();
  void delay(500).then(() => abort.abort(reason));
  const ended = await outcomes(slow(), { signal: abort.signal });
  expect(ended).toEqual({ seen: [[id, "created"]], failed: reason });
  expect((await outcomes(slow(), { timeoutMs: 500 })).failed).toBeInstanceOf(TimedOutError);
});

test("the error of a source ends it, after the outcomes of what is under way", async () => {
  const reason = new Error("the file is gone");
  const id = randomUUID();
  async function* broken() {
    yield message(id);
    throw reason;
  }
  expect(await outcomes(broken())).toEqual({ seen: [[id, "created"]], failed: reason });
});

test("what is no request ends it in the same way, and has its position", async () => {
  const ids = [randomUUID(), randomUUID()].toSorted();
  const requests = [...ids.map((id) => message(id)), null as never, message(randomUUID())];
  const { seen, failed } = await outcomes(requests);
  expect(seen).toEqual(ids.map((id) => [id, "created"]));
  expect(failed).toMatchObject({ message: "Invalid input: requests.2: must be an object" });
});

test("a thousand requests: no more are read than are being started, however slowly the outcomes are taken", async () => {
  const COUNT = 1_000;
  const CONCURRENCY = 7;
  let [read, taken, running, most, ahead] = [0, 0, 0, 0, 0];
  function* requests() {
    for (; read < COUNT; read++) {
      ahead = Math.max(ahead, read - taken);
      yield { id: String(read), input: {} };
    }
  }
  const start = async () => {
    most = Math.max(most, ++running);
    await immediate();
    running -= 1;
  };
  const seen = new Set<string>();
  for await (const { id } of startSome(requests(), start, { concurrency: CONCURRENCY })) {
    taken += 1;
    seen.add(id);
    if (taken % 100 === 0) await delay(5);
  }
  expect(seen.size).toBe(COUNT);
  expect(most).toBe(CONCURRENCY);
  expect(ahead).toBeLessThanOrEqual(2 * CONCURRENCY);
});

test("nothing more is started once the caller takes no more outcomes", async () => {
  const started: string[] = [];
  async function* requests() {
    for (const id of ["a", "b", "c"]) {
      yield { id, input: {} };
      await delay(20);
    }
  }
  const start = async ({ id }: { id: string }) => {
    started.push(id);
    await delay(5);
  };
  for await (const _ of startSome(requests(), start, {})) break;
  await delay(100);
  expect(started).toEqual(["a"]);
});

test("nothing more is started once the wait is over", async () => {
  const over = new AbortController();
  const started: string[] = [];
  const start = async ({ id }: { id: string }) => {
    started.push(id);
    over.abort();
    await immediate();
  };
  const requests = ["a", "b", "c"].map((id) => ({ id, input: {} }));
  const given = { concurrency: 1, signal: over.signal };
  for await (const _ of startSome(requests, start, given)) continue;
  expect(started).toEqual(["a"]);
});

test("a slow caller gets every outcome, also those that come while it looks at the one before the last", async () => {
  const requests = [10, 30, 50].map((ms) => ({ id: String(ms), input: ms }));
  const start = ({ input }: { input: number }) => delay(input);
  const seen: string[] = [];
  for await (const { id } of startSome(requests, start, {})) {
    seen.push(id);
    await delay(100);
  }
  expect(seen).toEqual(["10", "30", "50"]);
});
