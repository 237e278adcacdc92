// A poll of a notice at the simulated provider: the snapshot that alone decides, and what a poll goes on waiting for.
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { MockActivityEnvironment } from "@temporalio/testing";
import { DefaultLogger } from "@temporalio/worker";
import { createEviNoticeActivities } from "../../../src/activities/evi-notice/index.js";
import { Circuits } from "../../../src/activities/runtime/circuit-breaker.js";
import { startSandbox } from "../../../src/sandbox/sandbox.js";
import type { Sandbox } from "../../../src/sandbox/sandbox.js";
import { accountAt } from "../../providers/evi-notice/account.js";
import { DAY } from "../../sandbox/caller.js";
import { sender, smallest } from "../../sandbox/providers/evi-notice/sender.js";

type Activities = ReturnType<typeof createEviNoticeActivities>;

let sandbox: Sandbox;
beforeAll(async () => {
  const accounts = [{ username: "trustflow", password: "a password" }];
  sandbox = await startSandbox({ speed: "manual", accounts });
});
afterAll(() => sandbox.close());

function ask(
  request: Partial<Parameters<Activities["ask"]>[0]>,
  attempt = 1,
): ReturnType<Activities["ask"]> {
  const deps = {
    environment: "sandbox",
    accounts: { default: accountAt(sandbox.url) },
    journal: { now: async () => new Date("2026-01-05T09:00:00Z") },
    circuits: new Circuits({ probeMs: 1000, failures: 5 }),
    patienceMs: 1000,
    unavailableForMs: 1000,
  };
  const activities = createEviNoticeActivities(deps as never);
  const info = { attempt, workflowExecution: { workflowId: "notice-1", runId: "r" } };
  const environment = new MockActivityEnvironment(info, { logger: new DefaultLogger("ERROR") });
  const given = {
    account: "default",
    id: "",
    wait: "now",
    mode: "quick",
    seen: undefined,
  } as const;
  return environment.run(() => activities.ask({ ...given, ...request }));
}

async function submit(body: object): Promise<string> {
  return sender(sandbox, "trustflow", "a password").submit({ ...smallest, ...body });
}

test("the snapshot has state, outcome, the refusal and the affidavits", async () => {
  const id = await submit({
    RecipientDisplayName: "sandbox:refused",
    AffidavitKinds: ["Submitted", "Refused"],
  });
  await sandbox.clock.advance(DAY);
  const { snapshot, affidavitIds } = await ask({ id, wait: "end" });
  expect(snapshot).toMatchObject({
    stamp: "2026-01-05T09:00:00.000Z",
    state: "Closed",
    outcome: "Refused",
    refusedOn: expect.stringMatching(/Z$/),
  });
  expect(affidavitIds).toHaveLength(2);
  expect(snapshot.fingerprint).toBe(["Closed", "Refused", ...affidavitIds.toSorted()].join(" "));
});

test("a poll for a change goes on while the answer is the one that was seen", async () => {
  const id = await submit({ RecipientDisplayName: "sandbox:stalled" });
  const { snapshot } = await ask({ id });
  const waiting = ask({ id, wait: "change", seen: snapshot.fingerprint });
  await expect(waiting).rejects.toMatchObject({ nonRetryable: false });
  expect(await ask({ id, wait: "change", seen: "Draft None" })).toMatchObject({ affidavitIds: [] });
});

test("a poll for the end takes any answer after a few attempts", async () => {
  const id = await submit({ RecipientDisplayName: "sandbox:stalled" });
  await expect(ask({ id, wait: "end" })).rejects.toMatchObject({ nonRetryable: false });
  expect(await ask({ id, wait: "end" }, 9)).toMatchObject({ snapshot: { state: "Submitted" } });
});
