// How a process reads on a terminal: its status, its timeline, its answers.
import type { ProcessResult, ProcessStatus, TimelineEntry } from "../contracts/status.js";
import { facts, paint, printable } from "./output.js";

type Attention = NonNullable<ProcessStatus["attention"]>;

export function statusText(status: ProcessStatus): string {
  return [
    facts([
      ["process", `${status.process}/${status.id}`],
      ["environment", status.environment],
      ["account", status.account],
      ["phase", status.phase],
      ["waiting for", status.waitingFor],
      ["until", status.until],
      ["state", status.state],
      ["reported", status.reportedState],
      ["outcome", status.outcome],
      ["references", listed(status.references)],
    ]),
    ...attentionLines(status),
    ...status.timeline.map(timelineLine),
  ].join("\n");
}

/** With what only this process's result has: the codes that were sent, the provider's answer. */
export function resultText(result: ProcessResult): string {
  const { process, id, outcome, providerOutcome, references, dates, documents, timeline, ...own } =
    result;
  return [
    facts([
      ["process", `${process}/${id}`],
      ["outcome", outcome],
      ["provider's word", providerOutcome],
      ["references", listed(references)],
      ...Object.entries(dates),
      ...plainEntries(own),
      ...documents.map(({ kind, document }): [string, string] => [kind, document.uri]),
    ]),
    ...timeline.map(timelineLine),
  ].join("\n");
}

/** What a process answers when it is asked something. */
export function answerText(answer: object): string {
  return facts(plainEntries(answer));
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

function attentionLines({ attention, moreAttentions = [] }: ProcessStatus): string[] {
  const all = attention ? [attention, ...moreAttentions] : [];
  return all.map((one) => paint("yellow", attentionText(one)));
}

export function attentionText(attention: Attention): string {
  const { id, kind, reason, since, decisions, happenedNeeds } = attention;
  const needs = happenedNeeds ? ` (with ${happenedNeeds.join(", ")})` : "";
  const choice = decisions.map((one) => (one === "happened" ? `${one}${needs}` : one)).join(", ");
  return printable(
    `waits for a person since ${since}: ${reason} [${kind}, attention ${id}; decide: ${choice}]`,
  );
}

export function timelineLine({ at, source, event, by, note }: TimelineEntry): string {
  const who = by === undefined ? "" : ` by ${by}`;
  const more = note === undefined ? "" : ` – ${note}`;
  return `${paint("dim", at)}  ${printable(`${source.padEnd(8)}  ${event}${who}${more}`)}`;
}

/** Prints what is new in each status: a line for where it stands, and one for each new timeline entry. */
export class ProgressLines {
  #shown = 0;
  #standing = "";

  linesOf(status: ProcessStatus): string[] {
    const lines = status.timeline.slice(this.#shown).map(timelineLine);
    this.#shown = Math.max(this.#shown, status.timeline.length);
    const { phase, state, waitingFor, until, outcome } = status;
    const standing = [
      phase,
      ...(state === undefined ? [] : [state]),
      ...(outcome === undefined ? [] : [`outcome ${outcome}`]),
      ...(waitingFor === undefined
        ? []
        : [`waits for ${waitingFor}${until === undefined ? "" : ` until ${until}`}`]),
    ].join(", ");
    if (standing !== this.#standing) lines.push(paint("bold", printable(standing)));
    this.#standing = standing;
    lines.push(...attentionLines(status));
    return lines;
  }
}
