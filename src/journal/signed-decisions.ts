// Who decides: what the signature of a decision proves, and that each is used once (docs/decisions/0024). A use is a row of the
// journal for which nothing is ever sent, so it is kept, sealed and removed as everything else that is known of the process.
import { isSignatureOf } from "../crypto/decision-signature.js";
import type { SignedDecision } from "../crypto/decision-signature.js";
import type { Sealers } from "../crypto/data-key.js";
import type { Pool } from "../postgres/pool.js";
import { openAnswer, sealAnswer } from "./answers.js";
import { reached } from "./patience.js";
import { effectToken } from "./token.js";

export interface DecisionRules {
  /** Whether a decision that nobody signed is refused. */
  isRequired: boolean;
  operators: ReadonlyMap<string, { publicKeys: Buffer[]; may: ReadonlySet<string> }>;
}

/** A decision as a process got it. */
export interface GivenDecision extends Omit<SignedDecision, "operator" | "at" | "argument"> {
  /** The same for a run and its resets, another one where the process is started again under its id. */
  firstRunId: string;
  argument: object;
}

/** The signature as the caller wrote it; the process has checked its form. */
export interface DecisionSignature {
  operator: string;
  at: string;
  value: string;
}

export class DecisionRefused extends Error {
  /** The member of the argument that is wrong. */
  readonly path: string;
  readonly problem: string;

  constructor(path: string, problem: string) {
    super(`${path} ${problem}`);
    this.path = path;
    this.problem = problem;
  }
}

/** How far the signer's clock and the worker's may be apart, with the way from one to the other. */
const freshMs = 10 * 60_000;

type Identified = Omit<GivenDecision, "argument" | "firstRunId">;

interface Use {
  firstRunId: string;
  signature: DecisionSignature;
}

export class SignedDecisions {
  readonly #pool: Pool;
  readonly #sealers: Sealers;
  readonly #rules: DecisionRules;

  constructor(pool: Pool, sealers: Sealers, rules: DecisionRules) {
    this.#pool = pool;
    this.#sealers = sealers;
    this.#rules = rules;
  }

  /** The operator who signed it; undefined where nobody did, and nobody has to. Throws `DecisionRefused`. */
  async prove({
    firstRunId,
    argument: given,
    ...about
  }: GivenDecision): Promise<string | undefined> {
    const { signature, ...argument } = given as { signature?: DecisionSignature };
    if (signature === undefined) {
      if (!this.#rules.isRequired) return undefined;
      throw new DecisionRefused("signature", "is required: an operator's key signs each decision");
    }
    const { operator, at, value } = signature;
    const known = this.#rules.operators.get(operator);
    if (!known) throw new DecisionRefused("signature.operator", "is not a configured operator");
    if (!known.may.has(about.update))
      throw new DecisionRefused("signature.operator", `may not ${about.update}`);
    const signed = { ...about, operator, at, argument };
    if (!known.publicKeys.some((key) => isSignatureOf(key, signed, value)))
      throw new DecisionRefused(
        "signature.value",
        `is not ${operator}'s signature of this decision for this process`,
      );
    await this.#use({ firstRunId, signature }, about);
    return operator;
  }

  /** After a reset Temporal brings the updates of the run before again; a new start under the same id is another process. */
  async #use(use: Use, { namespace, workflowId, update, updateId }: Identified): Promise<void> {
    const step = `signed:${update}`;
    const token = effectToken(namespace, workflowId, step, updateId);
    const sealer = await reached(this.#sealers.of({ namespace, workflowId }));
    const isFresh = Math.abs(Date.now() - Date.parse(use.signature.at)) <= freshMs;
    if (isFresh) {
      const { rowCount } = await reached(
        this.#pool.query(
          `insert into trustflow.effects (token, namespace, workflow_id, step, occurrence, state, sealed_answer)
           values ($1, $2, $3, $4, $5, 'withdrawn', $6) on conflict do nothing`,
          [token, namespace, workflowId, step, updateId, sealAnswer(sealer, token, use)],
        ),
      );
      if (rowCount === 1) return;
    }
    const { rows } = await reached(
      this.#pool.query<{ sealed: Buffer | null }>(
        "select sealed_answer as sealed from trustflow.effects where token = $1",
        [token],
      ),
    );
    const [row] = rows;
    if (row?.sealed && isSame(openAnswer(sealer, token, row.sealed) as Use, use)) return;
    if (row)
      throw new DecisionRefused("signature", "was used before: each decision needs one of its own");
    throw new DecisionRefused(
      "signature.at",
      "must be the present time, give or take 10 minutes: check the clock, and sign again",
    );
  }
}

function isSame(known: Use, use: Use): boolean {
  return known.firstRunId === use.firstRunId && known.signature.value === use.signature.value;
}
