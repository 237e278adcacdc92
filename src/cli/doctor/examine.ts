// All checks of `trustflow doctor`, side by side.
import { type Config, ConfigurationError, loadConfig } from "../../config.js";
import { temporalSettings } from "../temporal.js";
import { postalAccount } from "./account.js";
import { publicUrl } from "./callback-url.js";
import { clientCertificate, serverCertificate, serverOf, temporalServerOf } from "./certificate.js";
import type { TlsServer } from "./certificate.js";
import { type Checked, Problem, made, needing, setting } from "./check.js";
import { documentStore, ring, ringNames } from "./configured.js";
import { databaseClock, migrations, openDatabase } from "./database.js";
import { attributes, openProcesses, openTemporal, retention, temporalClock } from "./temporal.js";
import type { Temporal } from "./temporal.js";

type Check = [name: string, work: () => Promise<string>];

export async function examine(): Promise<Checked[]> {
  const node = await made("node", async () => process.version);
  let config: Config;
  try {
    config = loadConfig();
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return [node, await made("configuration", () => Promise.reject(error))];
  }
  const certificates = await certificateChecks(config);
  const database = openDatabase(config);
  const temporal = openTemporal();
  const checks = [
    ...configured(config),
    ...databaseChecks(database),
    ...temporalChecks(temporal, config),
    ...accountChecks(config),
    ["callback address", () => publicUrl(config)] satisfies Check,
    ...certificates,
  ];
  try {
    return [node, ...(await Promise.all(checks.map(([name, work]) => made(name, work))))];
  } finally {
    // Not awaited: what hangs is cut when the command ends.
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
    ["document store", () => documentStore(config)],
  ];
}

function databaseChecks(opened: ReturnType<typeof openDatabase>): Check[] {
  const pool = opened.then((database) => database.pool);
  return [
    ["database", async () => (await opened).version],
    ["migrations", () => needing("the database", pool, migrations)],
    ["clock of the database", () => needing("the database", pool, databaseClock)],
  ];
}

function temporalChecks(opened: Promise<Temporal>, config: Config): Check[] {
  const here = (work: (temporal: Temporal) => Promise<string>) => () =>
    needing("Temporal", opened, work);
  return [
    ["temporal", async () => `answers at ${(await opened).address}`],
    ["namespace", here((temporal) => retention(temporal, config))],
    ["search attributes", here(attributes)],
    ["open processes", here((temporal) => openProcesses(temporal, ring(config, "codec")))],
    ["clock of Temporal", here(temporalClock)],
  ];
}

function accountChecks(config: Config): Check[] {
  const accounts = postalAccounts(config).map(([name, account]): Check => [
    `account ${name}`,
    () => postalAccount(name, account),
  ]);
  const none = new Problem("accountsMissing", "no account is configured");
  return accounts.length > 0 ? accounts : [["accounts", () => Promise.reject(none)]];
}

/** One for each server, however many settings name it. */
async function certificateChecks(config: Config): Promise<Check[]> {
  const urls = postalAccounts(config).map(([, { baseUrl }]) => baseUrl);
  // That it cannot be read is told by the check of Temporal.
  const temporal = await temporalSettings().then(temporalServerOf, () => undefined);
  const servers = [...urls, config.callbacks.publicUrl]
    .map((url) => url && serverOf(url))
    .concat(temporal)
    .filter((server): server is TlsServer => typeof server === "object");
  const byName = new Map(
    servers.map((server) => [`certificate ${server.host}:${server.port}`, server]),
  );
  const { cert } = temporal ?? {};
  return [
    ...[...byName].map(([name, server]): Check => [name, () => serverCertificate(server)]),
    ...(cert ? [["client certificate", () => clientCertificate(cert)] satisfies Check] : []),
  ];
}

function postalAccounts({ accounts }: Config) {
  return Object.entries(accounts).flatMap(([name, providers]) => {
    const { "evi-post": account } = providers;
    return account ? [[name, account] as const] : [];
  });
}
