// What an operator decides who looks at the provider's portal: in its place stands the sandbox's ledger.
import type { ProcessName } from "../../src/contracts/registry.js";
import type { Attention } from "../../src/contracts/shared/status.js";
import { brought } from "../processes/index.js";
import type { ProcessUnderTest } from "../processes/process-under-test.js";
import type { System } from "./system.js";

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

type Effects = ReturnType<System["sandbox"]["ledger"]>["effects"];

/** `effects`: those of the process. */
export function decisionOn(
  { kind, step, happenedNeeds }: Attention,
  name: ProcessName,
  effects: Effects,
) {
  const retry = { decision: "retry", confirmRetry: true } as const;
  if (kind === "accessDenied") return { decision: "retry" } as const;
  const { calls } = brought[name].underTest as ProcessUnderTest;
  // Where a step has several effects, the ledger does not tell which of them there is.
  const own = calls.filter(({ activity, step: several }) => activity === step && !several);
  const made = effects.find(({ operation }) => own.some(({ sandbox }) => sandbox === operation));
  if (!made) return retry;
  // The portal does not show the provider's secrets.
  const needs = happenedNeeds ?? [];
  if (!needs.every((need) => shownIds.includes(need))) return { decision: "abandon" } as const;
  const result = Object.fromEntries(needs.map((need) => [need, made.itemId]));
  return { decision: "happened", result } as const;
}
