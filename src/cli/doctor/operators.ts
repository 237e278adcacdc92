// Checks the configured operators, and whether the key of `keys.operator` belongs to one of them (docs/design.md §6).
import type { Config } from "../../config/config.js";
import { operatorName } from "../../config/operators.js";
import { operatorPublicKey } from "../../crypto/decision-signature.js";
import { decisionRulesOf } from "../../config/decision-rules.js";
import { NotExamined, Problem, ring } from "./check.js";

/** Rules with which a worker would not start are a finding here. */
export async function decisionRules(config: Config): Promise<string> {
  const { isRequired, secondPerson, operators } = decisionRulesOf(config);
  if (operators.size === 0)
    throw new NotExamined(
      "not examined: no operator is configured here; only the workers know theirs",
    );
  return [
    [...operators.keys()].join(", "),
    isRequired ? "each decision must be signed" : "a decision without a signature is accepted too",
    ...[...secondPerson].map((decision) => `${decision} needs two operators`),
  ].join("; ");
}

export async function operatorKey(config: Config): Promise<string> {
  if (config.keys.operator === undefined)
    throw new NotExamined("not examined: keys.operator is not set, so this machine signs nothing");
  const { id, bytes } = ring(config, "operator", "operatorKeyMalformed").active;
  if (!operatorName.safeParse(id).success)
    throw new Problem(
      "operatorKeyMalformed",
      `keys.operator: "${id}" is not a valid operator name`,
    );
  const operators = new Map(Object.entries(config.operators));
  const publicKey = operatorPublicKey(bytes);
  if (operators.size === 0)
    throw new NotExamined(
      `not examined: no operator is configured here; the workers must know ${id} by the public key ${publicKey}`,
    );
  const named = operators.get(id);
  if (named?.publicKeys.includes(publicKey)) return `signs as ${id}: ${named.may.join(", ")}`;
  const [owner] = [...operators].find(([, { publicKeys }]) => publicKeys.includes(publicKey)) ?? [];
  const isPublic = named?.publicKeys.includes(bytes.toString("base64"));
  throw new Problem("operatorKeyUnknown", `keys.operator: ${strangeness()}`);

  function strangeness(): string {
    if (owner !== undefined) return `names ${id}, but the key belongs to operators.${owner}`;
    if (!named) return `operators.${id} is not configured`;
    if (isPublic) return `is the public key of ${id}; use the private key`;
    return `its public key ${publicKey} is not in operators.${id}.publicKeys`;
  }
}
