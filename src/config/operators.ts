// The operators' public keys, and the rules for decisions (docs/decisions/0024).
import { z } from "zod";
import { decisionUpdates } from "../contracts/registry.js";
import { listOf, plain } from "./fields.js";

/** It is also the key id in `keys.operator`. */
export const operatorName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,30}$/, "must be 1 to 31 of a-z 0-9 -");

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
  /** More than one during a change of key. */
  publicKeys: listOf(publicKey, 1),
  /** The updates that this operator may send, and the commands that need a decision; default: all. */
  may: listOf(z.enum(allDecisions)).default(allDecisions),
});

export const Operators = z.record(operatorName, Operator).default({});
export type Operators = z.infer<typeof Operators>;

export const Decisions = z
  .strictObject({
    /** `recorded`: a decision without a signature is accepted too. */
    signed: z.preprocess(plain, z.enum(["recorded", "required"])).default("recorded"),
    /** The decisions on an attention that a second operator has to confirm. */
    secondPerson: listOf(z.enum(["happened", "abandon"])).default([]),
  })
  .prefault({});
export type Decisions = z.infer<typeof Decisions>;
