import { cp, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { startSandbox } from "../src/sandbox.js";
import { call, DAY, everyEvent, HOUR, post, query, submission, submit } from "./caller.js";
import { collector } from "./collector.js";
import { temporaryFolder } from "../../../test/harness/temporary.js";

let stateDirectory: string;
beforeEach(async () => {
  stateDirectory = await temporaryFolder();
});

test("an option that is undefined has its default", async () => {
  const given = { speed: undefined, seed: undefined } as unknown as { speed: 1 };
  const sandbox = await startSandbox(given);
  expect(sandbox.clock.speed).toBe(1);
  await sandbox.close();
});

test("a state file that is cut off is named", async () => {
  await writeFile(join(stateDirectory, "sandbox.json"), '{"version":1,');
  await expect(startSandbox({ stateDirectory })).rejects.toThrow(
    /sandbox\.json: .*remove the file/,
  );
});

test("a restart goes on where it stood: items, tokens, ledger, faults, accounts and the schedule", async () => {
  const first = await startSandbox({ speed: "manual", stateDirectory });
  const body = submission({ LookupKey: "kept" });
  const { body: answer } = await submit(first.url, body, "token");
  first.faults.add({ operation: "evi-post.cancel", kind: "reject" });
  await first.clock.advance(HOUR);
  await first.close();

  const second = await startSandbox({ speed: "manual", stateDirectory });
  expect(second.clock.now()).toBe(first.clock.now());
  expect(await submit(second.url, body, "token")).toMatchObject({ status: 202, body: answer });
  const cancel = { body: { UniqueId: answer.uniqueId } };
  expect((await call(second.url, "/v1/EviPost/Cancel", cancel)).status).toBe(503);
  const more = "&IncludeDocumentOnResult=true";
  expect(await query(second.url, answer.uniqueId, more)).toMatchObject({
    state: "Processed",
    document: body["Document"],
  });
  await second.clock.advance(30 * DAY);
  expect(await query(second.url, answer.uniqueId)).toMatchObject({
    state: "Closed",
    outcome: "Delivered",
  });
  expect(second.ledger()).toMatchObject({ byIntent: { kept: { "evi-post.submit": 1 } } });
  expect(await post(second.url)).not.toBe(answer.uniqueId);
  await second.close();
});

test("a submit that was answered is in the snapshot, even if the sandbox is never closed", async () => {
  const first = await startSandbox({ speed: "manual", stateDirectory });
  const ids = await Promise.all(Array.from({ length: 20 }, () => post(first.url)));
  const copy = `${stateDirectory}-copy`;
  // A snapshot that is being written is no snapshot yet, and may be gone before it is copied.
  const filter = (path: string) => !path.endsWith(".tmp");
  await cp(stateDirectory, copy, { recursive: true, filter });
  const second = await startSandbox({ speed: "manual", stateDirectory: copy });
  for (const id of ids) expect(await query(second.url, id)).toBeDefined();
  await second.close();
  await first.close();
  await rm(copy, { recursive: true });
  expect((await readdir(stateDirectory)).toSorted()).toEqual(["documents", "pki", "sandbox.json"]);
});

test("a callback that waits for its retry survives a restart", async () => {
  const inbox = await collector();
  inbox.statuses.splice(0, Infinity, 500);
  const first = await startSandbox({ speed: "manual", stateDirectory });
  await post(first.url, {
    RecipientName: "sandbox:open",
    Options: { PushNotificationUrl: inbox.url, PushNotificationFilter: [everyEvent[0]] },
  });
  await first.clock.advance(10 * 60_000);
  await first.close();
  const [{ Identifier }] = inbox.bodies;
  inbox.statuses.splice(0, Infinity, 200);

  const second = await startSandbox({ speed: "manual", stateDirectory });
  await second.clock.advance(29_999);
  expect(inbox.bodies).toHaveLength(1);
  await second.clock.advance(1);
  expect(inbox.bodies.map((body) => body.Identifier)).toEqual([Identifier, Identifier]);
  await second.clock.advance(30 * DAY);
  expect(inbox.bodies).toHaveLength(2);
  await second.close();
  await inbox.close();
});
