// Who may decide: the public keys of the operators, and what a decision needs (docs/decisions/0024).
import { z } from "zod";
import { decisionUpdates } from "../contracts/registry.js";
import { listOf, plain } from "./fields.js";

/** As the id of a key ring too, which is what `keys.operator` is written as. */
export const operatorName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,30}$/, "must be 1 to 31 of a-z 0-9 -");

const publicKey = z
  .string()
  .refine(
    (text) => /^[A-Za-z0-9+/]{43}=$/.test(text),
    "must be a public key, as `trustflow keys operator` prints it",
  );

const Operator = z.strictObject({
  /** More than one while a key is changed. */
  publicKeys: listOf(publicKey, 1),
  /** The updates by which this operator may decide; default: all. */
  may: listOf(z.enum(decisionUpdates)).default([...decisionUpdates]),
});

export const Operators = z.record(operatorName, Operator).default({});
export type Operators = z.infer<typeof Operators>;

export const Decisions = z
  .strictObject({
    /** `recorded`: a decision without a signature is taken too. */
    signed: z.preprocess(plain, z.enum(["recorded", "required"])).default("recorded"),
    /** The decisions on an attention that a second operator has to confirm. */
    secondPerson: listOf(z.enum(["happened", "abandon"])).default([]),
  })
  .prefault({});
export type Decisions = z.infer<typeof Decisions>;
