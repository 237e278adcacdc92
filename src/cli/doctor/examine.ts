// Runs all checks of `trustflow doctor` concurrently.
import { loadWithAccounts } from "../../providers/accounts.js";
import type { ConfigWithAccounts } from "../../providers/accounts.js";
import { ConfigurationError, loadConfig } from "../../config/config.js";
import { accountChecks, configuredAccounts, shownAnswers } from "./account.js";
import { publicUrl } from "./callback-url.js";
import {
  certificateCheckOfReceiver,
  certificateChecksOf,
  certificateChecksOfTemporal,
} from "./certificate.js";
import { runCheck, skippedCheck, withOpened } from "./check.js";
import type { Check, Checked } from "./check.js";
import { configuredChecks, configuredChecksOfClient } from "./configured.js";
import { databaseChecks, openDatabase } from "./database.js";
import { openTemporal, ownNamespace, temporalChecks } from "./temporal.js";
import { webhookChecks } from "./webhook.js";

/** Examines a machine of the deployment. */
export async function examine(): Promise<Checked[]> {
  const read = readable(loadWithAccounts);
  if (!read.config) return run(read.checks);
  const { config } = read;
  const accounts = configuredAccounts(config);
  const certificatesOfTemporal = await certificateChecksOfTemporal();
  const database = openDatabase(config);
  const temporal = openTemporal();
  try {
    return await run([
      node,
      ...configuredChecks(config),
      ...databaseChecks(config, database),
      ...temporalChecks(config, temporal, "deployment"),
      [
        "namespace of the database",
        () =>
          withOpened("the database", database, ({ pool }) =>
            withOpened("Temporal", temporal, (open) => ownNamespace(open, pool)),
          ),
      ],
      ...accountChecks(config, accounts),
      ...shownAnswers(accounts),
      ["callback address", () => publicUrl(config)],
      ...webhookChecks(config),
      ...certificateChecksOf(accounts),
      certificateCheckOfReceiver(config.callbacks.publicUrl),
      ...certificatesOfTemporal,
      // Only the other roles can report their state.
      skippedCheck("roles", "GET /ready of each role shows whether it runs"),
      ...(config.sandbox.url === undefined
        ? []
        : [skippedCheck("sandbox", "only the `trustflow sandbox` commands use sandbox.url")]),
    ]);
  } finally {
    // Not awaited: the end of the command cuts a hanging connection.
    void database.then(({ pool }) => pool.end()).catch(() => undefined);
    void temporal.then(({ connection }) => connection.close()).catch(() => undefined);
  }
}

/** Examines the machine of an application: what the client library needs, and neither database nor accounts. */
export async function examineClient(): Promise<Checked[]> {
  const read = readable(loadConfig);
  if (!read.config) return run(read.checks);
  const { config } = read;
  const temporal = openTemporal();
  try {
    return await run([
      node,
      ...configuredChecksOfClient(config),
      ...temporalChecks(config, temporal, "client"),
      ...(await certificateChecksOfTemporal()),
    ]);
  } finally {
    void temporal.then(({ connection }) => connection.close()).catch(() => undefined);
  }
}

const node: Check = ["node", async () => process.version];

/** The configuration, or the checks that say what is wrong with it. */
function readable<C>(load: () => C): { config: C } | { config?: undefined; checks: Check[] } {
  try {
    return { config: load() };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return {
      checks: [
        node,
        ["configuration", () => Promise.reject(error)],
        skippedCheck("all else", "cannot read the configuration"),
      ],
    };
  }
}

/** The accounts alone, as far as nothing else is needed to check them. */
export async function examineAccounts(config: ConfigWithAccounts): Promise<Checked[]> {
  const accounts = configuredAccounts(config);
  const checks = [...accountChecks(config, accounts), ...shownAnswers(accounts)];
  return run([...checks, ...certificateChecksOf(accounts)]);
}

/** If several settings name a server, it is checked once, as the last of them names it. */
function run(checks: Check[]): Promise<Checked[]> {
  return Promise.all([...new Map(checks)].map(([name, work]) => runCheck(name, work)));
}
