// Shows the proofs of look-ups that rest on an assumption (docs/reading-the-specification.md §1, docs/decisions/0017). It
// reads the database and calls no provider.
import type { Config } from "../../config/config.js";
import type { LookUpReport } from "../../journal/look-up-proofs.js";
import type { Pool } from "../../postgres/pool.js";
import { lookUpProofsOf } from "../../config/look-up-proofs.js";
import { accountsOf } from "../../providers/accounts.js";
import type { ConfigWithAccounts } from "../../providers/accounts.js";
import { entryOf, providerNames } from "../../providers/registry.js";
import { Problem, skippedCheck } from "./check.js";
import type { Check } from "./check.js";

/** The accounts whose look-ups rest on an assumption; last those of which another configuration would make one possible. */
export function lookUpChecks(
  config: ConfigWithAccounts,
  here: (work: (pool: Pool) => Promise<string>) => Check[1],
): Check[] {
  const found = providerNames.flatMap((provider) => {
    const { whyNoLookUp } = entryOf(provider);
    if (whyNoLookUp === undefined) return [];
    const accounts = accountsOf(config, provider) as unknown as Record<string, AccountWithLookUp>;
    return Object.values(accounts).map((account) => {
      const { name, lookUpConfiguration: configuration } = account;
      const check = `look-up ${name} ${provider}`;
      const of = { provider, account: name, configuration };
      return { check, of, why: whyNoLookUp(account) };
    });
  });
  return [
    ...found
      .filter(({ why }) => why === undefined)
      .map(({ check, of }): Check => [check, here((pool) => lookUps(config, pool, of))]),
    ...found.flatMap(({ check, why }) => (why === undefined ? [] : [skippedCheck(check, why)])),
  ];
}

interface AccountWithLookUp {
  name: string;
  lookUpConfiguration: string;
}

async function lookUps(
  config: Config,
  pool: Pool,
  of: { provider: string; account: string; configuration: string },
): Promise<string> {
  const reports = await lookUpProofsOf(config, pool).report(of);
  if (reports.length === 0)
    return "not known yet whether it finds our own items: no item was submitted with this configuration; until then a lost answer needs an operator decision";
  const detail = reports.map((report) => `${nameOf(report)} ${said(report)}`).join("; ");
  const findings = new Set(reports.map(({ finding }) => finding));
  if (findings.has("missing")) throw new Problem("lookUpFindsNothing", detail);
  if (findings.has("late")) throw new Problem("lookUpTooSlow", detail);
  return detail;
}

const nameOf = ({ operation, form }: LookUpReport) => `${operation} (${form})`;

function said({ finding, foundAt, isLooking }: LookUpReport): string {
  const at = foundAt?.toISOString() ?? "";
  const words = {
    found: `finds our own items (${at})`,
    late: `finds our own items, but too late (${at})`,
    missing: `does not find our own items (${at})`,
    unproven: isLooking
      ? "is being tested with one of our items: not known yet"
      : "not known yet whether it finds our own items",
  };
  return words[finding];
}
