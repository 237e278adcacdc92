// The folder of a local stack: keys and passwords stand in it, so only its owner may read it, before anything is in it.
import { chmod, mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { cannotWrite } from "trustflow/internal/cli/files.js";
import type { Progress } from "../processes/tools.js";

const OTHERS = 0o077;
/** What stands in the folder of a stack, and hardly in another one. */
const marks = ["stack.json", "lock"];

/** Makes the folder, which Git ignores, or takes the rights of others away from one that a stack has made or that is empty. */
export async function openPrivateFolder(directory: string, progress: Progress): Promise<void> {
  const refuse = cannotWrite(directory, "directory");
  const made = await mkdir(directory, { recursive: true, mode: 0o700 }).catch(refuse);
  if (made !== undefined) await writeFile(join(directory, ".gitignore"), "*\n");
  const { mode } = await stat(directory);
  if (process.platform === "win32" || (mode & OTHERS) === 0) return;
  const names = await readdir(directory);
  if (names.length > 0 && !marks.some((name) => names.includes(name)))
    throw new Error(
      `other users can read ${directory}, and it holds other files: use another folder, or run \`chmod 700\` on it`,
    );
  await chmod(directory, 0o700);
  if (names.length > 0) progress(`other users could read ${directory}: now only its owner can`);
}
