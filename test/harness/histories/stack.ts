// The stack that paths run on: like every test stack, with one more account for each path that provokes an error, so that its
// circuit stops no other path.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pLimit from "p-limit";
import { environmentName } from "../../../src/config/errors.js";
import { sandboxAccount } from "../../../packages/dev/src/stack/sandbox-accounts.js";
import { sandboxPki } from "../../../packages/dev/src/stack/stack-env.js";
import type { StackOptions } from "../../../packages/dev/src/stack/stack.js";
import { openState } from "../../../packages/dev/src/stack/stack-state.js";
import { idOf, plainAuthor, type Author, type PathsOf } from "./path-run.js";
import { secretsOf } from "../stack/account-secrets.js";
import { startTestStack, type TestStack } from "../stack/stack.js";

/** Only a path that hangs takes so long: whatever waits for a status fails when that does not change any more. */
const PATH_LIMIT_MS = 200_000;
/** More would be more than two cores can replay from the start within the time that a query has. */
const CONCURRENT_PATHS = 10;
/**
 * Long enough that a process which replays from the start on a busy machine still receives a person's input while the slowest
 * answer is in progress.
 */
const TIMEOUT_SECONDS = 18;

export type PathResults = Map<string, PromiseSettledResult<void>>;

export type PathStack = Awaited<ReturnType<typeof startPathStack>>;

export async function startPathStack(
  all: PathsOf[],
  password: string,
  options: Partial<StackOptions> = {},
) {
  const own = all.flatMap((of) => of.accounts.map((id) => accountOf({ of, id })));
  const short = {
    TRUSTFLOW_JOURNAL__LEASE_SECONDS: String(TIMEOUT_SECONDS + 2),
    TRUSTFLOW_ATTENTION__INVISIBLE_SECONDS: "10",
  };
  const env = { ...short, ...Object.fromEntries(all.flatMap(keysOf)), ...options.env };
  const system = await startStackWithAccounts(["sandbox", ...own], password, { ...options, env });

  /** Runs the paths of all processes whose sandbox has one speed at once; the answer says by workflow id how each went. */
  async function runPaths(all: PathsOf[], author: Author = plainAuthor): Promise<PathResults> {
    const results: PathResults = new Map();
    for (const speed of new Set(all.map((of) => of.speed))) {
      await system.sandbox.setSpeed(speed);
      const paths = all
        .filter((of) => of.speed === speed)
        .flatMap((of) => Object.entries(of.paths).map(([id, path]) => ({ of, id, path })));
      await pLimit(CONCURRENT_PATHS).map(paths, async ({ of, id, path }) => {
        const [key, account] = [idOf({ of, id }), accountOf({ of, id })];
        const run = { system, author, password, of, id, account, intent: author.intent(key) };
        results.set(key, await settled(path(run)));
      });
    }
    return results;
  }

  return { system, runPaths };
}

/** A stack with an account for each of these users, `default` for `sandbox`; all have one password. */
export async function startStackWithAccounts(
  names: string[],
  password: string,
  options: Partial<StackOptions> = {},
): Promise<TestStack> {
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), "trustflow-paths-")));
  const { ports } = await openState(directory, () => undefined);
  const served = {
    url: `http://127.0.0.1:${ports.sandbox}`,
    tlsUrl: `https://127.0.0.1:${ports.sandboxTls}`,
    pkiDirectory: sandboxPki(directory),
  };
  const env: Record<string, string> = {};
  for (const user of names) {
    const keys = sandboxAccount(user === "sandbox" ? "default" : user, served);
    const { apiKey, token, apiToken } = secretsOf(user, password);
    const own: Record<string, string> = {
      USERNAME: user,
      PASSWORD: password,
      API_KEY: apiKey,
      TOKEN: token,
      CREDENTIAL_WALLET__API_TOKEN: apiToken,
      // The client certificate is that of `sandbox`, and an envelope's files must be of the same user.
      ...(names.includes("sandbox") && {
        ENVELOPE_SIGNATURE__API_TOKEN: secretsOf("sandbox", password).apiToken,
      }),
    };
    for (const [key, value] of Object.entries(keys)) {
      const [prefix, account, provider, name] = key.split("__");
      const end = key.lastIndexOf("__") + 2;
      env[key] = own[`${provider}__${name}`] ?? own[key.slice(end)] ?? value;
      // Of the account itself: some keys are parts of a group, such as `pointers`.
      env[`${prefix}__${account}__${provider}__TIMEOUT_SECONDS`] = String(TIMEOUT_SECONDS);
    }
  }
  const system = await startTestStack({ ...options, directory, env: { ...env, ...options.env } });
  for (const user of names) await system.sandbox.putAccount(user, secretsOf(user, password));
  return system;
}

/** What paths have configured for their own accounts. */
function keysOf(of: PathsOf): [string, string][] {
  return of.accounts.flatMap((id) =>
    Object.entries(of.accountKeys?.[id] ?? {}).map(([key, value]): [string, string] => [
      environmentName(`accounts.${accountOf({ of, id })}.${key}`),
      value,
    ]),
  );
}

/** Short enough for an account's name: the initials of the process, and the path. */
function accountOf({ of, id }: { of: PathsOf; id: string }): string {
  const initials = of.process.replaceAll(/(?<=.)[a-z]/g, "").toLowerCase();
  return `${initials}-${id}`;
}

/** A path that does not end is one that failed, and says so beside the others. */
async function settled(work: Promise<void>): Promise<PromiseSettledResult<void>> {
  const late = delay(PATH_LIMIT_MS, undefined, { ref: false }).then(() => {
    throw new Error(`still on its way after ${PATH_LIMIT_MS / 1_000} s`);
  });
  const [result] = await Promise.allSettled([Promise.race([work, late])]);
  return result;
}
