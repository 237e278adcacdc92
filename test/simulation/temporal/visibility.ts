// The few forms of a visibility query that Trustflow asks: comparisons joined by AND and OR, without nesting but one bracket.
import { api } from "./history.js";
import type { Run } from "./run.js";

const { WorkflowExecutionStatus: Status } = api.api.enums.v1;

export function matches(query: string, run: Run): boolean {
  const text = query.split(/\border by\b/i)[0]!.trim();
  return text === "" || orOf(text).some((all) => all.every((one) => holds(one, run)));
}

/** The alternatives, each a list of comparisons. */
function orOf(text: string): string[][] {
  return split(text, "or").map((part) => {
    const bare = part.trim();
    const inner = /^\((.*)\)$/s.exec(bare)?.[1];
    if (inner !== undefined && !/\) .* \(/.test(inner)) return [`(${inner})`];
    return split(bare, "and");
  });
}

/** Splits at a word outside of brackets and quotes. */
function split(text: string, word: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let quote = "";
  let from = 0;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at]!;
    if (quote) {
      if (char === quote) quote = "";
    } else if (char === '"' || char === "'") quote = char;
    else if (char === "(") depth += 1;
    else if (char === ")") depth -= 1;
    else if (
      depth === 0 &&
      new RegExp(`^\\s${word}\\s`, "i").test(text.slice(at, at + word.length + 2))
    ) {
      parts.push(text.slice(from, at));
      from = at + word.length + 2;
    }
  }
  return [...parts, text.slice(from)];
}

function holds(comparison: string, run: Run): boolean {
  const text = comparison.trim();
  const inner = /^\((.*)\)$/s.exec(text)?.[1];
  if (inner !== undefined) return matches(inner, run);
  const isNull = /^[`"]?(\w+)[`"]? is (not )?null$/i.exec(text);
  if (isNull) return (valuesOf(isNull[1]!, run).length === 0) === (isNull[2] === undefined);
  const among = /^(\w+) (not )?in \((.*)\)$/is.exec(text);
  if (among) {
    const values = valuesOf(among[1]!, run);
    const isAmong = among[3]!.split(",").some((one) => values.includes(plain(one)));
    return isAmong === (among[2] === undefined);
  }
  const found = /^(\w+)\s*(=|!=|<=|>=|<|>|starts_with)\s*(.*)$/is.exec(text);
  if (!found) throw new Error(`the simulation cannot read the visibility query ${text}`);
  const [, name, sign, given] = found as unknown as [string, string, string, string];
  const wanted = plain(given);
  const values = valuesOf(name, run);
  if (sign === "!=") return !values.includes(wanted);
  return values.some((value) => compare(value, sign.toLowerCase(), wanted));
}

function compare(value: string, sign: string, wanted: string): boolean {
  const order =
    Number.isNaN(Date.parse(wanted)) || /^\d+$/.test(wanted)
      ? Number(value) - Number(wanted)
      : Date.parse(value) - Date.parse(wanted);
  if (sign === "=") return value === wanted;
  if (sign === "starts_with") return value.startsWith(wanted);
  return { "<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0 }[sign]!;
}

const plain = (text: string) => text.trim().replace(/^["']|["']$/g, "");

function valuesOf(name: string, run: Run): string[] {
  const own: Record<string, () => string[]> = {
    WorkflowId: () => [run.id],
    RunId: () => [run.runId],
    WorkflowType: () => [run.type],
    ExecutionStatus: () => [statusOf(run.status)],
    StartTime: () => [new Date(run.startedAt).toISOString()],
    CloseTime: () => (run.closedAt === undefined ? [] : [new Date(run.closedAt).toISOString()]),
    ParentWorkflowId: () => (run.parent ? [run.parent.run.id] : []),
    TemporalReportedProblems: () => [],
  };
  if (own[name]) return own[name]();
  const payload = run.attributes[name];
  if (!payload?.data) return [];
  const value: unknown = JSON.parse(Buffer.from(payload.data).toString());
  return value === null ? [] : [value].flat().map(String);
}

/** Running, Completed … */
function statusOf(status: number): string {
  const word = Status[status]!.slice("WORKFLOW_EXECUTION_STATUS_".length).toLowerCase();
  return word[0]!.toUpperCase() + word.slice(1);
}
