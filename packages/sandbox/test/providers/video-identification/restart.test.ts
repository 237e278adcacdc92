import { afterEach, beforeEach, expect, test } from "vitest";
import { MINUTE } from "../../caller.js";
import { collector, type Collector } from "../../collector.js";
import { sandboxesOfTest } from "../../restarts.js";
import { videoCaller } from "./caller.js";

const sandboxes = sandboxesOfTest();
let inbox: Collector;
beforeEach(async () => {
  inbox = await collector();
});
afterEach(() => inbox.close());

const start = () =>
  sandboxes.start({
    stateDirectory: sandboxes.folder(),
    accounts: [{ username: "sandbox", password: "sandbox", closeEventUrl: inbox.url }],
  });

test("a restart keeps conferences, tokens, deleted audits, alerts and the pending end of a call", async () => {
  const first = await start();
  const before = videoCaller(first);
  const deleted = await before.bring({ until: "deleted" });
  const open = await before.bring();
  const token = await before.tokenOf(open);
  await before.register(open, "ops@example.com");
  await first.close();
  inbox.bodies.length = 0;

  const second = await start();
  const after = videoCaller(second);
  expect((await after.byToken("GET", "conferenceData", token)).body.state).toBe("open");
  expect((await after.audit(deleted)).status).toBe(404);
  inbox.statuses.splice(0, Infinity, 500);
  for (const ms of [5 * MINUTE, 0, MINUTE, 5 * MINUTE, 15 * MINUTE]) await second.clock.advance(ms);
  expect(inbox.bodies.map(({ idConference }) => idConference)).toEqual([open, open, open, open]);
  expect(second.messages().map(({ to }) => to)).toEqual(["ops@example.com"]);
});
