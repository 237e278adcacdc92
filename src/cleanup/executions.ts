// Asks Temporal itself about processes. The visibility store may lag or be empty, so nothing is deleted based on it. It decodes no payload,
// so it needs no key.
import type { Client } from "@temporalio/client";
import { familyOf } from "../contracts/registry.js";
import type { ProcessKey } from "../crypto/data-key.js";
import type { Pool, PoolClient } from "../postgres/pool.js";
import { historyDays } from "../temporal/connection.js";
import { isNotFound } from "../temporal/grpc-status.js";

/** When the newest run has ended; undefined where Temporal does not have it any more. */
export type End = Date | "open" | undefined;

/** A process that is open, or lost: Temporal does not have it, and would have it `until` then, by its newest row and the retention. */
export interface Remaining {
  workflowId: string;
  until?: Date;
}

interface Member {
  end?: Date | undefined;
  remaining?: Remaining;
}

const DAY_MS = 86_400_000;
/** A batch has very many callbacks, and none of them is ever delivered to it. */
const NEWEST_CALLBACKS = 1_000;

export interface FamilyOptions {
  pool: Pool;
  clientFor(namespace: string): Client;
  /** Throws where the namespace is not that of the database; asked once of each, before it is believed. */
  requireOwn?(namespace: string): Promise<void>;
  now?: Date;
}

/**
 * A process belongs to a family (`familyOf`): the result of a parent names the documents of its children. So retention, clean-up and
 * erasure ask about the family, and a process counts as open while one of it is. So does one that is lost: absence proves nothing.
 */
export class Families {
  readonly #pool: Pool;
  readonly #clientFor: (namespace: string) => Client;
  readonly #now: Date;
  readonly #requireOwn: (namespace: string) => Promise<void>;
  readonly #checked = new Map<string, Promise<void>>();
  readonly #historyDays = new Map<string, Promise<number>>();
  /** The processes that were found to be lost. */
  readonly lost = new Set<string>();

  constructor({ pool, clientFor, requireOwn = async () => {}, now = new Date() }: FamilyOptions) {
    this.#pool = pool;
    this.#clientFor = clientFor;
    this.#requireOwn = requireOwn;
    this.#now = now;
  }

  /** One of the family that is open, else one that is lost. */
  async remaining(processKey: ProcessKey): Promise<Remaining | undefined> {
    const found = (await this.#members(processKey)).flatMap(({ remaining = [] }) => remaining);
    return found.find(({ until }) => until === undefined) ?? found[0];
  }

  async isOpen(processKey: ProcessKey): Promise<boolean> {
    return (await this.remaining(processKey)) !== undefined;
  }

  /** Whether Temporal still has the history of one of them. */
  async isKnown(processKey: ProcessKey): Promise<boolean> {
    return (await this.endOf(processKey)) !== undefined;
  }

  /** When the last of them has ended. Those that Temporal does not have any more ended before those that it has. */
  async endOf(processKey: ProcessKey, reader: Pool | PoolClient = this.#pool): Promise<End> {
    const members = await this.#members(processKey, reader);
    if (members.some(({ remaining }) => remaining)) return "open";
    return members
      .flatMap(({ end = [] }) => end)
      .toSorted((one, other) => one.getTime() - other.getTime())
      .at(-1);
  }

  /** One after the other: a transaction has one connection, and another one could wait for its end. */
  async #members(
    { namespace, workflowId }: ProcessKey,
    reader: Pool | PoolClient = this.#pool,
  ): Promise<Member[]> {
    const members: Member[] = [];
    for (const one of familyOf(workflowId))
      members.push(await this.#member({ namespace, workflowId: one }, reader));
    return members;
  }

  async #member(processKey: ProcessKey, reader: Pool | PoolClient): Promise<Member> {
    const { namespace, workflowId } = processKey;
    const isOwn = this.#checked.get(namespace) ?? this.#requireOwn(namespace);
    this.#checked.set(namespace, isOwn);
    await isOwn;
    const client = this.#clientFor(namespace);
    const end = await endOf(client, workflowId);
    if (end === "open") return { remaining: { workflowId } };
    const ranAt = end ? undefined : await lastRow(reader, processKey);
    if (!ranAt) return { end };
    const until = new Date(ranAt.getTime() + (await this.#daysOf(client)) * DAY_MS);
    if (until <= this.#now) return {};
    this.lost.add(workflowId);
    return { remaining: { workflowId, until } };
  }

  #daysOf(client: Client): Promise<number> {
    const { namespace } = client.options;
    const days = this.#historyDays.get(namespace) ?? historyDays(client, namespace);
    this.#historyDays.set(namespace, days);
    return days;
  }
}

/**
 * The newest row that shows that the process ran then. Not those that others write: the withdrawal of a step that was never sent, owners
 * that the clean-up has added, late callbacks. Undefined for one that an erasure has removed.
 */
async function lastRow(
  reader: Pool | PoolClient,
  { namespace, workflowId }: ProcessKey,
): Promise<Date | undefined> {
  const ofProcess = "namespace = $1 and workflow_id = $2";
  const { rows } = await reader.query<{ at: Date | null }>(
    `select greatest(
       (select max(updated_at) from trustflow.effects where ${ofProcess} and provider is not null),
       (select max(owned_at) from trustflow.documents where ${ofProcess} and kind <> 'submitted'),
       (select max(settled_at) from (
          select namespace, state, settled_at from trustflow.callbacks where workflow_id = $2
          order by id desc limit ${NEWEST_CALLBACKS}) newest
        where namespace = $1 and state = 'delivered')) as at
     where not exists (select from trustflow.erasures where ${ofProcess})`,
    [namespace, workflowId],
  );
  return rows[0]?.at ?? undefined;
}

/** Asks about one process alone. A paused one is open. */
export async function endOf(
  {
    workflowService,
    options: { namespace },
  }: Pick<Client, "workflowService"> & { options: { namespace: string } },
  workflowId: string,
): Promise<End> {
  try {
    const execution = { workflowId };
    const described = await workflowService.describeWorkflowExecution({ namespace, execution });
    const { closeTime } = described.workflowExecutionInfo ?? {};
    return closeTime ? new Date(Number(closeTime.seconds) * 1_000) : "open";
  } catch (error) {
    if (!isNotFound(error)) throw error;
    // A missing namespace gives the same error, which says nothing about its processes.
    await workflowService.describeNamespace({ namespace });
    return undefined;
  }
}
