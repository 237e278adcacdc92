// What an operator decides who looks at the provider's portal: in its place stands the sandbox's ledger.
import type { AnyHandle } from "../../../src/client/processes.js";
import type { ProcessName } from "../../../src/contracts/registry.js";
import type { Attention } from "../../../src/contracts/shared/status.js";
import { brought } from "../../processes/index.js";
import type { ProcessUnderTest } from "../../processes/process-under-test.js";
import type { TestStack } from "../stack/stack.js";

/** The names under which `happened` wants the id of what was made. */
const shownIds = [
  "uniqueId",
  "requestPk",
  "operatorId",
  "templateId",
  "verificationTemplateId",
  "issuanceServiceId",
  "verificationServiceId",
];

interface Scene {
  system: { sandbox: Pick<TestStack["sandbox"], "ledger"> };
  name: ProcessName;
  handle: AnyHandle;
}

export async function decisionOn(
  { system, name, handle }: Scene,
  { kind, step, happenedNeeds }: Attention,
) {
  const retry = { decision: "retry", confirmRetry: true } as const;
  if (kind === "accessDenied") return { decision: "retry" } as const;
  const { calls } = brought[name].underTest as ProcessUnderTest;
  // Where a step has several effects, the ledger does not tell which of them there is.
  const own = calls.filter(({ activity, step: several }) => activity === step && !several);
  const { effects } = await system.sandbox.ledger(handle.id);
  const made = effects.find(({ operation }) => own.some(({ sandbox }) => sandbox === operation));
  if (!made) return retry;
  // The portal does not show the provider's secrets.
  const needs = happenedNeeds ?? [];
  if (!needs.every((need) => shownIds.includes(need))) return { decision: "abandon" } as const;
  const result = Object.fromEntries(needs.map((need) => [need, made.itemId]));
  return { decision: "happened", result } as const;
}
