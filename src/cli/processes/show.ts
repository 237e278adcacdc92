// Formats a process for a terminal: its status, its timeline, its answers.
import {
  consequencesOf,
  otpCommandOf,
  proposedLine,
  traceLines,
} from "../../contracts/shared/decisions.js";
import type {
  ProcessResult,
  ProcessStatus,
  RetriedCall,
  TimelineEntry,
} from "../../contracts/shared/status.js";
import { facts } from "../output/output.js";
import { batchOf, totalsLine } from "../../contracts/send-notice-batch/progress-line.js";
import { count } from "../../contracts/shared/text.js";
import { childFacts, childLines, childResults, withoutChildren } from "./children.js";
import { linesOf, padded, paint, terminal } from "../output/terminal.js";
import { SeenEntries } from "./seen-entries.js";
import type { Terminal } from "../output/terminal.js";

type Attention = NonNullable<ProcessStatus["attention"]>;

export function statusText(status: ProcessStatus): Terminal {
  return linesOf([
    facts([
      ["process", `${status.process}/${status.id}`],
      ["environment", status.environment],
      ["account", status.account],
      ["phase", status.phase],
      ["waiting for", status.waitingFor],
      ["until", status.until],
      ...codeFacts(status),
      ...(status.retrying ?? []).map((call): [string, string] => ["retrying", retryText(call)]),
      ["state", status.state],
      ["reported", status.reportedState],
      ["outcome", status.outcome],
      ["failure", status.failure && `${status.failure.type}: ${status.failure.message}`],
      ...abandonedFacts(status.failure?.abandoned),
      ...(status.failure?.fields ?? []).map(({ path, problem }): [string, string] => [
        `  ${path}`,
        problem,
      ]),
      ["references", listed(status.references)],
      ...batchFacts(status),
      ...childFacts(status),
      ...documentFacts(status.documents),
    ]),
    ...childLines(status),
    ...attentionLines(status),
    ...earlierLines(status),
    ...status.timeline.map(timelineLine),
    ...saidLines(status),
  ]);
}

/** What the status of a batch has beside those of every process. */
export function batchFacts(status: ProcessStatus): [string, string | undefined][] {
  const { list, progress, totals } = batchOf(status);
  return [
    ["recipients", list && count(list.recipients)],
    ["left out", list && list.invalidRows > 0 ? count(list.invalidRows) : undefined],
    ["problems", list?.problemsCsv?.uri],
    ["sent", progress?.sentCount === undefined ? undefined : count(progress.sentCount)],
    ["failed", progress?.failedCount === undefined ? undefined : count(progress.failedCount)],
    ["notices", totals && list && totalsLine(totals.states, list.recipients)],
  ];
}

function codeFacts({ process: processName, id, code }: ProcessStatus): [string, string][] {
  if (!code) return [];
  return [
    ["tries left", triesText(code)],
    [
      code.triesLeft === 0 ? "send another code by" : "enter the code by",
      otpCommandOf(`${processName}/${id}`, code),
    ],
  ];
}

/** Says who decided, and what exists at the provider, as the error of `result` does. */
function abandonedFacts(
  abandoned: NonNullable<ProcessStatus["failure"]>["abandoned"],
): [string, string | undefined][] {
  if (!abandoned) return [];
  const { effect, by, principal, proposedBy, note } = abandoned;
  return [
    ["  effect", effect],
    ["  abandoned by", by],
    ["  signed by", principal],
    ["  proposed by", proposedBy],
    ["  note", note],
  ];
}

/** Lists what the provider has said of a communication: its query first, then each callback. */
function saidLines({
  shown,
  reported = [],
}: Pick<ProcessStatus, "reported" | "shown">): Terminal[] {
  return [
    ...(shown ? [paint("bold", "shown by the provider"), facts(plainEntries(shown))] : []),
    ...(reported.length > 0 ? [paint("bold", "reported by callbacks, not confirmed")] : []),
    ...reported.flatMap(({ at, kind, ...about }) => [
      terminal`${paint("dim", at)}  ${kind}`,
      facts(plainEntries(about)),
    ]),
  ];
}

function earlierLines({ process: processName, id, earlierEntries: left }: ProcessStatus) {
  const command = `trustflow status ${processName}/${id} --timeline`;
  return left === undefined ? [] : [terminal`${paint("dim", `${left} earlier: ${command}`)}`];
}

/** Also shows the fields that only this process's result has: the number of sent codes, the provider's answer. */
export function resultText(result: ProcessResult): Terminal {
  const {
    process: processName,
    id,
    outcome,
    providerOutcome,
    references,
    dates,
    documents,
    timeline,
    reported,
    shown,
    ...members
  } = result;
  return linesOf([
    facts([
      ["process", `${processName}/${id}`],
      ["outcome", outcome],
      ["provider's word", providerOutcome],
      ["references", listed(references)],
      ...Object.entries(dates),
      ...plainEntries(withoutChildren(members)),
      ...childResults(members),
      ...documentFacts(documents),
    ]),
    ...timeline.map(timelineLine),
    ...saidLines({ reported, shown }),
  ]);
}

function documentFacts(documents: ProcessResult["documents"] = []): [string, string][] {
  return documents.map(({ kind, document }) => [kind, document.uri]);
}

/** The answer to an update of this process. */
export function answerText(answer: object, workflowId: string): Terminal {
  const { answer: said, triesLeft } = answer as { answer?: string; triesLeft?: number };
  const isLocked = said === "locked" || (said === "wrong" && triesLeft === 0);
  return facts([
    ...plainEntries(answer),
    ["send another code by", isLocked ? otpCommandOf(workflowId, { triesLeft: 0 }) : undefined],
  ]);
}

function plainEntries(given: object): [string, string][] {
  return Object.entries(given).map(([name, value]: [string, unknown]) => [
    name,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
}

function listed(references: Record<string, string>): string | undefined {
  const entries = Object.entries(references).map(([name, value]) => `${name} ${value}`);
  return entries.length > 0 ? entries.join(", ") : undefined;
}

function attentionLines(status: ProcessStatus): Terminal[] {
  const { attention, moreAttentions = [] } = status;
  const all = attention ? [attention, ...moreAttentions] : [];
  return all.map((one) => paint("yellow", attentionText(one, status)));
}

/** Shows the reason, and a line for the effect of each decision. */
function attentionText(attention: Attention, status: ProcessStatus): Terminal {
  const { id, kind, reason, since, proposed } = attention;
  return linesOf([
    terminal`needs an operator decision since ${since}: ${reason} [${kind}, attention ${id}]`,
    ...(proposed ? [terminal`${proposedLine(proposed)}`] : []),
    ...traceLines(attention, status).map((line) => terminal`  ${line}`),
    ...consequencesOf(attention).map(
      ([decision, does]) => terminal`  ${padded(decision, 8)}  ${does}`,
    ),
  ]);
}

function triesText({ triesLeft, resendsLeft }: NonNullable<ProcessStatus["code"]>): string {
  return `${triesLeft}; further codes: ${resendsLeft}`;
}

/** `evi-post submit at api.example: not sent (ENOTFOUND); attempt 3 at …`. */
export function retryText(call: RetriedCall): string {
  const { provider, operation, host, cause, requestId, attempt, nextAttemptAt } = call;
  const at = host === undefined ? "" : ` at ${host}`;
  const request = requestId === undefined ? "" : `, request ${requestId}`;
  const next =
    nextAttemptAt === undefined ? "is under way or waits for a worker" : `at ${nextAttemptAt}`;
  return `${provider} ${operation}${at}: ${cause}${request}; attempt ${attempt} ${next}`;
}

/** The source comes first, in our own words. `workflowId`: only where the events of several processes stand together. */
export function timelineLine(entry: TimelineEntry & { workflowId?: string }): Terminal {
  const { at, clock, source, workflowId, event, by, principal, note } = entry;
  const time = clock === undefined ? at : `${at} (${clock} clock)`;
  const stated = by === undefined ? "" : terminal` by ${by}`;
  const signed = principal === undefined ? "" : terminal`, signed by ${principal}`;
  const more = note === undefined ? "" : terminal` – ${note}`;
  const whose = workflowId === undefined ? "" : terminal`${workflowId}  `;
  return terminal`${paint("dim", time)}  ${padded(source, 8)}  ${whose}${event}${stated}${signed}${more}`;
}

/** Prints what is new in each status: each timeline entry once, in whatever order entries arrive, and the current phase. */
export class ProgressLines {
  readonly #printed = new SeenEntries();
  /** So many entries are not printed, because no worker answered. */
  #skipped = 0;
  #standing = "";
  #attentions = "";
  readonly #retries = new Set<string>();

  /** Asks for `wholeTimeline` where a status leaves out entries that are not printed yet; undefined where no worker answers. */
  async linesWith(
    status: ProcessStatus,
    wholeTimeline: () => Promise<TimelineEntry[] | void>,
  ): Promise<Terminal[]> {
    const { earlierEntries = 0, timeline } = status;
    const missing = earlierEntries - this.#printed.countWith(timeline) + timeline.length;
    if (missing <= this.#skipped) return this.linesOf(status);
    const whole = await wholeTimeline();
    this.#skipped = whole ? 0 : missing;
    return this.linesOf({ ...status, timeline: whole ?? timeline });
  }

  linesOf(status: ProcessStatus): Terminal[] {
    const lines = this.#printed.take(status.timeline).map(timelineLine);
    const { phase, state, waitingFor, until, code, outcome, failure } = status;
    const standing = [
      phase,
      state,
      outcome && `outcome ${outcome}`,
      failure && `failed: ${failure.message}`,
      waitingFor && `waits for ${waitingFor}${until === undefined ? "" : ` until ${until}`}`,
      code && `tries left ${triesText(code)}`,
    ]
      .filter(Boolean)
      .join(", ");
    if (standing !== this.#standing) lines.push(paint("bold", standing));
    this.#standing = standing;
    for (const call of status.retrying ?? []) lines.push(...this.#newRetry(call));
    const attentions = attentionLines(status);
    const text = linesOf(attentions).source;
    if (text !== this.#attentions) lines.push(...attentions);
    this.#attentions = text;
    return lines;
  }

  /** Once for each failed attempt: not again while the next one runs. */
  #newRetry(call: RetriedCall): Terminal[] {
    const text = retryText(call);
    if (call.nextAttemptAt === undefined || this.#retries.has(text)) return [];
    this.#retries.add(text);
    return [paint("yellow", `retrying ${text}`)];
  }
}
