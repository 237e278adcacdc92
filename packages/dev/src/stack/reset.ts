// Deletes the state of a local stack: Temporal, PostgreSQL, sandbox, documents and keys together, because each refers to the others.
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { tryLock } from "../processes/lock.js";
import type { Progress } from "../processes/tools.js";
import type { StackState } from "./stack-state.js";

/** What a stack makes in its folder. */
const made =
  /^(stack\.json(\.new)?|lock\..+|(trustflow|temporal)\.toml|(client|operator)\.env|temporal\.db(-\w+)?|logs|postgres|documents|sandbox|pki)$/;

/** What stands in the folder from its first moment on (private-folder.ts), and beyond a reset. */
const remains = new Set(["lock", ".gitignore"]);

/** Throws, and deletes nothing, where the folder holds files and is not that of a stack. Leaves what no stack makes. */
export async function resetStack(directory: string, progress: Progress): Promise<void> {
  const unlock = await tryLock(join(directory, "lock"));
  if (!unlock) throw new Error(`a stack is running in ${directory}: stop it before the reset`);
  try {
    const names = (await readdir(directory)).filter((name) => !remains.has(name));
    if (names.length > 0 && !(await isOfStack(directory)))
      throw new Error(
        `${directory} holds other files and no stack.json of a stack: --reset deletes nothing there. Use the stack's folder (--directory)`,
      );
    const kept = names.filter((name) => !made.test(name));
    // Last of all the file by which an interrupted reset is known.
    const going = names.filter((name) => made.test(name) && name !== "stack.json");
    for (const name of [...going, "stack.json"])
      await rm(join(directory, name), { recursive: true, force: true, maxRetries: 5 });
    if (kept.length > 0) progress(`not made by a stack, so kept: ${kept.join(", ")}`);
  } finally {
    await unlock();
  }
}

async function isOfStack(directory: string): Promise<boolean> {
  const text = await readFile(join(directory, "stack.json"), "utf8").catch(() => "");
  try {
    const { keys, codecToken, ports } = JSON.parse(text) as Partial<StackState>;
    return [keys?.codec, codecToken].every((one) => typeof one === "string") && !!ports?.temporal;
  } catch {
    return false;
  }
}
