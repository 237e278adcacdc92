// The stack that paths run on: like every test stack, with one more account for each path that provokes an error, so that its
// circuit stops no other path.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { sandboxAccount } from "../../../src/local/stack/sandbox-accounts.js";
import { sandboxPki } from "../../../src/local/stack/stack-env.js";
import type { StackOptions } from "../../../src/local/stack/stack.js";
import { openState } from "../../../src/local/stack/stack-state.js";
import { idOf, plainAuthor, tokenOf } from "./path-run.js";
import type { Author, PathsOf } from "./path-run.js";
import { startTestStack } from "../stack/stack.js";
import type { TestStack } from "../stack/stack.js";

const PATH_LIMIT_MS = 100_000;
/** More would be more than two cores can replay from the start within the time that a query has. */
const CONCURRENT_PATHS = 16;
/**
 * Long enough that a process which replays from the start on a busy machine still receives a person's input while the slowest
 * answer is in progress.
 */
const TIMEOUT_SECONDS = 18;

export type PathResults = Map<string, PromiseSettledResult<void>>;

export interface PathStack {
  system: TestStack;
  /** Runs some paths of one process at once; the answer says by workflow id how each went. */
  runPaths(of: PathsOf, author?: Author): Promise<PathResults>;
}

export async function startPathStack(
  all: PathsOf[],
  password: string,
  options: Partial<StackOptions> = {},
): Promise<PathStack> {
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), "trustflow-paths-")));
  const { ports } = await openState(directory, () => undefined);
  const served = {
    url: `http://127.0.0.1:${ports.sandbox}`,
    tlsUrl: `https://127.0.0.1:${ports.sandboxTls}`,
    pkiDirectory: sandboxPki(directory),
  };
  const own = all.flatMap((of) => of.accounts.map((id) => accountOf({ of, id })));
  const named = own.map((name) => accountEnvironment(sandboxAccount(name, served), name, password));
  const shared = accountEnvironment(sandboxAccount("default", served), "sandbox", password);
  const lease = { TRUSTFLOW_JOURNAL__LEASE_SECONDS: String(TIMEOUT_SECONDS + 2) };
  const env = Object.assign(shared, ...named, lease, options.env) as Record<string, string>;
  const system = await startTestStack({ ...options, directory, env });
  for (const name of ["sandbox", ...own])
    await system.sandbox.putAccount(name, {
      password,
      apiKey: password,
      token: tokenOf(name, password),
    });

  async function runPaths(of: PathsOf, author = plainAuthor): Promise<PathResults> {
    await system.sandbox.setSpeed(of.speed);
    const results: PathResults = new Map();
    const paths = Object.entries(of.paths).values();
    const lane = async () => {
      for (const [id, path] of paths) {
        const key = idOf({ of, id });
        const account = accountOf({ of, id });
        const run = { system, author, password, of, id, account, intent: author.intent(key) };
        results.set(key, await settled(path(run)));
      }
    };
    await Promise.all(Array.from({ length: CONCURRENT_PATHS }, lane));
    return results;
  }

  return { system, runPaths };
}

/** Short enough for an account's name: the initials of the process, and the path. */
function accountOf({ of, id }: { of: PathsOf; id: string }): string {
  const initials = of.process.replaceAll(/(?<=.)[a-z]/g, "").toLowerCase();
  return `${initials}-${id}`;
}

/** For every provider, as this user of the sandbox. */
export function accountEnvironment(
  keys: Record<string, string>,
  username: string,
  password: string,
) {
  const values: Record<string, string> = {
    USERNAME: username,
    PASSWORD: password,
    API_KEY: password,
    TOKEN: tokenOf(username, password),
  };
  const entries = Object.entries(keys).flatMap(([key, value]) => {
    const end = key.lastIndexOf("__") + 2;
    return [
      [key, values[key.slice(end)] ?? value],
      [`${key.slice(0, end)}TIMEOUT_SECONDS`, String(TIMEOUT_SECONDS)],
    ];
  });
  return Object.fromEntries(entries) as Record<string, string>;
}

/** A path that does not end is one that failed, and says so beside the others. */
async function settled(work: Promise<void>): Promise<PromiseSettledResult<void>> {
  const limit = new AbortController();
  const late = delay(PATH_LIMIT_MS, undefined, limit).then(() => {
    throw new Error(`still on its way after ${PATH_LIMIT_MS / 1_000} s`);
  });
  const [result] = await Promise.allSettled([Promise.race([work, late])]);
  limit.abort();
  late.catch(() => undefined);
  return result;
}
