// The names of the files in the archive of a batch's affidavits. They come from outside: none leaves its folder, and no two are the same,
// on a disk that ignores case either.
import { createHash } from "node:crypto";

const SAFE_FOLDER = /^\w[\w-]{0,99}$/;

/** A folder for each notice: the line of its recipient, and its id, or the digest of an id that is no plain name. */
export function folderOf({ evidenceId, line }: { evidenceId: string; line?: number }): string {
  const digest = () => createHash("sha256").update(evidenceId).digest("hex").slice(0, 32);
  const id = SAFE_FOLDER.test(evidenceId) ? evidenceId : digest();
  return [line, id].filter((part) => part !== undefined).join("-");
}

/** The names in their order, each that another one has already with a number before it. */
export function uniqueNames(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    let unique = name;
    for (let number = 2; taken.has(unique.toLowerCase()); number += 1) unique = `${number}-${name}`;
    taken.add(unique.toLowerCase());
    return unique;
  });
}
