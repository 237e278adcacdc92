// The parsers as the relay takes them: by provider, those of a process's address apart from those of an account's.
import { expect, test } from "vitest";
import { Accounts } from "../../src/providers/accounts.js";
import { callbackParsers } from "../../src/providers/callbacks.js";
import { accountCallbackProviders } from "../../src/providers/registry.js";

const receivedAt = new Date("2026-01-02T03:04:05.000Z");
const accounts = Accounts.parse({
  own: {
    "one-shot-signature": { baseUrl: "https://sign.example", webhookPointer: "/request/id" },
    "video-identification": { baseUrl: "https://calls.example", closeEventPointer: "/call/id" },
  },
});

test("a provider has a parser by what its callback address is of", async () => {
  const { parsers, sources } = await callbackParsers({ accounts });
  expect(Object.keys(parsers)).toEqual(["evi-post", "evi-notice"]);
  const ofAccounts = ["one-shot-signature", "video-identification"];
  expect(Object.keys(sources)).toEqual(ofAccounts);
  expect(accountCallbackProviders).toEqual(ofAccounts);
});

test("a process's callback is read by its provider's parser", async () => {
  const { parsers } = await callbackParsers({ accounts });
  const body = { Identifier: "e-1", Kind: "Sent", Date: "2026-01-01T00:00:00Z" };
  expect(parsers["evi-post"]?.(body)).toEqual({
    event: { id: "e-1", kind: "Sent", at: "2026-01-01T00:00:00.000Z" },
  });
});

test.each([
  [
    "one-shot-signature",
    { request: { id: "r-1" }, request_pk: "r-2" },
    { event: { kind: "webhook", at: receivedAt.toISOString() } },
  ],
  [
    "video-identification",
    { call: { id: "r-1" }, idConference: "r-2", message: { token: "a.b.c" } },
    { secret: "a.b.c" },
  ],
] as const)(
  "the reference of an event of %s stands where the account's configuration says, else where the default says",
  async (provider, body, more) => {
    const { [provider]: read } = (await callbackParsers({ accounts })).sources;
    expect(read?.("own", body, receivedAt)).toMatchObject({ reference: "r-1", ...more });
    expect(read?.("unknown to this relay", body, receivedAt)?.reference).toBe("r-2");
  },
);
