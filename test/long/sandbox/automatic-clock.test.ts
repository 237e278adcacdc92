// The automatic clock: processes move on in seconds, what a person must do in time lives in real time.
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { setTimeout as delay } from "node:timers/promises";
import { Clock } from "../../../packages/sandbox/src/engine/clock.js";
import {
  type Sandbox,
  type SandboxOptions,
  startSandbox,
} from "../../../packages/sandbox/src/sandbox.js";
import {
  call,
  DAY,
  everyEvent,
  HOUR,
  MINUTE,
  post,
  query,
} from "../../../packages/sandbox/test/caller.js";
import { collector, type Collector } from "../../../packages/sandbox/test/collector.js";
import {
  assertion,
  assertionBody,
  call as callLra,
  enroll,
  sendOtp,
  validate,
} from "../../../packages/sandbox/test/providers/disposable-certificate/caller.js";

let inbox: Collector;
const closers: (() => Promise<void>)[] = [];
beforeAll(async () => {
  inbox = await collector();
});
afterAll(() => inbox.close());
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  inbox.bodies.length = 0;
  inbox.statuses.splice(0, Infinity, 200);
});

async function started(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await startSandbox({ speed: "auto", ...options });
  closers.push(() => sandbox.close());
  return sandbox;
}

function automatic(startAt = Date.now()): Clock {
  const clock = new Clock(startAt, "auto");
  closers.push(() => clock.stop());
  return clock;
}

const ahead = (now: number) => now - Date.now();

/** Longer than a test needs to see that something has not happened. */
const A_WHILE_MS = 300;

test("it hurries while something is scheduled, and rests while nothing is", async () => {
  const clock = automatic();
  const began = clock.now();
  const ran: number[] = [];
  const done = new Promise<void>((resolve) => {
    clock.on("step", (left: number, at) => {
      ran.push(at - began);
      if (left === 0) resolve();
      else clock.schedule(at + HOUR, "step", left - 1);
    });
  });
  clock.start();
  clock.schedule(began + HOUR, "step", 2);
  await done;
  expect(ran).toEqual([HOUR, 2 * HOUR, 3 * HOUR]);
  const rested = ahead(clock.now());
  expect(rested).toBeGreaterThanOrEqual(2 * HOUR);
  await delay(A_WHILE_MS);
  expect(Math.abs(ahead(clock.now()) - rested)).toBeLessThan(100);
});

test("it does not hurry to what happens in real time, also not after a restart", async () => {
  const first = automatic();
  first.on("retry", () => undefined);
  first.start();
  first.schedule(first.now() + HOUR, "retry", null, { inRealTime: true });
  const saved = first.save();
  await first.stop();
  const second = automatic(0);
  second.load(saved);
  second.start();
  await delay(A_WHILE_MS);
  expect(Math.abs(ahead(second.now()))).toBeLessThan(1_000);
  expect(second.pending).toBe(1);
});

test("the schedule that is emptied is hurried to no more", async () => {
  const clock = automatic();
  clock.start();
  clock.schedule(clock.now() + 60 * DAY, "never", null);
  clock.clear();
  await delay(A_WHILE_MS);
  expect(ahead(clock.now())).toBeLessThan(HOUR);
});

test("while a letter is on its way for days, a code and an eID assertion stay good for minutes", async () => {
  const sandbox = await started();
  const issued = await enroll(sandbox);
  const otp = await sendOtp(sandbox, issued);
  const id = await post(sandbox.url, {
    Options: { PushNotificationUrl: inbox.url, PushNotificationFilter: everyEvent },
  });
  while (!inbox.bodies.some(({ Kind }) => Kind === "Sent")) await delay(20);
  expect(ahead(sandbox.clock.now())).toBeGreaterThan(12 * HOUR);
  expect((await validate(sandbox, issued, otp)).status).toBe(200);
  const fresh = assertionBody(assertion({ ...sandbox, clock: new Clock(Date.now(), "manual") }));
  expect((await callLra(sandbox, "lra-1/checkDataWitheIDAssertion", fresh)).status).toBe(200);
  const ofTheClock = assertionBody(assertion(sandbox));
  expect(
    (await callLra(sandbox, "lra-1/checkDataWitheIDAssertion", ofTheClock)).body,
  ).toMatchObject({ code: 237 });
  expect(await query(sandbox.url, id)).toMatchObject({
    state: expect.not.stringMatching("Closed"),
  });
});

test("at another speed a code expires by the same clock as all else, unless real time is configured", async () => {
  for (const [personTime, status] of [
    ["virtual", 500],
    ["real", 200],
  ] as const) {
    const other = await started({ speed: "manual", personTime });
    const issued = await enroll(other);
    const otp = await sendOtp(other, issued);
    await other.clock.advance(11 * MINUTE);
    expect([personTime, (await validate(other, issued, otp)).status]).toEqual([personTime, status]);
  }
});

test("a callback that was refused comes again in real time, so that a receiver can come back", async () => {
  inbox.statuses.splice(0, Infinity, 503);
  const other = await started();
  await post(other.url, {
    RecipientName: "sandbox:failed-early,affidavits-never",
    Options: { PushNotificationUrl: inbox.url, PushNotificationFilter: ["Closed"] },
  });
  while (inbox.bodies.length === 0) await delay(20);
  const refused = other.clock.now();
  await delay(A_WHILE_MS);
  expect(other.clock.now() - refused).toBeLessThan(10_000);
  expect(inbox.bodies).toHaveLength(1);
});

test("a letter that can be cancelled waits for the person who cancels", async () => {
  const other = await started();
  const id = await post(other.url, {
    RecipientName: "sandbox:cancellable",
    Options: { PushNotificationUrl: inbox.url, PushNotificationFilter: everyEvent },
  });
  while (!inbox.bodies.some(({ Kind }) => Kind === "Processed")) await delay(20);
  await delay(A_WHILE_MS);
  expect(ahead(other.clock.now())).toBeLessThan(HOUR);
  const cancelled = await call(other.url, "/v1/EviPost/Cancel", { body: { UniqueId: id } });
  expect(cancelled.status).toBe(200);
  while (!inbox.bodies.some(({ Kind }) => Kind === "Closed")) await delay(20);
});
