// The persons around a process that restarts interrupt: those that each process brings, and the operator. They act at random while the
// process is to stay open, and bring it to its end when it is to end.
import { FinishedError, InvalidInputError } from "../../../src/client/errors.js";
import type { ProcessName } from "../../../src/contracts/registry.js";
import type { Attention } from "../../../src/contracts/shared/status.js";
import { brought } from "../../processes/index.js";
import { defaultAccounts } from "../../../packages/sandbox/src/engine/accounts.js";
import type { ProcessUnderTest } from "../../processes/process-under-test.js";
import { deniedAccount, type WaitScene } from "../../processes/waits.js";
import { secretsOf, wrongSecrets } from "../stack/account-secrets.js";
import { isUnanswered } from "../outages/wait.js";
import type { TestStack } from "../stack/stack.js";

export const rightPassword = "right";

/** An envelope goes to the user whom the client certificate names, with whatever account. */
const certified = defaultAccounts[0]!.username;

/** The processes of this account wait in attention from now on. */
export async function denyAccess({ sandbox }: TestStack): Promise<void> {
  await sandbox.putAccount(deniedAccount, wrongSecrets);
  await sandbox.putAccount(certified, { apiToken: wrongSecrets.apiToken });
}

async function mendAccess({ sandbox }: TestStack): Promise<void> {
  await sandbox.putAccount(deniedAccount, secretsOf(deniedAccount, rightPassword));
  await sandbox.putAccount(certified, { apiToken: `${certified}-api-token` });
}

type Scene = Omit<WaitScene, "waitingFor" | "item"> & { name: ProcessName };

/** One thing that a person does; nothing where no worker answers, or the process has gone on meanwhile. */
export async function act(scene: Scene): Promise<void> {
  try {
    const { waitingFor, references, attention } = await scene.handle.status();
    const { uniqueId, requestPk, idConference } = references;
    const item = uniqueId ?? requestPk ?? idConference ?? "";
    if (attention) await decide(scene, attention);
    else await brought[scene.name].waits.act?.({ ...scene, waitingFor, item });
  } catch (error) {
    if (!(error instanceof FinishedError || isUnanswered(error))) throw error;
  }
}

async function decide(scene: Scene, attention: Attention): Promise<void> {
  const { system, handle, isEnding } = scene;
  if (attention.kind === "accessDenied") {
    if (isEnding) await mendAccess(system);
    if (!isEnding && Math.random() < 0.5) return;
  }
  const decision = await decisionOn(scene, attention);
  const note = "looked at the provider's portal";
  await handle
    .resolve({ attention: attention.id, by: "operator", note, ...decision })
    .catch((error: unknown) => {
      // The attention has ended meanwhile.
      if (!(error instanceof InvalidInputError)) throw error;
    });
}

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

/** As the ledger has it, in the place of the provider's portal. */
export async function decisionOn(
  {
    system,
    name,
    handle,
  }: Pick<Scene, "name" | "handle"> & {
    system: { sandbox: Pick<Scene["system"]["sandbox"], "ledger"> };
  },
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
