// The events that go to a URL of the account (P1 §6.1, §6.2): where none is configured, unaccepted ones, and their faults.
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { sandboxControl } from "../../src/control/client.js";
import { startSandbox } from "../../src/sandbox.js";
import { DAY, MINUTE } from "../caller.js";
import { collector } from "../collector.js";
import { signer } from "./one-shot-signature/signer.js";
import { videoCaller } from "./video-identification/caller.js";

const inbox = await collector();
const sandbox = await startSandbox({ speed: "manual" });
const control = sandboxControl(sandbox.url);
afterAll(async () => {
  await sandbox.close();
  await inbox.close();
});
beforeEach(async () => {
  await control.reset();
  inbox.bodies.length = 0;
  inbox.statuses.splice(0, Infinity, 200);
});

/** Signs a request, with the magic word that its payload says; returns its id. */
async function signed(word?: string, username?: string): Promise<string> {
  const caller = signer(sandbox, username);
  const payload = word === undefined ? {} : { sandbox: word };
  const { id, otp } = await caller.bring({ payload, documents: ["contract.pdf"], otp: "fresh" });
  await caller.sign(id, otp!);
  return id;
}

/** Lets a call come to its end; returns its id. */
const closed = (word?: string, username?: string) =>
  videoCaller(sandbox, username).bring({ words: word ? [word] : [], until: "closed" });

describe.each([
  {
    ...{ provider: "one-shot-signature", url: "webhookUrl", prefix: "webhook", end: signed },
    shows: (id: string) => ({ event: "signed", request_pk: id }),
  },
  {
    ...{ provider: "video-identification", url: "closeEventUrl", prefix: "event", end: closed },
    shows: (id: string) => ({ event: "callClosed", idConference: id }),
  },
])("$provider", ({ url, prefix, end, shows }) => {
  const configure = () => control.putAccount("sandbox", { [url]: inbox.url });

  test("without a URL that is configured for the account, nothing is posted", async () => {
    await end(undefined, "colleague");
    await sandbox.clock.advance(DAY);
    expect(inbox.bodies).toEqual([]);
    expect((await control.callbacks()).newest).toEqual([]);
  });

  test("the URL is configured by the control API, and is not shown by it", async () => {
    expect(JSON.stringify(await configure())).not.toContain(inbox.url);
    const id = await end();
    await sandbox.clock.advance(0);
    expect(inbox.bodies).toMatchObject([shows(id)]);
  });

  test("an unaccepted event is tried four times, and dropped", async () => {
    await configure();
    inbox.statuses.splice(0, Infinity, 500);
    await end();
    const counts: number[] = [];
    for (const ms of [0, MINUTE, 5 * MINUTE, 15 * MINUTE, DAY]) {
      await sandbox.clock.advance(ms);
      counts.push(inbox.bodies.length);
    }
    expect(counts).toEqual([1, 2, 3, 4, 4]);
    expect((await control.callbacks()).counts).toMatchObject({ dropped: 1 });
  });

  test.each([
    ["lost", 0, 0],
    ["doubled", 2, 2],
    ["delayed", 0, 1],
  ])("%s: %i at once, %i after a day", async (fault, atOnce, later) => {
    await configure();
    await end(`${prefix}-${fault}`);
    await sandbox.clock.advance(0);
    expect(inbox.bodies).toHaveLength(atOnce);
    await sandbox.clock.advance(DAY);
    await sandbox.clock.advance(0);
    expect(inbox.bodies).toHaveLength(later);
  });
});

describe("of several events of one request", () => {
  beforeEach(() => control.putAccount("sandbox", { webhookUrl: inbox.url }));
  const events = () => inbox.bodies.map(({ event }) => event);

  test("webhook-reordered: the approval comes after the signature", async () => {
    const caller = signer(sandbox);
    const payload = { identityVideo: true, sandbox: "webhook-reordered" };
    const documents = ["contract.pdf"];
    const { id, otp } = await caller.bring({ payload, documents, video: "approved", otp: "fresh" });
    await sandbox.clock.advance(MINUTE);
    await caller.sign(id, otp!);
    await sandbox.clock.advance(MINUTE);
    expect(events()).toEqual(["signed", "video_approved"]);
  });

  test("a fault hits the one that it names", async () => {
    const operation = "one-shot-signature.callback";
    sandbox.faults.add({ operation, kind: "lost", event: "signed", times: "always" });
    await signed();
    await signed("async-failed");
    await sandbox.clock.advance(DAY);
    expect(events()).toEqual(["failed"]);
  });
});
