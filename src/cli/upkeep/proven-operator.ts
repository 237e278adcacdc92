// Who runs a command that is a person's decision and reaches no process, whose worker would check it: the command itself asks for the
// operator's key, by the same rules (docs/design.md §6). Who has its secrets can do without the command, so this proves who ran it.
import { ringOf } from "../../config/config.js";
import type { Config } from "../../config/config.js";
import type { CommandDecision } from "../../config/operators.js";
import { operatorPublicKey } from "../../crypto/decision-signature.js";
import { decisionRulesOf } from "../../config/decision-rules.js";
import { usageError } from "../output/exit.js";
import type { CommandError } from "../output/exit.js";

export interface ProvenOperator {
  name: string;
  privateKey: Buffer;
}

/** Undefined where no key of an operator is known here, and none is required. */
export function provenOperator(
  config: Config,
  decision: CommandDecision,
): ProvenOperator | undefined {
  const { isRequired, operators } = decisionRulesOf(config);
  const key = config.keys.operator && ringOf(config, "operator").active;
  const known = key && operators.get(key.id);
  const isOwn =
    key && known?.publicKeys.some((one) => one.toString("base64") === operatorPublicKey(key.bytes));
  if (!key || !known || !isOwn) {
    if (!isRequired) return undefined;
    throw refusal(
      key
        ? `is not the key of a configured operator "${key.id}"`
        : 'is required: decisions.signed is "required"',
    );
  }
  if (!known.may.has(decision)) throw refusal(`${key.id} may not ${decision}`);
  return { name: key.id, privateKey: key.bytes };
}

function refusal(problem: string): CommandError {
  return usageError(`keys.operator: ${problem}`);
}
