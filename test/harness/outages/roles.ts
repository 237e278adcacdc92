// Roles beside those of a stack or in their place; one can be held at chosen points, so that it is killed exactly there.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePorts } from "../../../packages/dev/src/processes/free-ports.js";
import {
  startRole,
  type Role,
  type RoleName,
  type RoleOptions,
} from "../../../packages/dev/src/stack/role.js";
import type { Stack } from "../../../packages/dev/src/stack/stack.js";
import { cleanEnv } from "../../../packages/dev/src/stack/stack-env.js";
import type { TestStack } from "../stack/stack.js";

/**
 * `before`: the statement is never sent; `after`: it is committed, but not acknowledged; `statement`: what its text matches. `since`:
 * only a request after such a statement was committed.
 */
export type HoldPoint =
  | { when: "before" | "after"; statement: string }
  | { when: "beforeRequest"; since?: string };

/** `work`: only in this activity, the first time; without it, each time. */
export type Hold = HoldPoint & { work?: { workflowId: string; activity: string } };

/** A role as the stack has it, with more in its environment. */
export function startRoleOf(
  { stack }: { stack: Pick<Stack, "directory" | "envOf"> },
  name: RoleName,
  env: Record<string, string>,
  how: Partial<Pick<RoleOptions, "program" | "logDirectory" | "graceMs" | "onDeath">> = {},
): Promise<Role> {
  return startRole({
    name,
    env: { ...cleanEnv(), ...stack.envOf(name), ...env },
    cwd: process.cwd(),
    logDirectory: join(stack.directory, "logs"),
    graceMs: 3_000,
    onDeath: () => undefined,
    ...how,
  });
}

/** A receiver, a relay and a worker beside those of the stack, on ports of their own. */
export async function startSecondRoles(of: Parameters<typeof startRoleOf>[0], graceMs?: number) {
  const [receiver, relay, worker] = (await freePorts(3)).map(String) as [string, string, string];
  const how = graceMs === undefined ? {} : { graceMs };
  return Promise.all([
    startRoleOf(of, "receiver", { TRUSTFLOW_RECEIVER__PORT: receiver }, how),
    startRoleOf(of, "relay", { TRUSTFLOW_RELAY__HEALTH_PORT: relay }, how),
    startRoleOf(of, "worker", { TRUSTFLOW_WORKER__HEALTH_PORT: worker }, how),
  ]);
}

/** Where a receiver listens. */
export const hostOf = ({ url = "" }: Role): string => new URL(url).host;

const standing = new Set<Role>();

/** What a test that failed left standing. */
export async function killHeldRoles(): Promise<void> {
  for (const role of standing) await role.kill("SIGKILL");
  standing.clear();
}

/** In the place of the stack's own role, until it has ended in one of two ways and that starts again. */
export async function replaceRole(system: TestStack, name: RoleName, env: Record<string, string>) {
  const own = system.stack.role(name);
  await own.stop();
  const other = await startRoleOf(system, name, env);
  standing.add(other);
  const giveBack = async (end: () => Promise<void>) => {
    await end();
    standing.delete(other);
    await own.restart();
  };
  return {
    stopAndGiveBack: () => giveBack(() => other.stop()),
    killAndReplace: () => giveBack(() => other.kill("SIGKILL")),
  };
}

const preload = fileURLToPath(new URL("hold.js", import.meta.url));
let files = 0;

/** The environment of a role that is held; the workflow ids (or nothing) that have come to a point, and have left it. */
export function holding({ stack }: TestStack, holds: Hold[]) {
  const file = join(stack.directory, `held-${(files += 1)}`);
  const said = (word: string): string[] => {
    const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
    return lines.flatMap((line) => (line.startsWith(word) ? [line.slice(word.length)] : []));
  };
  return {
    env: {
      NODE_OPTIONS: `--import=${preload}`,
      HOLDS: JSON.stringify(holds),
      HOLD_FILE: file,
    },
    reached: () => said("reached "),
    passed: () => said("passed "),
  };
}

export async function holdRole(system: TestStack, name: RoleName, point: HoldPoint) {
  const { env, reached } = holding(system, [point]);
  const { killAndReplace } = await replaceRole(system, name, env);
  return { isReached: () => reached().length > 0, killAndReplace };
}
