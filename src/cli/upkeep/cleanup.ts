// `trustflow cleanup`: repairs stuck processes and deletes data past its retention period. A schedule should run the repair
// every few minutes and the whole command once a day.
import type { Command } from "commander";
import type { Client } from "@temporalio/client";
import type { Repairs } from "../../cleanup/repair.js";
import type { CleanupReport } from "../../cleanup/cleanup.js";
import { ringOf } from "../../config/config.js";
import { payloadKeys } from "../../config/payload-keys.js";
import type { Config } from "../../config/config.js";
import type { Pool } from "../../postgres/pool.js";
import type { connectClient } from "../../temporal/connection.js";
import { addCommand } from "../command.js";
import { documentStoreOf } from "../../config/document-store.js";
import { withDatabase } from "../context.js";
import { countsByKind, facts, writeAnswer, writeNote } from "../output/output.js";
import { requireTemporal } from "../../roles/temporal.js";
import { terminal } from "../output/terminal.js";
import { replayOptions } from "./replay.js";

interface CleanupFlags {
  dryRun?: boolean;
  repairOnly?: boolean;
  json?: boolean;
}

export function addCleanup(program: Command): void {
  addCommand(program, "cleanup", {
    summary: "repair stuck processes and delete data past its retention period",
    details: `If the workflow tasks of a process have failed for stuck.repairAfterSeconds, the process is reset once to its last good
workflow task; no effect happens twice.
Callback bodies and the tokens in them are deleted after retention.inboxDays, those of parked callbacks after
retention.parkedDays, and rows of the journal and the inbox after retention.journalDays. Unused uploads go into quarantine
after retention.documentOrphanDays ("trustflow documents quarantine") and are deleted retention.quarantineDays later. The
documents of a finished process are deleted after the period of their kind, if retention.documents sets one. Nothing of an
open process is deleted, except what a killed worker left: unfinished files, and archive parts that are in no archive, a
day later.`,
    example: "trustflow cleanup --dry-run",
  })
    .option("--dry-run", "only count; delete and repair nothing")
    .option("--repair-only", "only repair stuck processes")
    .action(({ json, ...flags }: CleanupFlags) =>
      withOwnTemporal(async ({ temporal, requireOwn, pool, config }) => {
        const repairs = await repair(temporal, pool, config, flags);
        if (flags.repairOnly) {
          const answer = { dryRun: flags.dryRun ?? false, ...repairs };
          return writeAnswer(json, answer, facts(repairLines(repairs)));
        }
        const report = await retain({ temporal, requireOwn, pool, config }, flags);
        for (const note of report.notes) writeNote(terminal`${note}`);
        const text = facts([...repairLines(repairs), ...retentionLines(report)]);
        writeAnswer(json, { ...report, ...repairs }, text);
      }),
    );
}

type Temporal = Awaited<ReturnType<typeof connectClient>>;

/** A command that deletes or resets needs the database, and the Temporal whose configured namespace belongs to it. */
export interface OwnTemporal {
  temporal: Temporal;
  /** Throws where another namespace is not that of the database. */
  requireOwn(namespace: string): Promise<void>;
  pool: Pool;
  config: Config;
}

export function withOwnTemporal(work: (temporal: OwnTemporal) => Promise<void>): Promise<void> {
  return withDatabase(async (pool, config) => {
    await requireTemporal();
    const { connectClient } = await import("../../temporal/connection.js");
    const { requireOwnNamespace } = await import("../../cleanup/own-namespaces.js");
    const { ring, writeRing } = payloadKeys(config);
    const temporal = await connectClient(ring, { writeRing });
    const requireOwn = (namespace: string) =>
      requireOwnNamespace(pool, temporal.connection, namespace);
    try {
      await requireOwn(temporal.namespace);
      await work({ temporal, requireOwn, pool, config });
    } finally {
      await temporal.close();
    }
  });
}

/** Returns clients for other namespaces over the same connection. */
export async function clientsOf({
  client,
  connection,
  namespace,
}: Temporal): Promise<(namespace: string) => Client> {
  const { Client: TemporalClient } = await import("@temporalio/client");
  return (other) =>
    other === namespace ? client : new TemporalClient({ connection, namespace: other });
}

/** One clean-up repairs at a time. */
async function repair(
  { client, namespace }: Temporal,
  pool: Pool,
  config: Config,
  { dryRun = false }: CleanupFlags,
): Promise<Repairs> {
  const { repairStuck } = await import("../../cleanup/repair.js");
  const { connectionWithoutRetries } = await import("../../temporal/connection.js");
  const { SoleHolder } = await import("../../postgres/sole-holder.js");
  const repairing = new SoleHolder(pool, `repair of stuck processes of ${namespace}`);
  const withoutRetries = connectionWithoutRetries();
  let replay: ReturnType<typeof replayOptions> | undefined;
  try {
    return await repairStuck({
      ...{ client, withoutRetries, dryRun },
      mayReset: () => repairing.isHeld(),
      afterSeconds: config.stuck.repairAfterSeconds,
      replay: () => (replay ??= replayOptions(config)),
    });
  } finally {
    repairing.close();
    await withoutRetries.close();
  }
}

export async function retain(
  { temporal, requireOwn, pool, config }: OwnTemporal,
  { dryRun = false }: CleanupFlags,
): Promise<CleanupReport> {
  const { cleanUp } = await import("../../cleanup/cleanup.js");
  const { namespacesOf } = await import("../../cleanup/own-namespaces.js");
  const { requireOwnStore } = await import("../../cleanup/own-store.js");
  for (const namespace of await namespacesOf(pool, temporal.namespace)) await requireOwn(namespace);
  const hasStore = config.documents.directory !== undefined && config.keys.documents !== undefined;
  const documents = hasStore ? documentStoreOf(config) : undefined;
  if (documents) await requireOwnStore(pool, documents);
  return cleanUp({
    retention: config.retention,
    pool,
    codecRing: ringOf(config, "codec"),
    ...(documents && { documents }),
    namespace: temporal.namespace,
    clientFor: await clientsOf(temporal),
    requireOwn,
    dryRun,
  });
}

function repairLines({ repaired, left }: Repairs): [string, string][] {
  return [
    ["repaired", [repaired.length, ...repaired].join(" ")],
    ...left.map(({ id, why }): [string, string] => ["still stuck", `${id}: ${why}`]),
  ];
}

function retentionLines({ documents, ...report }: CleanupReport): [string, string][] {
  return [
    ["inbox bodies", String(report.inboxBodies)],
    ["bodies of erased processes", String(report.erasedBodies)],
    ["parked bodies", String(report.parkedBodies)],
    ["inbox rows", String(report.inboxRows)],
    ["journal rows", String(report.journalRows)],
    [
      "documents",
      documents.skipped ??
        `${documents.removed} (${documents.quarantined} more moved into quarantine)`,
    ],
    ["expired documents", countsByKind(report.expired)],
    ["unfinished files", String(report.unfinishedFiles)],
    ["unused archive parts", String(report.archiveParts)],
    ["removed", report.dryRun ? "nothing: --dry-run" : "as counted"],
  ];
}
