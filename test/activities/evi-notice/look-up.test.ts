// The look-up of a notice by our own key, at providers that differ in what the specification does not show (P2 §4.2 Query).
import { afterEach, expect, test } from "vitest";
import { EviNoticeContext } from "../../../src/activities/evi-notice/context.js";
import { startSandbox } from "../../../packages/sandbox/src/sandbox.js";
import { depsWithoutRows, inProcess } from "../attempts.js";
import { accountAt, noticeId } from "../../providers/evi-notice/account.js";
import { answering, startProviderServer } from "../../providers/provider-server.js";
import type { ProviderServer } from "../../providers/provider-server.js";
import { sender, smallest } from "../../../packages/sandbox/test/providers/evi-notice/sender.js";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const about = { account: "default", mode: "quick" } as const;
const lookUp = (url: string, key: string) =>
  inProcess(() =>
    new EviNoticeContext("evi-notice", depsWithoutRows(accountAt(url)), about).noticeByOwnKey(key),
  );

/** A provider whose nth page is this; each later one has no results. All have a cursor. */
async function paged(...pages: object[][]): Promise<ProviderServer> {
  const server = await startProviderServer((request, ...rest) => {
    const Results = pages[server.received.length - 1] ?? [];
    answering({ Cursor: `after ${server.received.length}`, Results })(request, ...rest);
  });
  closers.push(() => server.close());
  return server;
}

const ours = { Id: noticeId, State: "Sent", LookupKey: "case-1::ours" };
const another = { ...ours, LookupKey: "ours-too" };

test.each(["parts", "whole"] as const)(
  "a notice is found where a query compares %s of a joined key",
  async (lookupKeyMatching) => {
    const accounts = [{ username: "trustflow", password: "a password" }];
    const sandbox = await startSandbox({ speed: "manual", accounts, lookupKeyMatching });
    closers.push(() => sandbox.close());
    const { submit } = sender(sandbox, "trustflow", "a password");
    const uniqueId = await submit({ ...smallest, LookupKey: "case-1::ours" });
    expect(await lookUp(sandbox.url, "case-1::ours")).toMatchObject({ uniqueId });
    expect(await lookUp(sandbox.url, "case-1::another")).toBeUndefined();
  },
);

test("two empty pages in a row are the end, though each has a cursor", async () => {
  const server = await paged();
  expect(await lookUp(server.url, "case-1::ours")).toBeUndefined();
  expect(server.received.map(({ text }) => JSON.parse(text))).toEqual([
    { LookupKeys: ["ours", "case-1::ours"] },
    { LookupKeys: ["ours", "case-1::ours"], Cursor: "after 1" },
  ]);
});

test.each(["2", 2])("the cursor %j goes back as it came", async (Cursor) => {
  const server = await startProviderServer((...given) =>
    answering({ Cursor, Results: server.received.length > 1 ? [ours] : [] })(...given),
  );
  closers.push(() => server.close());
  expect(await lookUp(server.url, "case-1::ours")).toMatchObject({ uniqueId: noticeId });
  expect(JSON.parse(server.received[1]?.text ?? "")).toMatchObject({ Cursor });
});

test("our notice may stand behind an empty page, or behind others", async () => {
  for (const pages of [
    [[], [ours]],
    [[another], [another, ours]],
  ]) {
    const server = await paged(...pages);
    expect(await lookUp(server.url, "case-1::ours")).toMatchObject({ uniqueId: noticeId });
  }
});

test("a query without an end proves no absence", async () => {
  const server = await paged(...Array.from({ length: 9 }, () => [another]));
  await expect(lookUp(server.url, "case-1::ours")).rejects.toMatchObject({ kind: "protocol" });
  expect(server.received.length).toBe(5);
});

test("an item that shows no key may be ours: it proves no absence", async () => {
  const { LookupKey: _, ...unnamed } = ours;
  const server = await paged([unnamed]);
  await expect(lookUp(server.url, "case-1::ours")).rejects.toMatchObject({ kind: "protocol" });
});
