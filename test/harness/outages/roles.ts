// A role that blocks at one statement, so that it can be killed exactly there.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startRole } from "../../../src/local/stack/role.js";
import type { Role, RoleName } from "../../../src/local/stack/role.js";
import { cleanEnv } from "../../../src/local/stack/stack-env.js";
import type { TestStack } from "../stack/stack.js";

export interface Hold {
  /** A part of the statement's text. */
  statement: string;
  /** `before`: it is never sent; `after`: it is committed, but not acknowledged. */
  when: "before" | "after";
}

export interface HeldRole {
  isReached(): boolean;
  /** SIGKILL; then the stack's own role starts again. */
  killAndReplace(): Promise<void>;
}

const standing = new Set<Role>();

/** What a test that failed left standing. */
export async function killHeldRoles(): Promise<void> {
  for (const role of standing) await role.kill("SIGKILL");
  standing.clear();
}

const preload = fileURLToPath(new URL("hold.js", import.meta.url));

/** Takes the place of the stack's own role. */
export async function holdRole(
  { stack }: TestStack,
  name: RoleName,
  { statement, when }: Hold,
): Promise<HeldRole> {
  const mark = join(stack.directory, `held-${name}`);
  const own = stack.role(name);
  await own.stop();
  const held = await startRole({
    name,
    env: {
      ...cleanEnv(),
      ...stack.envOf(name),
      NODE_OPTIONS: `--import=${preload}`,
      HOLD_STATEMENT: statement,
      HOLD_WHEN: when,
      HOLD_MARK: mark,
    },
    cwd: process.cwd(),
    logDirectory: join(stack.directory, "logs"),
    graceMs: 0,
    onDeath: () => undefined,
  });
  standing.add(held);
  return {
    isReached: () => existsSync(mark),
    async killAndReplace() {
      await held.kill("SIGKILL");
      standing.delete(held);
      await own.restart();
    },
  };
}
