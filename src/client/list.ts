// Lists processes as Temporal's visibility shows them. What visibility knows is asked there; the rest is filtered and sorted here.
import { isDate } from "node:util/types";
import { WorkflowNotFoundError } from "@temporalio/client";
import type { Client, WorkflowExecutionInfo } from "@temporalio/client";
import { parseWorkflowId, processes } from "../contracts/registry.js";
import type { ProcessName } from "../contracts/registry.js";
import { searchAttributes } from "../contracts/shared/names.js";
import type { ProposedDecision } from "../contracts/shared/names.js";
import { attentionKinds } from "../contracts/shared/failures.js";
import { Phase } from "../contracts/shared/status.js";
import type { ProcessStatus, RetriedCall } from "../contracts/shared/status.js";
import { proposalsOf, statusOf } from "../temporal/visibility/memo.js";
import { openCallsIn } from "../temporal/visibility/open-calls.js";
import { describe } from "../temporal/visibility/process-status.js";
import { isOpenState, isRunning, ofTypes } from "../temporal/visibility/query.js";
import { candidatesQuery, filterStuck, someAtOnce } from "../temporal/visibility/stuck.js";
import type { Stuck } from "../temporal/visibility/stuck.js";
import { pageWithoutMemos, withoutMemos } from "../temporal/visibility/without-memos.js";
import { wrongArgument } from "../errors/arguments.js";
import { refuseUnlessKnown, refuseUnlessText, unknownMember } from "./arguments.js";
import { listedStates, listMembers, sortKeys, states } from "./list-request.js";
import type { ListFilter, ListOrder, OneOrMore, PageRequest, SortKey } from "./list-request.js";
import { retriesIn } from "./retries.js";

/** A process as the visibility store shows it, without a query to the process. */
export interface ListedProcess {
  /** The name of the process. */
  process: ProcessName;
  /** The business id. */
  id: string;
  /** `<process>/<business id>`. */
  workflowId: string;
  /** Temporal's status: RUNNING, COMPLETED, FAILED, TERMINATED … */
  state: string;
  /** When it was started, RFC 3339 in UTC. */
  startedAt: string;
  /** Where the process stands now. */
  phase?: string;
  /** How it ended. */
  outcome?: string;
  /** The kind of its attention: it needs an operator decision. */
  attention?: string;
  /** Why an open process needs an operator decision; several if it has several attentions. */
  reasons?: string[];
  /** The configured account. */
  account?: string;
  /** The provider's ids. */
  references?: string[];
  /** When its wait ends in any case, RFC 3339 in UTC. */
  deadline?: string;
  /** Decisions that wait for a second operator. */
  proposals?: ProposedDecision[];
  /** Only present with `retrying`: the calls that failed and are made again. */
  retrying?: RetriedCall[];
  /** Only present with `stuck`. */
  stuck?: Stuck;
}

/** One page of a list. */
export interface ListPage {
  /** At most as many as the request's `limit`. */
  processes: ListedProcess[];
  /** The cursor of the next page; absent on the last one. */
  next?: string;
  /** Present if Temporal could not do all of the filter or of the order: how many processes were read for it. */
  read?: number;
}

/** A filter and an order as they are carried out. `query`: what Temporal's visibility does of it. */
interface Plan extends ListOrder, Pick<ListFilter, "reason" | "retrying" | "stuck"> {
  query: string;
}

/** A process in a sorted list: its value, or null, and what tells it from others with the same value. */
type Place = [value: string | null, ...others: string[]];

/** Where a page begins: at a page of Temporal's, or after a process of a sorted list. */
interface Position {
  token?: string;
  after?: Place;
}

/** The most that Temporal lists at once. */
const MAX_PAGE = 1_000;

export async function* rowsOf(client: Client, filter: ListFilter): AsyncIterable<ListedProcess> {
  if ("sort" in filter) throw wrongArgument("filter.sort", "is for listPage: a list is not sorted");
  const plan = await planOf(client, filter);
  const isWanted = wantedBy(plan);
  for await (const one of rowsIn(client, plan)) if (isWanted(one)) yield one;
}

export async function pageOf(client: Client, request: PageRequest): Promise<ListPage> {
  const { limit, cursor, ...wanted } = request as PageRequest & { cursor?: string };
  if (!(Number.isInteger(limit) && limit > 0))
    throw wrongArgument("limit", "must be a whole number from 1");
  const { plan, position } =
    cursor === undefined
      ? { plan: await planOf(client, wanted), position: {} }
      : readCursor(cursor, wanted);
  return plan.sort === undefined
    ? pageOfTemporal(client, plan, position, limit)
    : sortedPage(client, plan, position, limit);
}

/** The values that a member of the filter may have. */
const words = {
  process: processes,
  state: listedStates,
  kind: attentionKinds,
  phase: Phase.options,
};

/** What visibility can say of the filter, as its query. */
export function queryOf(filter: ListFilter): string {
  const { attention, outcome, phase, account, deadline } = searchAttributes;
  const { state, kind, reason } = filter;
  for (const [member, known] of Object.entries(words))
    for (const value of listOf<unknown>(filter[member as keyof typeof words]))
      refuseUnlessKnown(value, known, `filter.${member}`);
  if (reason !== undefined) refuseUnlessText(reason, "filter.reason");
  const needsDecision = filter.attention || kind !== undefined || reason !== undefined;
  // A process has no phase before its first step.
  const isNew = listOf(filter.phase).includes("submitting")
    ? ` OR (${phase.name} IS NULL AND ${isRunning})`
    : "";
  const terms = [
    ofTypes(filter.process ? [filter.process] : processes),
    ...(needsDecision ? [`${attention.name} IS NOT NULL`, isRunning] : []),
    ...isOneOf(
      "ExecutionStatus",
      listOf(state).map((one) => states[one]),
      "state",
    ),
    ...isOneOf(outcome.name, filter.outcome, "outcome"),
    ...isOneOf(phase.name, filter.phase, "phase").map((term) => `(${term}${isNew})`),
    ...isOneOf(attention.name, kind, "kind"),
    ...isOneOf(account.name, filter.account, "account"),
    ...compared("StartTime", "<", filter, "startedBefore"),
    ...compared("StartTime", ">=", filter, "startedAfter"),
    ...compared(deadline.name, "<", filter, "deadlineBefore"),
    ...compared(deadline.name, ">=", filter, "deadlineAfter"),
  ];
  return terms.join(" AND ");
}

function listOf<T>(given: OneOrMore<T> | undefined): readonly T[] {
  if (given === undefined) return [];
  return Array.isArray(given) ? given : [given as T];
}

function isOneOf(
  name: string,
  given: OneOrMore<string> | undefined,
  member: keyof ListFilter,
): string[] {
  const values = listOf(given);
  if (values.length === 0) return [];
  if (values.some((value) => /["\\]/.test(value)))
    throw wrongArgument(`filter.${member}`, "must have no quotation mark and no backslash");
  return [`${name} IN (${values.map((value) => `"${value}"`).join(", ")})`];
}

function compared(
  name: string,
  by: "<" | ">=",
  filter: ListFilter,
  member: "startedBefore" | "startedAfter" | "deadlineBefore" | "deadlineAfter",
): string[] {
  const time = filter[member];
  if (!time) return [];
  if (!isDate(time) || Number.isNaN(time.getTime()))
    throw wrongArgument(`filter.${member}`, "must be a valid Date");
  return [`${name} ${by} "${time.toISOString()}"`];
}

async function planOf(client: Client, filter: ListFilter & ListOrder): Promise<Plan> {
  const { reason, retrying, stuck, sort, reverse } = filter;
  const unknown = unknownMember(filter, listMembers, "filter");
  if (unknown) throw unknown;
  if (reverse && sort === undefined) throw wrongArgument("reverse", "can only be used with sort");
  if (sort !== undefined) refuseUnlessKnown(sort, sortKeys, "sort");
  const { connection, options } = client;
  const where = { connection, namespace: options.namespace };
  const query = queryOf(filter);
  // The pages of Temporal do not fit what is filtered here.
  const newestFirst =
    stuck || reason !== undefined ? ({ sort: "started", reverse: true } as const) : {};
  return {
    query: stuck ? `${await candidatesQuery(where)} AND ${query}` : query,
    ...(reason !== undefined && { reason }),
    ...(retrying && { retrying }),
    ...(stuck && { stuck }),
    ...(sort ? { sort, ...(reverse && { reverse }) } : newestFirst),
  };
}

async function* rowsIn(client: Client, plan: Plan): AsyncIterable<ListedProcess> {
  const { connection, options } = client;
  const found = withoutMemos(client).list({ query: plan.query });
  if (plan.stuck) {
    const where = { connection, namespace: options.namespace };
    for await (const { execution, stuck } of filterStuck(where, found))
      for (const one of await listed(client, execution)) yield { ...one, stuck };
    return;
  }
  const look = (info: WorkflowExecutionInfo) => listed(client, info, plan.retrying);
  for await (const rows of someAtOnce(found, look)) yield* rows;
}

function wantedBy({ reason }: Plan): (one: ListedProcess) => boolean {
  if (reason === undefined) return () => true;
  const text = reason.toLowerCase();
  return ({ reasons = [] }) => reasons.some((one) => one.toLowerCase().includes(text));
}

/** Goes on where the page before has ended, whatever has begun since. */
async function pageOfTemporal(
  client: Client,
  plan: Plan,
  position: Position,
  limit: number,
): Promise<ListPage> {
  const take = (pageSize: number, token: Uint8Array) =>
    pageWithoutMemos(client, { query: plan.query, pageSize, token });
  const look = (info: WorkflowExecutionInfo) => listed(client, info, plan.retrying);
  let token: Uint8Array = Buffer.from(position.token ?? "", "base64url");
  const found: ListedProcess[] = [];
  do {
    const page = await take(Math.min(MAX_PAGE, limit - found.length), token);
    for await (const rows of someAtOnce(page.executions, look)) found.push(...rows);
    token = page.next;
  } while (token.length > 0 && found.length < limit);
  // Temporal names a next page also where it would be empty.
  const isLast = token.length === 0 || (await take(1, token)).executions.length === 0;
  const next = { token: Buffer.from(token).toString("base64url") };
  return { processes: found, ...(!isLast && { next: cursorOf(plan, next) }) };
}

/** Reads all, and keeps no more than it shows. Only of these it asks for the calls that are made again. */
async function sortedPage(
  client: Client,
  plan: Plan,
  { after }: Position,
  limit: number,
): Promise<ListPage> {
  const order = (one: Place, other: Place) => compare(one, other, plan.reverse);
  let kept: [Place, ListedProcess][] = [];
  let [read, more] = [0, false];
  const keepFirst = () => {
    kept = kept.toSorted(([one], [other]) => order(one, other)).slice(0, limit);
  };
  const isWanted = wantedBy(plan);
  for await (const one of rowsIn(client, { ...plan, retrying: false })) {
    read += 1;
    if (!isWanted(one)) continue;
    const place = placeOf(one, plan.sort);
    if (after && order(place, after) <= 0) continue;
    kept.push([place, one]);
    more ||= kept.length > limit;
    if (kept.length > 2 * limit) keepFirst();
  }
  keepFirst();
  const [last] = kept.at(-1) ?? [];
  const next = more && last ? { next: cursorOf(plan, { after: last }) } : {};
  const rows: ListedProcess[] = [];
  const look = async ([, one]: [Place, ListedProcess]) =>
    plan.retrying ? withRetries(client, one) : one;
  for await (const one of someAtOnce(kept, look)) rows.push(one);
  return { processes: rows, ...next, read };
}

async function withRetries(client: Client, one: ListedProcess): Promise<ListedProcess> {
  const retrying = await retriesOf(client, one.workflowId, one.state);
  return { ...one, ...(retrying && { retrying }) };
}

function placeOf(one: ListedProcess, sort: SortKey = "started"): Place {
  const { workflowId, startedAt } = one;
  const value = { ...one, id: workflowId, started: startedAt }[sort];
  return [value ?? null, workflowId, startedAt];
}

function compare([one, ...more]: Place, [other, ...others]: Place, reverse = false): number {
  if (one === null || other === null) {
    if (one !== other) return one === null ? 1 : -1;
  } else if (one !== other) return one < other === reverse ? 1 : -1;
  const [mine, theirs] = [more.join("\n"), others.join("\n")];
  return mine === theirs ? 0 : mine < theirs ? -1 : 1;
}

function cursorOf(plan: Plan, position: Position): string {
  return Buffer.from(JSON.stringify({ plan, position })).toString("base64url");
}

function readCursor(cursor: string, others: object): { plan: Plan; position: Position } {
  if (Object.values(others).some((value) => value !== undefined))
    throw wrongArgument("cursor", "has the filter and the order: no other goes with it");
  try {
    const { plan, position } = JSON.parse(Buffer.from(cursor, "base64url").toString()) as {
      plan: Plan;
      position: Position;
    };
    if (typeof plan.query === "string" && typeof position === "object") return { plan, position };
  } catch {
    // Said below.
  }
  throw wrongArgument("cursor", "is not the cursor of a list");
}

/** Empty if it is not a process of Trustflow. */
async function listed(
  client: Client,
  info: WorkflowExecutionInfo,
  retrying = false,
): Promise<ListedProcess[]> {
  const parsed = parseWorkflowId(info.workflowId);
  if (!parsed) return [];
  const attribute = info.typedSearchAttributes;
  const attention = attribute.get(searchAttributes.attention);
  const isOpen = isOpenState(info.status.name);
  // The search attributes have the phase of the last time that they were set.
  const noted = isOpen ? await statusOf(client, info) : undefined;
  const found = {
    phase: noted?.phase ?? attribute.get(searchAttributes.phase),
    outcome: attribute.get(searchAttributes.outcome),
    attention,
    reasons: attention === undefined ? undefined : reasonsIn(noted),
    account: attribute.get(searchAttributes.account),
    references: attribute.get(searchAttributes.references),
    deadline: attribute.get(searchAttributes.deadline)?.toISOString(),
    proposals: await proposalsOf(client, info),
    retrying: retrying ? await retriesOf(client, info.workflowId, info.status.name) : undefined,
  };
  return [
    {
      ...parsed,
      workflowId: info.workflowId,
      state: info.status.name,
      startedAt: info.startTime.toISOString(),
      ...Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined)),
    },
  ];
}

/** Undefined where nothing is left to decide, and where the memo is not the process's own. */
function reasonsIn({ attention, moreAttentions = [] }: Partial<ProcessStatus> = {}) {
  return attention && [attention, ...moreAttentions].map(({ reason }) => reason);
}

/** Undefined where no call is made again, and of a process that is gone since it was listed. */
async function retriesOf(client: Client, workflowId: string, state: string) {
  if (!isOpenState(state)) return undefined;
  try {
    const described = await describe(client, workflowId);
    const found = retriesIn(await openCallsIn(client, described));
    return found.length > 0 ? found : undefined;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}
