// Runs all checks of `trustflow doctor` concurrently.
import { type Config, ConfigurationError, loadConfig } from "../../config.js";
import { type ConfiguredAccount, configuredAccounts, shownAnswers } from "./account.js";
import { publicUrl } from "./callback-url.js";
import { addressLife, callbackFloods } from "./callbacks.js";
import { clientCertificate } from "./certificate.js";
import { certificateChecks } from "./certificates.js";
import {
  type Check,
  type Checked,
  Problem,
  runCheck,
  withOpened,
  skippedCheck,
  setting,
} from "./check.js";
import {
  documentStore,
  inboxPublicRing,
  optionalRing,
  optionalRingNames,
  ring,
  ringNames,
  secretsPublicRing,
} from "./configured.js";
import { databaseClock, databaseUser, durability, migrations, openDatabase } from "./database.js";
import { decisionRules, operatorKey } from "./operators.js";
import { lookUps, accountsWithLookUp, accountsWithoutLookUp } from "./look-ups.js";
import {
  attributes,
  openProcesses,
  openTemporal,
  ownNamespace,
  retention,
  stuckProcesses,
  temporalClock,
} from "./temporal.js";
import type { Temporal } from "./temporal.js";

export async function examine(): Promise<Checked[]> {
  const node = await runCheck("node", async () => process.version);
  let config: Config;
  try {
    config = loadConfig();
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    const rest = skippedCheck("all else", "cannot read the configuration");
    return [
      node,
      await runCheck("configuration", () => Promise.reject(error)),
      await runCheck(...rest),
    ];
  }
  const accounts = configuredAccounts(config);
  const certificates = await certificateChecks(config, accounts);
  const database = openDatabase(config);
  const temporal = openTemporal();
  const checks = [
    ...configured(config),
    ...databaseChecks(database, config),
    ...temporalChecks(temporal, config),
    ["namespace of the database", () => withBoth(database, temporal)] satisfies Check,
    ...accountChecks(accounts),
    ...shownAnswers(config),
    ["callback address", () => publicUrl(config)] satisfies Check,
    ...certificates,
    ...ofOtherProcesses(config),
  ];
  try {
    return [node, ...(await Promise.all(checks.map(([name, work]) => runCheck(name, work))))];
  } finally {
    // Not awaited: the end of the command cuts a hanging connection.
    void database.then(
      ({ pool }) => pool.end(),
      () => undefined,
    );
    void temporal.then(
      ({ connection }) => connection.close(),
      () => undefined,
    );
  }
}

function configured(config: Config): Check[] {
  return [
    ["environment", async () => setting(config.environment, "environment")],
    ...ringNames.map((name): Check => [
      `key ring ${name}`,
      async () => `active key ${ring(config, name).active.id}`,
    ]),
    ...optionalRingNames.map((name): Check => [
      `key ring ${name}`,
      () => optionalRing(config, name),
    ]),
    ["key ring secretsPublic", () => secretsPublicRing(config)],
    ["key ring inboxPublic", () => inboxPublicRing(config)],
    ["operators", () => decisionRules(config)],
    ["key operator", () => operatorKey(config)],
    ["document store", () => documentStore(config)],
    ["callback address life", async () => addressLife(config)],
  ];
}

function databaseChecks(opened: ReturnType<typeof openDatabase>, config: Config): Check[] {
  const pool = opened.then((database) => database.pool);
  return [
    ["database", async () => (await opened).version],
    ["migrations", () => withOpened("the database", pool, migrations)],
    [
      "user of the database",
      () => withOpened("the database", pool, (open) => databaseUser(open, config)),
    ],
    ["durability", () => withOpened("the database", pool, durability)],
    ["clock of the database", () => withOpened("the database", pool, databaseClock)],
    ["callback floods", () => withOpened("the database", pool, callbackFloods)],
    ...accountsWithLookUp(config).map((of): Check => [
      `look-up ${of.account} ${of.provider}`,
      () => withOpened("the database", pool, (open) => lookUps(config, open, of)),
    ]),
    ...accountsWithoutLookUp(config).map(({ provider, account, why }) =>
      skippedCheck(`look-up ${account} ${provider}`, why),
    ),
  ];
}

function temporalChecks(opened: Promise<Temporal>, config: Config): Check[] {
  const here = (work: (temporal: Temporal) => Promise<string>) => () =>
    withOpened("Temporal", opened, work);
  return [
    ["temporal", async () => `answers at ${(await opened).address}`],
    ["namespace", here((temporal) => retention(temporal, config))],
    ["search attributes", here(attributes)],
    ["open processes", here((temporal) => openProcesses(temporal, ring(config, "codec")))],
    ["stuck processes", here(stuckProcesses)],
    ["clock of Temporal", here(temporalClock)],
  ];
}

function withBoth(
  database: ReturnType<typeof openDatabase>,
  temporal: Promise<Temporal>,
): Promise<string> {
  return withOpened("the database", database, ({ pool }) =>
    withOpened("Temporal", temporal, (open) => ownNamespace(open, pool)),
  );
}

function accountChecks(accounts: readonly ConfiguredAccount[]): Check[] {
  const none = new Problem("accountsMissing", "no account is configured");
  if (accounts.length === 0) return [["accounts", () => Promise.reject(none)]];
  return accounts.flatMap(({ name, hosts, ask }): Check[] => [
    [`account ${name}`, ask],
    ...hosts.flatMap(({ tls }): Check[] =>
      tls ? [[`client certificate ${name}`, () => clientCertificate(tls)]] : [],
    ),
  ]);
}

/** The state of the other roles, which only they can report. */
function ofOtherProcesses({ sandbox }: Config): Check[] {
  return [
    skippedCheck("roles", "GET /ready of each role shows whether it runs"),
    ...(sandbox.url === undefined
      ? []
      : [skippedCheck("sandbox", "only the `trustflow sandbox` commands use sandbox.url")]),
  ];
}
