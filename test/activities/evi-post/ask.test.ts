// A poll of a letter at the simulated provider: what the query shows beside state, outcome and dates (P2 §2.5).
import { afterAll, beforeAll, expect, test } from "vitest";
import { MockActivityEnvironment } from "@temporalio/testing";
import { DefaultLogger } from "@temporalio/worker";
import { createEviPostActivities } from "../../../src/activities/evi-post/index.js";
import { Circuits } from "../../../src/activities/runtime/circuit-breaker.js";
import { Secret } from "../../../src/contracts/shared/values.js";
import { startSandbox } from "../../../packages/sandbox/src/sandbox.js";
import type { Sandbox } from "../../../packages/sandbox/src/sandbox.js";
import { accountAt } from "../../providers/evi-post/account.js";
import { post } from "../../../packages/sandbox/test/caller.js";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ speed: "manual" });
});
afterAll(() => sandbox.close());

test("the snapshot has the recipient, the address and the cost centre", async () => {
  const uniqueId = await post(sandbox.url, {
    RecipientName: "Ana Ruiz",
    Options: { CostCentre: "legal" },
  });
  const login = { username: "sandbox", password: new Secret("sandbox") };
  const { ask } = createEviPostActivities({
    environmentOf: () => "sandbox",
    accounts: { default: accountAt(sandbox.url, login) },
    journal: { now: async () => new Date() },
    circuits: new Circuits({ probeMs: 1000, failures: 5 }),
    patienceMs: 1000,
    invisibleForMs: 60_000,
    unavailableForMs: 1000,
  } as never);
  const info = { workflowExecution: { workflowId: "letter-1", runId: "r" } };
  const environment = new MockActivityEnvironment(info, { logger: new DefaultLogger("ERROR") });
  const asks = () =>
    ask({
      ...{ account: "default", uniqueId, submittedAt: new Date().toISOString() },
      ...{ stored: [], refetch: false, wait: "now", mode: "quick", seen: undefined },
    }) as Promise<{ snapshot: { shown?: unknown } }>;
  const { snapshot } = await environment.run<[], Awaited<ReturnType<typeof asks>>, typeof asks>(
    asks,
  );
  expect(snapshot.shown).toMatchObject({
    recipientName: "Ana Ruiz",
    address: { streetAddress: expect.any(String), country: "ES" },
    costCentre: "legal",
  });
});
