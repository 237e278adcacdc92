// The provider accounts of the sandbox (P1 §5, P2 §5): one account may hold the credentials of every provider.

export interface SiteOptions {
  name?: string;
  /** Region of the site address: fills a missing issuer region (P2 §2.2). */
  region?: string;
  language?: string;
}

/** What an account may do for one LRA (P1 §5.1); what is absent is not restricted. */
export interface LraOptions {
  /** Operations, such as `enroll`. */
  methods?: string[];
  eIDTypes?: string[];
  /** EMAIL OTP is enabled for the LRA (default true). */
  hasEmailOtp?: boolean;
}

export interface AccountOptions {
  username: string;
  password: string;
  /** Header `X-Api-Key` of the messaging gateway, `apikey` of the video service (default `<username>-api-key`). */
  apiKey?: string;
  /** Roles at the messaging gateway (default `USER`). */
  roles?: string[];
  /** By LRA identifier (default: `lra-1`, `lra-sms`, `lra-check`). */
  lras?: Record<string, LraOptions>;
  /** The RA-operator token of the one-shot service (default `<username>-token`). */
  token?: string;
  /** Where the one-shot service posts its events; without it, nowhere. */
  webhookUrl?: string;
  /** Where the video service posts its call-closing events; without it, nowhere. */
  closeEventUrl?: string;
  /** Header `ApiToken` of the envelope host, and the token of the wallet's API Operator (default `<username>-api-token`). */
  apiToken?: string;
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
  /** How many notices it can still pay (P2 §4.2); without it, any number. */
  balance?: number;
  /** On-demand affidavits of one notice (P2 §4.2 shows no number); without it, three. */
  onDemandLimit?: number;
  /** The `PostServiceProfile` values provisioned by support; without it, any. */
  postServiceProfiles?: string[];
}

/** What every account has, given or not. */
type Settled = keyof ReturnType<typeof settled>;

export interface Account
  extends Omit<AccountOptions, Settled | "site">, Required<Pick<AccountOptions, Settled>> {
  site: { name: string; region?: string; language: string };
}

export type AccountChange = Partial<Omit<AccountOptions, "username">>;

/** Never shown: credentials, and an address that is a capability. */
const hidden = ["password", "apiKey", "token", "apiToken", "webhookUrl", "closeEventUrl"] as const;
export type AccountView = Omit<Account, (typeof hidden)[number]>;

export function accountView(account: Account): AccountView {
  const view: Partial<Account> = { ...account };
  for (const name of hidden) delete view[name];
  return view as AccountView;
}

const site = { name: "Sandbox Site", region: "Madrid", language: "en" };

export const defaultAccounts: AccountOptions[] = [
  { username: "sandbox", password: "sandbox" },
  { username: "colleague", password: "colleague" },
  { username: "no-cancel", password: "no-cancel", canCancel: false },
  { username: "not-provisioned", password: "not-provisioned", provisioned: false },
  { username: "template-admin", password: "template-admin", roles: ["TEMPLATE_ADMIN"] },
  { username: "elsewhere", password: "elsewhere", site: { name: "Other Site" } },
];

const lras: Record<string, LraOptions> = {
  "lra-1": {},
  "lra-sms": { hasEmailOtp: false, eIDTypes: ["EIDVENDOR"] },
  "lra-check": { methods: ["checkData", "checkDataWitheIDAssertion"] },
};

const settled = (username: string) => ({
  canCancel: true,
  provisioned: true,
  ownerName: `${username} (sandbox)`,
  ownerEmail: `${username}@sandbox.invalid`,
  certificationLevel: "Standard",
  apiKey: `${username}-api-key`,
  roles: ["USER"],
  lras,
  token: `${username}-token`,
  apiToken: `${username}-api-token`,
});

export class Accounts {
  readonly #accounts = new Map<string, Account>();

  constructor(options: AccountOptions[]) {
    for (const account of options) this.put(account);
  }

  put(options: AccountOptions): Account {
    const account: Account = {
      ...settled(options.username),
      ...options,
      // A site that is given without a region has none, so that the rule on the issuer region can be met and missed.
      site: options.site ? { name: site.name, language: site.language, ...options.site } : site,
    };
    this.#accounts.set(account.username, account);
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

  /** Whose credential this is. */
  holding(name: "apiKey" | "token" | "apiToken", value: string): Account | undefined {
    return this.list().find((account) => account[name] === value);
  }

  save(): Account[] {
    return this.list();
  }

  load(accounts: Account[]): void {
    this.#accounts.clear();
    for (const account of accounts) this.put(account);
  }
}
