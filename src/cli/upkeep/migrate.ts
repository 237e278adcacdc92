// `trustflow migrate`: updates the tables and the namespace's search attributes before a release starts.
import type { Command } from "commander";
import { loadConfig } from "../../config.js";
import { databaseRoles, loginOf } from "../../postgres/roles.js";
import { addCommand, wholeNumber } from "../command.js";
import { CommandError, exitCodes } from "../output/exit.js";
import { writeJson, writeNote } from "../output/output.js";
import { terminal } from "../output/terminal.js";
import { openPool, withReachableDatabase } from "../../roles/database.js";

interface MigrateOptions {
  databaseOnly?: boolean;
  temporalOnly?: boolean;
  createNamespace?: number;
  json?: boolean;
}

interface Migrated {
  migrations?: string[];
  /** The database roles that received their rights. */
  granted?: string[];
  namespace?: string;
  createdNamespace?: boolean;
  searchAttributes?: string[];
}

const ALREADY_EXISTS = 6;
/** The error code of PostgreSQL. */
const INSUFFICIENT_PRIVILEGE = "42501";
const NAMESPACE_SETTLES_MS = 30_000;

export function addMigrate(program: Command): void {
  addCommand(program, "migrate", {
    summary: "update the database and the Temporal namespace to this release",
    details: "Only adds what is missing. You can run it again, and from several places at once.",
    example: "trustflow migrate\ntrustflow migrate --create-namespace 90",
  })
    .option("--database-only", "only update the database")
    .option("--temporal-only", "only update the Temporal namespace")
    .option(
      "--create-namespace <days>",
      "create the namespace if it is missing, with this history retention in days",
      wholeNumber(1),
    )
    .action(async ({ json, databaseOnly, temporalOnly, createNamespace }: MigrateOptions) => {
      if (databaseOnly && temporalOnly) {
        throw new CommandError(
          exitCodes.invalid,
          "--database-only and --temporal-only cannot be used together",
        );
      }
      const done: Migrated = {
        ...(temporalOnly ? {} : await migrateDatabase()),
        ...(databaseOnly ? {} : await migrateTemporal(createNamespace)),
      };
      if (json) return writeJson(done);
      if (done.migrations) writeNote(terminal`Database: ${listed(done.migrations, "up to date")}`);
      if (done.granted) writeNote(terminal`Database roles: ${grantedTo(done.granted)}`);
      if (done.namespace !== undefined) {
        const created = done.createdNamespace ? "created; " : "";
        writeNote(
          terminal`Namespace ${done.namespace}: ${created}${listed(done.searchAttributes, "up to date")}`,
        );
      }
    });
}

function listed(added: string[] = [], otherwise: string): string {
  return added.length > 0 ? `added ${added.join(", ")}` : otherwise;
}

function grantedTo(granted: string[]): string {
  const without = databaseRoles.filter((role) => !granted.includes(role));
  if (without.length === 0) return "granted";
  return `missing: ${without.map(loginOf).join(", ")}; their roles connect as the owner`;
}

async function migrateDatabase(): Promise<Migrated> {
  const pool = await openPool(loadConfig(), "trustflow-migrate");
  const { migrate } = await import("../../postgres/migrate.js");
  const { grantRoles } = await import("../../postgres/grants.js");
  try {
    await withReachableDatabase(() => pool.query("select 1"));
    return { migrations: await migrate(pool), granted: await grantRoles(pool) };
  } catch (error) {
    const { code, message } = error as { code?: unknown; message: string };
    if (code !== INSUFFICIENT_PRIVILEGE) throw error;
    throw new CommandError(
      exitCodes.unreachable,
      `${message}: migrate needs the URL of the owner of the tables`,
    );
  } finally {
    await pool.end();
  }
}

async function migrateTemporal(retentionDays?: number): Promise<Migrated> {
  const { connectPlain } = await import("../../roles/temporal.js");
  const { missingSearchAttributes, registerSearchAttributes } =
    await import("../../temporal/visibility/search-attributes.js");
  const { connection, namespace } = await connectPlain();
  try {
    const createdNamespace =
      retentionDays !== undefined && (await createNamespace(connection, namespace, retentionDays));
    const missing = await missingSearchAttributes(connection, namespace);
    await registerSearchAttributes(connection, namespace);
    return { namespace, ...(createdNamespace && { createdNamespace }), searchAttributes: missing };
  } finally {
    await connection.close();
  }
}

type Connection = Awaited<
  ReturnType<typeof import("../../roles/temporal.js").connectPlain>
>["connection"];

async function createNamespace(
  connection: Connection,
  namespace: string,
  retentionDays: number,
): Promise<boolean> {
  try {
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: { seconds: retentionDays * 86_400 } as never,
    });
  } catch (error) {
    if ((error as { code?: unknown }).code === ALREADY_EXISTS) return false;
    throw error;
  }
  // The server's caches show a new namespace only after a moment.
  for (const deadline = Date.now() + NAMESPACE_SETTLES_MS; ;) {
    try {
      await connection.workflowService.countWorkflowExecutions({ namespace, query: "" });
      return true;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}
