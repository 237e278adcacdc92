// Secrets that events carry (docs/decisions/0033): the relay stores them for the worker before it signals, and hands them to nobody
// else. PostgreSQL and the parser of the call-closing event are real.
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { storeEventSecrets } from "../../../src/callbacks/inbox/event-secrets.js";
import { secretsNotKept } from "../../../src/callbacks/relay/relay.js";
import type { ProcessKey } from "../../../src/crypto/data-key.js";
import { DecryptionError } from "../../../src/crypto/errors.js";
import { purgeStored } from "../../../src/journal/retention.js";
import { subjectOf } from "../support.js";
import { secretsStand, TOKEN } from "./secrets-stand.js";
import { until } from "../../harness/outages/wait.js";

const stand = secretsStand({ gatherMs: 20, scanMs: 100 });

/** A process that is known by its conference, and call-closing events of that. */
async function closed(events: { Identifier: string; token?: unknown }[]): Promise<ProcessKey> {
  const { namespace, workflowId } = subjectOf();
  const subject = { provider: "video-identification", account: "default" };
  const reference = randomUUID();
  await stand.journal.noteReference({ ...subject, reference, namespace, workflowId });
  const bodies = events.map(({ Identifier, token }) => {
    return { Identifier, idConference: reference, message: { token } };
  });
  await stand.arrive(subject, bodies);
  return { namespace, workflowId };
}

const idsOf = (secrets: { eventId: string }[]) => secrets.map(({ eventId }) => eventId);
const delivered = (count: number) =>
  until(async () => (await stand.archive.counts()).delivered === count);

test("all secrets of a batch are stored sealed before the signal, and the signal holds none", async () => {
  const processKey = await closed([
    { Identifier: "a", token: TOKEN },
    { Identifier: "without" },
    { Identifier: "b", token: `${TOKEN}2` },
  ]);
  let storedAtSignal: string[] = [];
  let signalled = "";
  stand.temporal.answer = async (_signal, events) => {
    storedAtSignal = idsOf(await stand.journal.eventSecrets(processKey));
    signalled = JSON.stringify(events);
  };
  await stand.start();
  await delivered(3);
  const [first, , third] = stand.temporal.to(processKey.workflowId);
  expect(new Set(storedAtSignal)).toEqual(new Set([first, third]));
  expect(signalled).not.toContain(TOKEN);
  const { rows } = await stand.database.pool.query(
    "select s::text as row from trustflow.event_secrets s",
  );
  expect(rows).toHaveLength(2);
  expect(JSON.stringify(rows)).not.toContain(TOKEN);
});

test("the worker opens it for the process of the event; another process finds nothing, and cannot open it", async () => {
  const processKey = await closed([{ Identifier: "a", token: TOKEN }]);
  const other = { ...processKey, workflowId: `${processKey.workflowId}-2` };
  await stand.start();
  await delivered(1);
  const sealed = (await stand.journal.eventSecrets(processKey))[0]?.sealed ?? "";
  expect(stand.secrets.open(sealed, processKey)).toBe(TOKEN);
  expect(() => stand.secrets.open(sealed, other)).toThrow(DecryptionError);
  for (const key of [other, { ...processKey, namespace: "other" }])
    expect(await stand.journal.eventSecrets(key)).toEqual([]);
});

test("a second delivery keeps the first secret", async () => {
  const processKey = await closed([{ Identifier: "a", token: TOKEN }]);
  const seen: (string | undefined)[] = [];
  stand.temporal.answer = async () => {
    seen.push((await stand.journal.eventSecrets(processKey))[0]?.sealed);
    if (seen.length === 1) throw new Error("no answer");
  };
  await stand.start();
  await delivered(1);
  expect(seen).toHaveLength(2);
  expect(seen[1]).toBe(seen[0]);
  expect(stand.secrets.open(seen[0] ?? "", processKey)).toBe(TOKEN);
});

test("without the public ring the events are delivered, no secret is stored, and one warning says so", async () => {
  const warnings: string[] = [];
  const logger = { warn: (message: string) => void warnings.push(message) };
  await closed([{ Identifier: "a", token: TOKEN }]);
  await closed([{ Identifier: "b", token: TOKEN }]);
  await stand.start({ logger, sealSecret: undefined });
  await delivered(2);
  expect(stand.temporal.signals).toHaveLength(2);
  expect(warnings).toEqual([secretsNotKept]);
  expect((await stand.database.pool.query("select from trustflow.event_secrets")).rowCount).toBe(0);
});

test("a secret that comes while the clean-up looks at its process stays", async () => {
  const processKey = { namespace: "default", workflowId: "verifyIdentity/again" };
  const store = (eventId: string) =>
    storeEventSecrets(stand.database.pool, processKey, [{ eventId, sealed: "x" }]);
  await store("old");
  await stand.database.pool.query(
    "update trustflow.event_secrets set stored_at = now() - interval '1 day'",
  );
  const isOpen = async () => {
    await store("new");
    return false;
  };
  await purgeStored("event_secrets", stand.database.pool, new Date(Date.now() - 3_600_000), isOpen);
  expect(idsOf(await stand.journal.eventSecrets(processKey))).toEqual(["new"]);
});

test("a secret that the provider has shown comes first, then the newest of those that were not tried, and ten at the most", async () => {
  const processKey = { namespace: "default", workflowId: "verifyIdentity/flooded" };
  const ids = Array.from({ length: 12 }, (_, index) => `event-${index}`);
  for (const eventId of ids)
    await storeEventSecrets(stand.database.pool, processKey, [{ eventId, sealed: "x" }]);
  expect(idsOf(await stand.journal.eventSecrets(processKey))).toEqual(
    ids.toReversed().slice(0, 10),
  );
  const { journal } = stand;
  for (const isOpened of [true, false])
    await journal.noteSecretTried(processKey, "event-0", isOpened);
  await journal.noteSecretTried(processKey, "event-11", false);
  await journal.noteSecretTried({ ...processKey, namespace: "other" }, "event-10", false);
  expect(idsOf(await journal.eventSecrets(processKey))).toEqual([
    "event-0",
    ...ids.toReversed().slice(1, 10),
  ]);
});
