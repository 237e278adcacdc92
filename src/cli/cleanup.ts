// `trustflow cleanup`: applies the retention of the configuration; meant for a daily schedule.
import type { Command } from "commander";
import type { Client } from "@temporalio/client";
import { ringOf } from "../config.js";
import { addCommand } from "./command.js";
import { withDatabase } from "./context.js";
import { facts, writeData, writeJson, writeNote } from "./output.js";
import { documentStoreOf } from "./parts.js";
import { temporalInReach } from "./temporal.js";

export function addCleanup(program: Command): void {
  addCommand(program, "cleanup", {
    summary: "remove what the retention lets go of",
    details: `Inbox bodies after retention.inboxDays, parked ones after retention.parkedDays, journal and inbox rows
after retention.journalDays, documents that no process got after retention.documentOrphanDays. Nothing of an open process is removed.`,
    example: "trustflow cleanup --dry-run",
  })
    .option("--dry-run", "only count")
    .action(({ dryRun = false, json }: { dryRun?: boolean; json?: boolean }) =>
      withDatabase(async (pool, config) => {
        await temporalInReach();
        const { cleanUp } = await import("../cleanup.js");
        const { connectClient } = await import("../temporal/connection.js");
        const { Client: TemporalClient } = await import("@temporalio/client");
        const codecRing = ringOf(config, "codec");
        const { connection, namespace, client, close } = await connectClient(codecRing);
        const hasStore =
          config.documents.directory !== undefined && config.keys.documents !== undefined;
        try {
          const report = await cleanUp({
            retention: config.retention,
            pool,
            journalRing: ringOf(config, "journal"),
            codecRing,
            ...(hasStore && { documents: documentStoreOf(config) }),
            namespace,
            clientFor: (other): Client =>
              other === namespace ? client : new TemporalClient({ connection, namespace: other }),
            dryRun,
          });
          for (const note of report.notes) writeNote(note);
          if (json) return writeJson(report);
          const { inboxBodies, parkedBodies, inboxRows, journalRows, documents } = report;
          writeData(
            facts([
              ["inbox bodies", String(inboxBodies)],
              ["parked bodies", String(parkedBodies)],
              ["inbox rows", String(inboxRows)],
              ["journal rows", String(journalRows)],
              [
                "documents",
                documents.skipped ?? `${documents.removed} (${documents.inUse} in use)`,
              ],
              ["removed", dryRun ? "nothing: --dry-run" : "as counted"],
            ]),
          );
        } finally {
          await close();
        }
      }),
    );
}
