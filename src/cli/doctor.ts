// `trustflow doctor`: whether this configuration works from here. Shows names and key ids, never a secret.
import { constants } from "node:fs";
import { access, mkdir } from "node:fs/promises";
import type { Command } from "commander";
import { ConfigurationError, loadConfig, required, ringOf } from "../config.js";
import type { Config } from "../config.js";
import { addCommand } from "./command.js";
import { CommandError, exitCodes } from "./exit.js";
import { paint, printable, writeData, writeJson } from "./output.js";
import { openMigratedPool } from "./parts.js";

interface Check {
  check: string;
  ok: boolean;
  detail: string;
}

export function addDoctor(program: Command): void {
  addCommand(program, "doctor", {
    summary: "check the configuration, and what it points to",
    details:
      "Ends with 4 where something is missing or out of reach. No provider is called, no secret is shown.",
    example: "trustflow doctor",
  }).action(async ({ json }: { json?: boolean }) => {
    const checks = await examine();
    const ok = checks.every((check) => check.ok);
    const environment = checks.find(({ check }) => check === "environment")?.detail;
    if (json) writeJson({ ok, environment, checks });
    else writeData(checks.map(lineOf).join("\n"));
    if (!ok) process.exitCode = exitCodes.outOfReach;
  });
}

async function examine(): Promise<Check[]> {
  const node = await checked("node", async () => process.version);
  let config: Config;
  try {
    config = loadConfig();
  } catch (error) {
    return [node, { check: "configuration", ok: false, detail: (error as Error).message }];
  }
  const keys = (["codec", "callback", "journal", "documents"] as const).map((name) =>
    checked(`key ring ${name}`, async () => `active key ${ringOf(config, name).active.id}`),
  );
  return [
    node,
    ...(await Promise.all([
      checked("environment", async () => required(config.environment, "environment")),
      ...keys,
      checked("accounts", async () => accountsOf(config)),
      checked("callback address", async () =>
        required(config.callbacks.publicUrl, "callbacks.publicUrl"),
      ),
      checked("document store", () => documentStore(config)),
      checked("database", () => database(config)),
      checked("temporal", temporal),
    ])),
  ];
}

async function checked(check: string, work: () => Promise<string>): Promise<Check> {
  try {
    return { check, ok: true, detail: await work() };
  } catch (error) {
    return { check, ok: false, detail: (error as Error).message };
  }
}

function accountsOf({ accounts }: Config): string {
  const known = Object.entries(accounts).flatMap(([name, providers]) => {
    const { "evi-post": account } = providers;
    return account ? [`${name} (evi-post at ${new URL(account.baseUrl).host})`] : [];
  });
  if (known.length === 0)
    throw new ConfigurationError("Configuration: accounts: none is configured");
  return known.join(", ");
}

async function documentStore({ documents }: Config): Promise<string> {
  const directory = required(documents.directory, "documents.directory");
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await access(directory, constants.R_OK | constants.W_OK);
  return `directory ${directory}`;
}

async function database(config: Config): Promise<string> {
  const pool = await openMigratedPool(config, "doctor");
  try {
    const { rows } = await pool.query<{ server_version: string }>("show server_version");
    return `PostgreSQL ${rows[0]?.server_version ?? "?"}, all migrations applied`;
  } finally {
    await pool.end();
  }
}

async function temporal(): Promise<string> {
  const { connectPlain } = await import("./temporal.js");
  const { missingSearchAttributes } = await import("../temporal/search-attributes.js");
  const { connection, namespace, address } = await connectPlain();
  try {
    const missing = await missingSearchAttributes(connection, namespace);
    if (missing.length > 0) {
      throw new CommandError(
        exitCodes.outOfReach,
        `namespace ${namespace} at ${address} lacks ${missing.join(", ")}: run "trustflow migrate"`,
      );
    }
    return `namespace ${namespace} at ${address}, all search attributes there`;
  } finally {
    await connection.close();
  }
}

function lineOf({ check, ok, detail }: Check): string {
  return `${paint(ok ? "green" : "red", ok ? "ok  " : "FAIL")}  ${check.padEnd(18)}  ${printable(detail)}`;
}
