// The stack that paths are walked on: as every test stack, and with one more account for each path that is denied, so that
// its circuit stops nobody else.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { StackOptions } from "../../src/local/stack.js";
import { openState } from "../../src/local/stack-state.js";
import { plainAuthor } from "./history-walk.js";
import type { Author, PathsOf, Walk } from "./history-walk.js";
import { startTestStack } from "./stack.js";
import type { TestStack } from "./stack.js";

const walkLimitMs = 100_000;

export interface PathStack {
  system: TestStack;
  /** Walks all paths at once; the answer says of each how it went. */
  walkAll(author?: Author): Promise<Map<string, PromiseSettledResult<void>>>;
}

export async function startPathStack(
  { paths, accounts }: PathsOf,
  password: string,
  options: Partial<StackOptions> = {},
): Promise<PathStack> {
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), "trustflow-paths-")));
  const { ports } = await openState(directory, () => undefined);
  const baseUrl = `http://127.0.0.1:${ports.sandbox}`;
  const named = accounts.map((name) => accountEnvironment(name, baseUrl, name, password));
  const env = Object.assign(
    accountEnvironment("default", baseUrl, "sandbox", password),
    ...named,
    options.env,
  ) as Record<string, string>;
  const system = await startTestStack({ ...options, directory, env });
  for (const name of ["sandbox", ...accounts]) await system.sandbox.putAccount(name, { password });
  return {
    system,
    async walkAll(author = plainAuthor) {
      const ways = Object.entries(paths).map(async ([id, path]) => {
        const walk: Walk = { system, author, id, password };
        return [id, await settled(path(walk))] as const;
      });
      return new Map(await Promise.all(ways));
    },
  };
}

function accountEnvironment(name: string, baseUrl: string, username: string, password: string) {
  const prefix = `TRUSTFLOW_ACCOUNTS__${name.replaceAll("-", "_").toUpperCase()}__EVI_POST__`;
  return {
    [`${prefix}BASE_URL`]: baseUrl,
    [`${prefix}USERNAME`]: username,
    [`${prefix}PASSWORD`]: password,
    [`${prefix}TIMEOUT_SECONDS`]: "6",
  };
}

/** A way that does not end is one that failed, and says so beside the others. */
async function settled(work: Promise<void>): Promise<PromiseSettledResult<void>> {
  const limit = new AbortController();
  const late = delay(walkLimitMs, undefined, limit).then(() => {
    throw new Error(`still on its way after ${walkLimitMs / 1_000} s`);
  });
  const [result] = await Promise.allSettled([Promise.race([work, late])]);
  limit.abort();
  late.catch(() => undefined);
  return result;
}
