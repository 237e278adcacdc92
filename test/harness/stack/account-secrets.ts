// The secrets of an account of the sandbox. Keys and tokens tell the accounts apart, so no two have the same.
export const secretsOf = (account: string, password: string) => ({
  password,
  apiKey: `${account}-key-${password}`,
  token: `${account}-${password}`,
  apiToken: `${account}-api-${password}`,
});

/** What no account is configured with. */
export const wrongSecrets = {
  password: "wrong",
  apiKey: "wrong",
  token: "wrong",
  apiToken: "wrong",
};
