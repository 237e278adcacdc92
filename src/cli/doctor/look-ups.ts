// Shows the proofs of look-ups that rest on an assumption (docs/reading-the-specification.md §1, docs/decisions/0017). It
// reads the database and calls no provider.
import type { Config } from "../../config.js";
import type { LookUpReport } from "../../journal/look-up-proofs.js";
import type { Pool } from "../../postgres/pool.js";
import { lookUpProofsOf } from "../../config/look-up-proofs.js";
import { accountsOf } from "../../providers/accounts.js";
import { entryOf, providerNames } from "../../providers/registry.js";
import { Problem } from "./check.js";

interface LookedUp {
  provider: string;
  account: string;
  configuration: string;
}

interface AccountWithLookUp {
  name: string;
  lookUpConfiguration: string;
}

/** Accounts for which another configuration would make a look-up possible, with the reason. */
export function accountsWithoutLookUp(
  config: Config,
): { provider: string; account: string; why: string }[] {
  return assumedLookUps(config).flatMap(({ provider, account, why }) =>
    why === undefined ? [] : [{ provider, account, why }],
  );
}

/** Accounts that have a look-up. */
export function accountsWithLookUp(config: Config): LookedUp[] {
  return assumedLookUps(config).filter(({ why }) => why === undefined);
}

/** The accounts whose look-ups rest on an assumption. */
function assumedLookUps(config: Config): (LookedUp & { why: string | undefined })[] {
  return providerNames.flatMap((provider) => {
    const { whyNoLookUp } = entryOf(provider);
    if (whyNoLookUp === undefined) return [];
    const accounts = accountsOf(config, provider) as unknown as Record<string, AccountWithLookUp>;
    return Object.values(accounts).map((account) => ({
      provider,
      account: account.name,
      configuration: account.lookUpConfiguration,
      why: whyNoLookUp(account),
    }));
  });
}

export async function lookUps(config: Config, pool: Pool, of: LookedUp): Promise<string> {
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
