// `trustflow documents quarantine|release`: lists and releases unused uploads before they are deleted (docs/decisions/0018).
import type { Command } from "commander";
import { documentIdOf, uriOf } from "../../documents/document-id.js";
import type { Pool } from "../../postgres/pool.js";
import { addCommand } from "../command.js";
import { refuseMisspelt, withDatabase } from "../context.js";
import { terminal } from "../output/terminal.js";
import { CommandError, exitCodes } from "../output/exit.js";
import { writeData, writeJson, writeNote, writeTable } from "../output/output.js";

interface Flags {
  json?: boolean;
}

const DAY_MS = 86_400_000;

export function addQuarantine(documents: Command): void {
  addCommand(documents, "quarantine", {
    summary: "list unused uploads before they are deleted",
    details: `They can still be read. A document leaves quarantine when a process uses it or "trustflow documents release" names it.`,
    example: "trustflow documents quarantine --json",
  }).action((flags: Flags) =>
    withDatabase((pool, { retention }) => list(pool, retention.quarantineDays, flags)),
  );
  addCommand(documents, "release <uri...>", {
    summary: "take documents out of quarantine permanently",
    arguments: { uri: 'document:…, as "documents quarantine" shows it' },
    details:
      "They stay in the store and never go into quarantine again. Ends with 3 if one is not in quarantine.",
    example: "trustflow documents release document:0123456789abcdef0123456789abcdef",
  }).action((uris: string[], flags: Flags) => {
    refuseMisspelt(uris);
    return withDatabase((pool) => takeOut(pool, uris, flags));
  });
}

async function list(pool: Pool, days: number, { json }: Flags): Promise<void> {
  const { quarantined } = await import("../../cleanup/quarantine.js");
  const found = (await quarantined(pool)).map(({ id, storedAt, quarantinedAt }) => ({
    uri: uriOf(id),
    storedAt: storedAt.toISOString(),
    quarantinedAt: quarantinedAt.toISOString(),
    removedFrom: new Date(quarantinedAt.getTime() + days * DAY_MS).toISOString(),
  }));
  if (json) return writeJson(found);
  if (found.length === 0) return writeNote(terminal`no document is in quarantine`);
  const rows = found.map((one) => Object.values(one));
  writeTable(["URI", "STORED", "IN QUARANTINE SINCE", "REMOVED FROM"], rows);
}

async function takeOut(pool: Pool, uris: string[], { json }: Flags): Promise<void> {
  const { release } = await import("../../cleanup/quarantine.js");
  const released = (await release(pool, uris.map(documentIdOf))).map(uriOf);
  if (json) writeJson({ released });
  else for (const uri of released) writeData(terminal`${uri}`);
  const missing = uris.filter((uri) => !released.includes(uri));
  if (missing.length > 0)
    throw new CommandError(exitCodes.unknownId, `${missing.join(", ")}: not in quarantine`);
}
