// Checks each account of each provider by a call without an effect.
import { type Config, requireSecrets } from "../../config/config.js";
import type { ProblemKind } from "../../contracts/shared/problem-kind.js";
import { ProviderError } from "../../providers/errors/provider-error.js";
import { accountsOf } from "../../providers/accounts.js";
import type { ConfigWithAccounts } from "../../providers/accounts.js";
import { entryOf, providerNames } from "../../providers/registry.js";
import { clientCertificate, handshakeFindings, isTls } from "./certificate.js";
import { CALL_MS, Problem } from "./check.js";
import type { Check } from "./check.js";
import type { FindingName } from "./findings.js";
import { reach } from "./reach.js";

const meanings: Partial<Record<ProblemKind, FindingName>> = {
  accessDenied: "credentialsRefused",
  unavailable: "providerAway",
  protocol: "notTheProvider",
};

/** The configured accounts, provider by provider; each by its own name and the provider's. */
export function configuredAccounts(config: ConfigWithAccounts) {
  return providerNames.flatMap((provider) => {
    const entry = entryOf(provider);
    const accounts: Record<string, object> = accountsOf(config, provider);
    return Object.entries(accounts).map(([accountName, account]) => ({
      ...{ provider, entry, account, secrets: config.accounts[accountName]?.[provider] ?? {} },
      name: `${accountName} ${provider}`,
      hosts: entry.hosts(account),
    }));
  });
}

type ConfiguredAccount = ReturnType<typeof configuredAccounts>[number];

export function accountChecks(config: Config, all: readonly ConfiguredAccount[]): Check[] {
  const none = new Problem("accountsMissing", "no account is configured");
  if (all.length === 0) return [["accounts", () => Promise.reject(none)]];
  return all.flatMap((one): Check[] => [
    [`account ${one.name}`, () => credentials(config, one)],
    ...one.hosts.flatMap(({ tls }): Check[] =>
      tls ? [[`client certificate ${one.name}`, () => clientCertificate(tls)]] : [],
    ),
  ]);
}

/** For each account of a provider whose answers are not shown: whether its keys say where they have what decides. */
export function shownAnswers(all: readonly ConfiguredAccount[]): Check[] {
  return all.flatMap(({ name, account, entry: { whatIsNotShown } }): Check[] => {
    if (whatIsNotShown === undefined) return [];
    const shown = async () => {
      const cost = whatIsNotShown(account);
      if (cost !== undefined) throw new Problem("pointerMissing", cost);
      return "the account says where they show what decides";
    };
    return [[`answers ${name}`, shown]];
  });
}

async function credentials(
  { environment }: Config,
  { provider, entry, account, secrets, hosts }: ConfiguredAccount,
): Promise<string> {
  const { checkCredentials, unclearDenials } = entry;
  if (environment === undefined && hosts.some(({ baseUrl }) => !isTls(baseUrl)))
    throw new Problem(
      "notChecked",
      "not checked: http is only allowed for the sandbox, and environment is not set",
    );
  requireSecrets(secrets);
  const where = `${provider} at ${hosts.map(({ baseUrl }) => new URL(baseUrl).host).join(" and ")}`;
  try {
    for (const { tls } of hosts) tls?.identity();
  } catch {
    throw new Problem("notChecked", "not checked: its client certificate is unusable");
  }
  if (!checkCredentials) {
    await Promise.all(hosts.map(reach));
    return `${where} is reachable; credentials not checked: the provider has no operation without an effect`;
  }
  try {
    await checkCredentials(account, 2 * CALL_MS);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    throw new Problem(findingOf(error, unclearDenials), `${where}: ${error.message}`);
  }
  return `${where} accepts the credentials`;
}

/** A server refuses a certificate by a TLS alert, without a status; nginx answers 400. */
function findingOf(
  { kind, status, code = "" }: ProviderError,
  unclearDenials: readonly string[] = [],
): FindingName {
  if (kind === "accessDenied" && (status === undefined || status === 400))
    return "clientCertificateRefused";
  if (kind === "accessDenied" && unclearDenials.includes(code)) return "credentialsOrLraRefused";
  return handshakeFindings[code] ?? meanings[kind] ?? "notChecked";
}
