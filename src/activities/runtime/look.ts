// A look of a process at another one that it has started. The events of a child in its parent's history prove nothing: a worker of a
// stranger may have written them, and a reset of the child ends the run that they name. So the parent looks (docs/decisions/0031).
import { createHash } from "node:crypto";
import { comparedInput } from "../../contracts/definition/secret-fields.js";
import { contractOf, parseWorkflowId } from "../../contracts/registry.js";
import type { LookedAt } from "../../contracts/shared/process-look.js";
import { contentOf } from "../../documents/content.js";
import { EffectMismatch } from "../../journal/errors.js";
import { asActivity, NotChangedYet } from "./failure.js";
import type { ActivityDependencies } from "./provider-context.js";

/** Looks at processes; the composition root gives it a client of Temporal. */
export interface ProcessLooks {
  /** Throws where the process does not answer now. */
  look(workflowId: string): Promise<LookedAt>;
  /** Whether the newest run is open, as Temporal describes it: no worker is asked, and nothing is decrypted. */
  isOpen(workflowId: string): Promise<boolean>;
  firstInput(workflowId: string): Promise<unknown>;
}

export interface LookRequest {
  workflowId: string;
  account: string;
  /** `change`: retried by the server until the answer differs from `seen`. */
  wait: "now" | "change";
  seen?: string;
  /** The process was there before: the digest of the input that it must have, else the look fails as `InputMismatch`. */
  digest?: string;
}

/** Asks only whether the process is open. */
export interface RunRequest extends Pick<LookRequest, "workflowId" | "account"> {
  wait: "now";
  only: "run";
}

export interface RunAnswer {
  found: { run: "open" | "ended" };
}

/** A later look knows the finding again by its fingerprint. */
export interface LookAnswer {
  fingerprint: string;
  found: LookedAt;
}

type LookDependencies = Pick<ActivityDependencies, "digests" | "environmentOf" | "patienceMs">;

export function createLookActivities(
  { digests, environmentOf, patienceMs }: LookDependencies,
  looks: ProcessLooks,
) {
  function lookAt(request: RunRequest): Promise<RunAnswer>;
  function lookAt(request: LookRequest): Promise<LookAnswer>;
  function lookAt(request: RunRequest | LookRequest): Promise<RunAnswer | LookAnswer> {
    const { account } = request;
    const environment = environmentOf(account);
    const about = { provider: "trustflow", operation: "lookAt", environment, account };
    // The server repeats a look that fails, without end: its failures add nothing to the history.
    const forEver = { unavailableForMs: Infinity, invisibleForMs: Infinity };
    const patience = { mode: "quick" as const, patienceMs, ...forEver };
    return asActivity<RunAnswer | LookAnswer>({ ...about, ...patience }, () =>
      "only" in request ? run(request) : whole(request),
    );
  }

  async function run({ workflowId }: RunRequest): Promise<RunAnswer> {
    return { found: { run: (await looks.isOpen(workflowId)) ? "open" : "ended" } };
  }

  async function whole({ workflowId, wait, seen, digest }: LookRequest): Promise<LookAnswer> {
    const found = await looks.look(workflowId);
    if (digest !== undefined && found.run !== "missing") {
      const first = await looks.firstInput(workflowId);
      if (!isInput(first) || !digests.same(compared(workflowId, first), digest))
        throw new EffectMismatch(workflowId);
    }
    const fingerprint = fingerprintOf(found);
    if (wait === "change" && fingerprint === seen) throw new NotChangedYet();
    return { fingerprint, found: withoutTimeline(found) };
  }

  return { lookAt };
}

export type LookActivities = ReturnType<typeof createLookActivities>;

const isInput = (first: unknown): first is object => typeof first === "object" && first !== null;

function compared(workflowId: string, input: object): object {
  const parsed = parseWorkflowId(workflowId);
  if (!parsed) throw new Error(`${workflowId} is not a process`);
  return comparedInput(contractOf(parsed.process).input, input, contentOf);
}

/** Covers what matters to the process that looks; not the text of a wait, which changes with each try. */
function fingerprintOf(found: LookedAt): string {
  const { run } = found;
  const parts: unknown[] = [run];
  if (run === "open") {
    const { phase, state, outcome, references, attention, moreAttentions = [] } = found.status;
    const attentions = [attention, ...moreAttentions].map((one) => one?.id);
    parts.push(
      phase,
      state,
      outcome,
      Object.entries(references).map(String).toSorted(),
      attentions,
    );
  }
  // A new run that ends as the one before is another end: a decision about that one was made already.
  if (run === "completed" || run === "failed") parts.push(found.startedAt);
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

/** A timeline may have hundreds of kilobytes, and stays where it is. */
function withoutTimeline(found: LookedAt): LookedAt {
  if (found.run === "open") return { ...found, status: { ...found.status, timeline: [] } };
  if (found.run !== "completed") return found;
  const { timeline: _, ...result } = found.result;
  return { ...found, result };
}
