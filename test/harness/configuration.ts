// The configuration that variables of the environment make, where no file says anything.
import { load } from "../../src/config/load.js";
import { ConfigWithAccounts } from "../../src/providers/accounts.js";

export const configurationOf = (
  variables: Record<string, string | undefined>,
): ConfigWithAccounts => load(ConfigWithAccounts, { TRUSTFLOW_CONFIG: "/dev/null", ...variables });
