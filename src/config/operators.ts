// The operators' public keys, and the rules for decisions (docs/design.md §6).
import { z } from "zod";
import { decisionUpdates } from "../contracts/registry.js";
import { listOf, oneOf, section, tableName } from "./fields.js";

/** It is also the key id in `keys.operator`. */
export const operatorName = tableName;

const publicKey = z
  .string()
  .refine(
    (text) => /^[A-Za-z0-9+/]{43}=$/.test(text),
    "must be a public key as printed by `trustflow keys operator`",
  );

/** Decisions that a command makes itself, without a process. */
const commandDecisions = ["erase", "alertEmails"] as const;
export type CommandDecision = (typeof commandDecisions)[number];
const allDecisions = [...decisionUpdates, ...commandDecisions];

const Operator = z.strictObject({
  publicKeys: listOf(publicKey, 1).describe(
    "list; the operator's public key, and during a change the key before it too. Worker; where `erase` and `alert-emails` run",
  ),
  may: listOf(z.enum(allDecisions))
    .default(allDecisions)
    .describe(
      "list; the updates and commands by which this operator may decide. Worker; where `erase` and `alert-emails` run",
    ),
});

export const Operators = z.record(operatorName, Operator).default({});
export type Operators = z.infer<typeof Operators>;

export const Decisions = section({
  signed: oneOf("recorded", "required")
    .default("recorded")
    .describe(
      "`required`: a decision that no operator has signed is refused; `recorded`: it is taken, and shown without a proof. Worker; where `erase` and `alert-emails` run",
    ),
  secondPerson: listOf(z.enum(["happened", "abandon"]))
    .default([])
    .describe(
      "list of `abandon` and `happened`: the decisions of `resolve` that a second operator has to confirm. Worker",
    ),
});
export type Decisions = z.infer<typeof Decisions>;
