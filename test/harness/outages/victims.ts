// Kills parts of a system at once, PostgreSQL too, and starts them again.
import type { RoleName } from "../../../packages/dev/src/stack/stack.js";
import type { TestStack } from "../stack/stack.js";
import { eventually } from "./wait.js";

export type Victim = RoleName | "postgres";

const START_LIMIT_MS = 60_000;

export async function killAndRestart({ stack }: TestStack, ...victims: Victim[]): Promise<void> {
  const { postgres } = stack;
  const roles = victims.flatMap((victim) => (victim === "postgres" ? [] : [stack.role(victim)]));
  const isDatabaseKilled = victims.includes("postgres");
  if (isDatabaseKilled && !postgres) throw new Error("the stack has no PostgreSQL of its own");
  await Promise.all([...roles.map((role) => role.kill()), isDatabaseKilled && postgres?.kill()]);
  // The backends of a killed server keep its memory for a moment; a new server does not start meanwhile.
  const isStarted = async () => {
    const failed = await postgres?.start().catch((error: unknown) => error);
    return failed === undefined;
  };
  if (isDatabaseKilled) await eventually("PostgreSQL starts again", isStarted, START_LIMIT_MS);
  await Promise.all(roles.map((role) => role.restart()));
}
