// `trustflow migrate`: updates the tables and the namespace's search attributes before a release starts.
import { Option, type Command } from "commander";
import { loadWithAccounts } from "../../providers/accounts.js";
import type { Pool } from "../../postgres/pool.js";
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
  acceptNamespace?: boolean;
  json?: boolean;
}

interface Migrated {
  migrations?: string[];
  /** The database roles that received their rights. */
  granted?: string[];
  namespace?: string;
  createdNamespace?: boolean;
  /** Those that the database notes now as its own. */
  notedNamespaces?: string[];
  searchAttributes?: string[];
}

const ALREADY_EXISTS = 6;
const INSUFFICIENT_PRIVILEGE = "42501";
const NAMESPACE_SETTLES_MS = 30_000;

export function addMigrate(program: Command): void {
  addCommand(program, "migrate", {
    summary: "update the database and the Temporal namespace to this release",
    details: `Only adds what is missing. You can run it again, and from several places at once.
It also notes in the database which namespace of Temporal belongs to it: "cleanup" and "erase" refuse every other one. So one run has to
reach both.`,
    example: "trustflow migrate\ntrustflow migrate --create-namespace 90",
  })
    .addOption(
      new Option("--database-only", "only update the database").conflicts([
        "temporalOnly",
        "acceptNamespace",
        "createNamespace",
      ]),
    )
    .addOption(
      new Option("--temporal-only", "only update the Temporal namespace").conflicts(
        "acceptNamespace",
      ),
    )
    .option(
      "--create-namespace <days>",
      "create the namespace if it is missing, with this history retention in days",
      wholeNumber(1),
    )
    .option(
      "--accept-namespace",
      "note the namespace although the database belongs to another one: only after Temporal was set up anew",
    )
    .action(async ({ json, ...options }: MigrateOptions) => {
      const { databaseOnly, temporalOnly } = options;
      const done: Migrated = {
        ...(temporalOnly ? {} : await migrateDatabase()),
        ...(databaseOnly ? {} : await migrateTemporal(options)),
      };
      if (json) return writeJson(done);
      if (done.migrations) writeNote(terminal`Database: ${listed(done.migrations, "up to date")}`);
      if (done.granted) writeNote(terminal`Database roles: ${grantedTo(done.granted)}`);
      if (done.namespace !== undefined) {
        const created = done.createdNamespace ? "created; " : "";
        writeNote(
          terminal`Namespace ${done.namespace}: ${created}${listed(done.searchAttributes, "up to date")}`,
        );
        for (const noted of done.notedNamespaces ?? [])
          writeNote(terminal`Namespace ${noted}: noted as the one of this database`);
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
  const { migrate } = await import("../../postgres/migrate.js");
  const { grantRoles } = await import("../../postgres/grants.js");
  return asOwner(async (pool) => ({
    migrations: await migrate(pool),
    granted: await grantRoles(pool),
  }));
}

async function asOwner<T>(work: (pool: Pool) => Promise<T>): Promise<T> {
  const pool = await openPool(loadWithAccounts(), "trustflow-migrate");
  try {
    await withReachableDatabase(() => pool.query("select 1"));
    return await work(pool);
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

async function migrateTemporal({
  createNamespace: retentionDays,
  temporalOnly,
  acceptNamespace = false,
}: MigrateOptions): Promise<Migrated> {
  const { connectPlain } = await import("../../roles/temporal.js");
  const { missingSearchAttributes, registerSearchAttributes } =
    await import("../../temporal/visibility/search-attributes.js");
  const { connection, namespace } = await connectPlain();
  try {
    const createdNamespace =
      retentionDays !== undefined && (await createNamespace(connection, namespace, retentionDays));
    const { noteNamespaces } = await import("../../cleanup/own-namespaces.js");
    const notedNamespaces = temporalOnly
      ? []
      : await asOwner((pool) => noteNamespaces(pool, connection, namespace, acceptNamespace));
    const missing = await missingSearchAttributes(connection, namespace);
    await registerSearchAttributes(connection, namespace);
    return {
      namespace,
      ...(createdNamespace && { createdNamespace }),
      ...(notedNamespaces.length > 0 && { notedNamespaces }),
      searchAttributes: missing,
    };
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
