import { expect, test } from "vitest";
import { sandboxesOfTest } from "../../restarts.js";
import { holder } from "./holder.js";

const { start } = sandboxesOfTest();

test("a restart keeps what was created, and the words that hold for the next steps", async () => {
  const reference = "kept";
  const first = await start();
  const before = holder(first);
  const words = { reference, sandbox: "initIssuance=reject-503" };
  const template = await before.createTemplate(words);
  const service = await before.createIssuanceService(template, { reference });
  await first.close();

  const second = await start();
  const after = holder(second);
  expect((await after.initIssuance(service)).status).toBe(503);
  expect((await after.initIssuance(service)).status).toBe(200);
  expect(await after.createIssuanceService(template)).not.toBe(service);
  expect(second.ledger(reference).effects).toHaveLength(4);
});

test("the same seed gives the same ids, another seed others", async () => {
  const [one, twin, other] = await Promise.all(
    ["seed", "seed", "other"].map(async (seed) => holder(await start({ seed })).createOperator()),
  );
  expect(twin).toBe(one);
  expect(other).not.toBe(one);
});
