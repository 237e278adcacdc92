// The provider accounts of the sandbox and HTTP Basic (P2 §5).
import { timingSafeEqual } from "node:crypto";

export interface SiteOptions {
  name?: string;
  /** Region of the site address: fills a missing issuer region (P2 §2.2). */
  region?: string;
  language?: string;
}

export interface AccountOptions {
  username: string;
  password: string;
  /** Permission `CanUseCancel` (default true). */
  canCancel?: boolean;
  /** Provisioned for the services (default true). */
  provisioned?: boolean;
  site?: SiteOptions;
  ownerName?: string;
  ownerEmail?: string;
  /** The level that applies when a submission names none (default `Standard`). */
  certificationLevel?: string;
  /** The levels that the account may use; without it, all that the service knows. */
  certificationLevels?: string[];
  /** The `PostServiceProfile` values provisioned by support; without it, any. */
  postServiceProfiles?: string[];
}

export interface Account {
  username: string;
  password: string;
  canCancel: boolean;
  provisioned: boolean;
  site: { name: string; region?: string; language: string };
  ownerName: string;
  ownerEmail: string;
  certificationLevel: string;
  certificationLevels?: string[];
  postServiceProfiles?: string[];
}

export type AccountChange = Partial<Omit<AccountOptions, "username">>;

const site = { name: "Sandbox Site", region: "Madrid", language: "en" };

export const defaultAccounts: AccountOptions[] = [
  { username: "sandbox", password: "sandbox" },
  { username: "colleague", password: "colleague" },
  { username: "no-cancel", password: "no-cancel", canCancel: false },
  { username: "not-provisioned", password: "not-provisioned", provisioned: false },
  { username: "elsewhere", password: "elsewhere", site: { name: "Other Site" } },
];

export class Accounts {
  #accounts = new Map<string, Account>();

  constructor(options: AccountOptions[]) {
    for (const account of options) this.put(account);
  }

  put(options: AccountOptions): Account {
    const { username } = options;
    const account: Account = {
      canCancel: true,
      provisioned: true,
      ownerName: `${username} (sandbox)`,
      ownerEmail: `${username}@sandbox.invalid`,
      certificationLevel: "Standard",
      ...options,
      // A site that is given without a region has none, so that the rule on the issuer region can be met and missed.
      site: options.site ? { name: site.name, language: site.language, ...options.site } : site,
    };
    this.#accounts.set(username, account);
    return account;
  }

  change(username: string, change: AccountChange): Account | undefined {
    const account = this.#accounts.get(username);
    return account && this.put({ ...account, ...change });
  }

  get(username: string): Account | undefined {
    return this.#accounts.get(username);
  }

  list(): Account[] {
    return [...this.#accounts.values()];
  }

  authenticate(header: string | undefined): Account | undefined {
    const encoded = /^Basic ([A-Za-z0-9+/=]+)$/i.exec(header ?? "")?.[1];
    if (!encoded) return undefined;
    const text = Buffer.from(encoded, "base64").toString("utf8");
    const colon = text.indexOf(":");
    const account = this.#accounts.get(text.slice(0, Math.max(0, colon)));
    if (!account || colon < 0) return undefined;
    const given = Buffer.from(text.slice(colon + 1));
    const expected = Buffer.from(account.password);
    return given.length === expected.length && timingSafeEqual(given, expected)
      ? account
      : undefined;
  }

  save(): Account[] {
    return this.list();
  }

  load(accounts: Account[]): void {
    this.#accounts = new Map(accounts.map((account) => [account.username, account]));
  }
}
