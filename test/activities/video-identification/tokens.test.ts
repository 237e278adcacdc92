// Which token opens the data of a call: that of a close event where its data name our conference, else a new one (P1 §5.2, §6.1).
import { expect, test } from "vitest";
import { MINUTE } from "../../../packages/sandbox/test/caller.js";
import { pointers } from "../../providers/video-identification/account.js";
import { openBench } from "./support.js";
import { ofFile } from "../../harness/of-file.js";

const bench = ofFile(openBench);

const anew = ["genAPIToken", "conferenceData"];

test("the token of the event opens the data, and the answer says which event it was", async () => {
  const { ask, watched, bringToken, token } = await bench.follow({ until: "closed" });
  const eventId = await bringToken(await token());
  const { answer, calls } = await watched(() => ask({ hasCloseEvent: true }));
  expect(answer).toMatchObject({ state: "closed", verdict: "verified", isOver: true, eventId });
  expect(answer.isProven).toBe(true);
  expect(calls).toEqual(["conferenceData"]);
});

test.each([
  ["the service refuses it", "idConference", ["conferenceData", ...anew]],
  ["its data name that conference", undefined, ["conferenceData", ...anew]],
])("the token of another conference is not used: %s", async (_, conferenceParameter, calls) => {
  const account = { conferenceParameter };
  const other = await bench.follow({ words: ["unverified"], until: "closed" });
  const { ask, watched, bringToken, idConference } = await bench.follow({ account });
  await bringToken(await other.token());
  const own = await watched(() => other.watched(() => ask()));
  expect(own.answer.answer).toMatchObject({ state: "open", isOver: false });
  expect(own.answer.answer).not.toHaveProperty("eventId");
  // The service counts what a token asks for as about the token's conference.
  expect([...own.answer.calls, ...own.calls]).toEqual(calls);
  expect(idConference).not.toBe(other.idConference);
});

test("where an expired token is refused, one new token is made", async () => {
  const { ask, watched, bringToken, token } = await bench.follow({ until: "closed" });
  await bringToken(await token());
  await bench.sandbox.clock.advance(31 * MINUTE);
  const { answer, calls } = await watched(() => ask({ hasCloseEvent: true }));
  expect(answer).toMatchObject({ state: "closed", verdict: "verified" });
  expect(answer).not.toHaveProperty("eventId");
  expect(calls).toEqual(["conferenceData", ...anew]);
});

const forge = async (bringToken: (token: string) => Promise<string>, count: number) => {
  for (let made = 0; made < count; made += 1) await bringToken("eyJh.eyJi.forged");
};

test("a question tries three tokens, because anybody with the address can post one; the next goes on with the others", async () => {
  const { ask, watched, bringToken, token } = await bench.follow({ until: "closed" });
  const eventId = await bringToken(await token());
  await forge(bringToken, 12);
  for (let asked = 0; asked < 4; asked += 1) {
    const { answer, calls } = await watched(() => ask({ hasCloseEvent: true }));
    expect(answer).not.toHaveProperty("eventId");
    expect(calls.filter((name) => name === "genAPIToken")).toHaveLength(1);
  }
  expect((await ask({ hasCloseEvent: true })).eventId).toBe(eventId);
  // What has opened our data is tried before all others from then on.
  await forge(bringToken, 12);
  const { answer, calls } = await watched(() => ask({ hasCloseEvent: true }));
  expect(answer.eventId).toBe(eventId);
  expect(calls).toEqual(["conferenceData"]);
});

test.each([400, 422, 500])(
  "a token to which the service answers %i stops neither an older one nor a new one",
  async (status) => {
    const { ask, bringToken, token, fault } = await bench.follow({ until: "closed" });
    const eventId = await bringToken(await token());
    await bringToken("eyJh.eyJi.forged");
    fault("conferenceData", { kind: "reject", status, times: 1 });
    expect(await ask({ hasCloseEvent: true })).toMatchObject({ state: "closed", eventId });
    fault("conferenceData", { kind: "reject", status, times: 2 });
    const answer = await ask({ hasCloseEvent: true });
    expect(answer).toMatchObject({ state: "closed", verdict: "verified" });
    expect(answer).not.toHaveProperty("eventId");
  },
);

test("where the service is busy with the first token, a new one is made at once", async () => {
  const { ask, watched, bringToken, token, fault } = await bench.follow({ until: "closed" });
  await bringToken(await token());
  await bringToken("eyJh.eyJi.forged");
  fault("conferenceData", { kind: "reject", status: 429 });
  const { answer, calls } = await watched(() => ask({ hasCloseEvent: true }));
  expect(answer).toMatchObject({ verdict: "verified" });
  expect(answer).not.toHaveProperty("eventId");
  expect(calls).toEqual(["conferenceData", "genAPIToken", "conferenceData"]);
});

test("a conference that was seen and is not known any more is open until the deadline", async () => {
  const { ask, fault } = await bench.follow({ until: "closed" });
  fault("genAPIToken", { kind: "reject", status: 404, times: "always" });
  expect(await ask({ seen: "closed true verified" })).toMatchObject({ state: "open" });
  const old = { scheduledTimestampMs: Date.now() - 61_000 };
  await expect(ask({}, old)).rejects.toMatchObject({ type: "protocol" });
});

test.each([401, 404, 500])(
  "an audit is read with the event's token, and where that does not open it (%i), with a new one",
  async (status) => {
    const { run, given, watched, bringToken, token, fault } = await bench.follow({
      until: "audit",
    });
    const eventId = await bringToken(await token());
    const keep = () =>
      watched(() => run((all) => all.keepAudit({ ...given, eventId, isOptional: false })));
    expect((await keep()).calls).toEqual(["getAuditData"]);
    fault("getAuditData", { kind: "reject", status });
    const { answer, calls } = await keep();
    expect(answer).toMatchObject({ kind: "audit" });
    expect(calls).toEqual(["getAuditData", "genAPIToken", "getAuditData"]);
  },
);

test("a token that was sealed with another key is as none", async () => {
  const { ask, watched, bringToken, token } = await bench.follow({ until: "closed" });
  await bringToken(await token(), bench.strangers);
  const { answer, calls } = await watched(() => ask({ hasCloseEvent: true }));
  expect(answer).toMatchObject({ verdict: "verified" });
  expect(calls).toEqual(anew);
});

test("where the account's own key is refused, access is denied", async () => {
  const { ask, fault } = await bench.follow();
  fault("genAPIToken", { kind: "reject", status: 401 });
  await expect(ask()).rejects.toMatchObject({ type: "accessDenied" });
});

test("without a shown state the event ends the call, and without one it goes on", async () => {
  const account = { pointers: { conference: "/idConference" } } as never;
  const { ask } = await bench.follow({ until: "closed", account });
  expect(await ask()).toMatchObject({ state: "open", isOver: false });
  const closed = await ask({ hasCloseEvent: true });
  expect(closed).toMatchObject({ state: "closed", isOver: true });
  expect(closed).not.toHaveProperty("verdict");
  expect(closed.isProven).toBe(false);
});

test("while the service shows no data, an event ends nothing, and then what they show counts", async () => {
  const { ask, bringToken, fault } = await bench.follow({ until: "closed" });
  await bringToken("eyJh.eyJi.forged");
  const { id } = fault("conferenceData", { kind: "reject", status: 404, times: "always" });
  expect(await ask({ hasCloseEvent: true })).toMatchObject({ state: "open", isOver: false });
  bench.sandbox.faults.remove(id);
  expect(await ask({ hasCloseEvent: true })).toMatchObject({ verdict: "verified", isOver: true });
});

test("a state that is shown counts for more than an event, which anybody may post", async () => {
  const { ask, bringToken } = await bench.follow({ words: ["open"] });
  await bringToken("eyJh.eyJi.forged");
  expect(await ask({ hasCloseEvent: true })).toMatchObject({ state: "open", isOver: false });
});

test.each([
  ["is not shown", ["async"], { conference: "/idConference", asyncState: "/status" }],
  ["is shown as open", ["open", "async"], pointers],
])("the end of the asynchronous request ends a call whose state %s", async (_, words, shown) => {
  const { ask, idConference } = await bench.follow({
    words,
    account: { pointers: shown } as never,
  });
  const asyncRequest = { parameters: { idConference } };
  expect(await ask({ asyncRequest })).toMatchObject({ state: "open", isOver: false });
  await bench.sandbox.clock.advance(11 * MINUTE);
  expect(await ask()).toMatchObject({ isOver: false });
  const ended = { state: "closed", isOver: true, isProven: true };
  expect(await ask({ asyncRequest })).toMatchObject(ended);
});

test("a conference that the service does not know is asked for again, and then needs a person", async () => {
  const { ask } = await bench.follow({ words: ["unknown"] });
  const since = (ms: number) => ({ scheduledTimestampMs: Date.now() - ms });
  await expect(ask({}, since(1_000))).rejects.toMatchObject({ type: "notVisibleYet" });
  await expect(ask({}, since(61_000))).rejects.toMatchObject({ type: "protocol" });
});
