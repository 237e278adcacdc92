// Gives the check of each decision the configured operators and rules (docs/design.md §6).
import { ConfigurationError } from "./config.js";
import type { Config } from "./config.js";
import type { DecisionRules } from "../journal/signed-decisions.js";

/** Throws if no operator could satisfy the rules, or if one key belongs to two operators. */
export function decisionRulesOf({ decisions, operators }: Config): DecisionRules {
  const all = Object.entries(operators);
  const isRequired = decisions.signed === "required";
  if (isRequired && all.length === 0)
    throw new ConfigurationError([
      'operators: decisions.signed = "required" needs at least one operator',
    ]);
  const deciding = all.filter(([, { may }]) => may.includes("resolve"));
  if (decisions.secondPerson.length > 0 && !(isRequired && deciding.length > 1))
    throw new ConfigurationError([
      'decisions.secondPerson: requires decisions.signed = "required" and two operators who may resolve',
    ]);
  const owners = new Map<string, string>();
  for (const [name, { publicKeys }] of all)
    for (const key of publicKeys) {
      const owner = owners.get(key);
      if (owner !== undefined)
        throw new ConfigurationError([
          `operators.${name}.publicKeys: the key already belongs to operators.${owner}`,
        ]);
      owners.set(key, name);
    }
  return {
    isRequired,
    secondPerson: new Set(decisions.secondPerson),
    operators: new Map(
      all.map(([name, { publicKeys, may }]) => [
        name,
        { publicKeys: publicKeys.map((key) => Buffer.from(key, "base64")), may: new Set(may) },
      ]),
    ),
  };
}
