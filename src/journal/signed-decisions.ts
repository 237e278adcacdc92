// Checks the signature of a decision, and that each signature is used once (docs/design.md §6). Each use is a journal row
// for which nothing is ever sent, so it is kept, sealed and deleted with the other rows of the process.
import { createHash } from "node:crypto";
import { isSignatureOf } from "../crypto/decision-signature.js";
import type { SignedDecision } from "../crypto/decision-signature.js";
import type { Sealers } from "../crypto/data-key.js";
import { DecryptionError } from "../crypto/errors.js";
import { canonicalJson } from "../crypto/json-digest.js";
import type { Pool } from "../postgres/pool.js";
import { openAnswer, sealAnswer } from "./answers.js";
import { asUnavailable } from "./patience.js";
import { effectToken } from "./effect.js";

export interface DecisionRules {
  /** Whether an unsigned decision is refused. */
  isRequired: boolean;
  /** The decisions on an attention that need two operators. */
  secondPerson: ReadonlySet<string>;
  operators: ReadonlyMap<string, { publicKeys: Buffer[]; may: ReadonlySet<string> }>;
}

export interface GivenDecision extends Omit<SignedDecision, "operator" | "at" | "argument"> {
  /** The same for a run and its resets; a new start of the process gets another one. */
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
  /** It names the invalid member of the argument. */
  readonly path: string;
  readonly problem: string;

  constructor(path: string, problem: string) {
    super(`${path} ${problem}`);
    this.path = path;
    this.problem = problem;
  }
}

/** The largest difference between the signer's clock and the worker's, including the transmission time. */
const MAX_AGE_MS = 10 * 60_000;

type Identified = Omit<GivenDecision, "argument" | "firstRunId">;

interface Use {
  firstRunId: string;
  signature: DecisionSignature;
  /** The part of a decision that a second operator has to repeat. */
  resolution?: { attention: string; digest: string };
}

/** `principal`: the operator who signed it; undefined for an unsigned decision that needs no signature. */
export interface Proof {
  principal?: string;
  /** A second operator has to make the same decision; `proposedBy`: another operator already has. */
  secondPerson?: { proposedBy?: string };
}

/** Opens a secret that a client has sealed for the workers; returns other text unchanged. Throws if it cannot be opened. */
export type OpenSecret = (
  text: string,
  processKey: { namespace: string; workflowId: string },
) => string;

export class SignedDecisions {
  readonly #pool: Pool;
  readonly #sealers: Sealers;
  readonly #rules: DecisionRules;
  readonly #openSecret: OpenSecret;

  constructor(pool: Pool, sealers: Sealers, rules: DecisionRules, openSecret: OpenSecret) {
    this.#pool = pool;
    this.#sealers = sealers;
    this.#rules = rules;
    this.#openSecret = openSecret;
  }

  /** Throws `DecisionRefused`. */
  async prove({ firstRunId, argument: given, ...about }: GivenDecision): Promise<Proof> {
    const { signature, ...argument } = given as { signature?: DecisionSignature };
    if (signature === undefined) {
      if (!this.#rules.isRequired) return {};
      throw new DecisionRefused("signature", "is required: an operator's key signs each decision");
    }
    const { operator: principal, at, value } = signature;
    const known = this.#rules.operators.get(principal);
    if (!known) throw new DecisionRefused("signature.operator", "is not a configured operator");
    if (!known.may.has(about.update))
      throw new DecisionRefused("signature.operator", `may not ${about.update}`);
    const signed = { ...about, operator: principal, at, argument };
    if (!known.publicKeys.some((key) => isSignatureOf(key, signed, value)))
      throw new DecisionRefused(
        "signature.value",
        `is not ${principal}'s signature of this decision for this process`,
      );
    const { decision, resolution } = this.#resolutionIn(about, argument);
    const use = { firstRunId, signature, ...(resolution && { resolution }) };
    await this.#use(use, about);
    if (!resolution || !this.#rules.secondPerson.has(decision)) return { principal };
    const before = await this.#newest(about, firstRunId, resolution.attention);
    const isAlike = before?.resolution?.digest === resolution.digest;
    const other = before?.signature.operator ?? principal;
    // The proposal of a removed operator does not count.
    const mayDecide = this.#rules.operators.get(other)?.may.has(about.update) ?? false;
    const isConfirmed = isAlike && other !== principal && mayDecide;
    return { principal, secondPerson: isConfirmed ? { proposedBy: other } : {} };
  }

  /** The note and the name may differ, the result may not. */
  #resolutionIn(
    about: Identified,
    argument: object,
  ): { decision: string } & Pick<Use, "resolution"> {
    if (about.update !== "resolve") return { decision: "" };
    const { attention, decision, result } = argument as Record<string, unknown>;
    const members = Object.entries(result ?? {}).map(([name, member]) => [
      name,
      this.#opened(about, name, member),
    ]);
    const said = { attention, decision, result: Object.fromEntries(members) as unknown };
    const digest = createHash("sha256").update(canonicalJson(said)).digest("base64");
    return { decision: String(decision), resolution: { attention: String(attention), digest } };
  }

  /** Two seals of a secret always differ, so the opened secret is compared. A number is compared as text. */
  #opened(about: Identified, name: string, member: unknown): unknown {
    if (typeof member !== "string" && typeof member !== "number") return member;
    try {
      return this.#openSecret(String(member), about);
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error;
      const problem = "was sealed for another process, or with another key";
      throw new DecisionRefused(`result.${name}`, problem);
    }
  }

  /** The newest other decision on the attention: it replaces those before it. */
  async #newest(
    { namespace, workflowId, update, updateId }: Identified,
    firstRunId: string,
    attention: string,
  ): Promise<Use | undefined> {
    const sealer = await asUnavailable(this.#sealers.of({ namespace, workflowId }));
    const { rows } = await asUnavailable(
      this.#pool.query<{ token: string; sealed: Buffer }>(
        `select token, sealed_answer as sealed from trustflow.effects
         where namespace = $1 and workflow_id = $2 and step = $3 and occurrence <> $4 and sealed_answer is not null
         order by seq desc`,
        [namespace, workflowId, stepOf(update), updateId],
      ),
    );
    return rows
      .map(({ token, sealed }) => openAnswer(sealer, token, sealed) as Use)
      .find((use) => use.firstRunId === firstRunId && use.resolution?.attention === attention);
  }

  /** After a reset, Temporal delivers the updates of the earlier run again. A new start with the same id is another process. */
  async #use(use: Use, { namespace, workflowId, update, updateId }: Identified): Promise<void> {
    const step = stepOf(update);
    const token = effectToken(namespace, workflowId, step, updateId);
    const sealer = await asUnavailable(this.#sealers.of({ namespace, workflowId }));
    const isFresh = Math.abs(Date.now() - Date.parse(use.signature.at)) <= MAX_AGE_MS;
    if (isFresh) {
      const { rowCount } = await asUnavailable(
        this.#pool.query(
          `insert into trustflow.effects (token, namespace, workflow_id, step, occurrence, state, sealed_answer)
           values ($1, $2, $3, $4, $5, 'withdrawn', $6) on conflict do nothing`,
          [token, namespace, workflowId, step, updateId, sealAnswer(sealer, token, use)],
        ),
      );
      if (rowCount === 1) return;
    }
    const { rows } = await asUnavailable(
      this.#pool.query<{ sealed: Buffer | null }>(
        "select sealed_answer as sealed from trustflow.effects where token = $1",
        [token],
      ),
    );
    const [row] = rows;
    if (row?.sealed && isSame(openAnswer(sealer, token, row.sealed) as Use, use)) return;
    if (row) throw new DecisionRefused("signature", "was used before: each decision needs its own");
    throw new DecisionRefused(
      "signature.at",
      "must be within 10 minutes of the present time: check the clock and sign again",
    );
  }
}

const stepOf = (update: string) => `signed:${update}`;

function isSame(known: Use, use: Use): boolean {
  return known.firstRunId === use.firstRunId && known.signature.value === use.signature.value;
}
