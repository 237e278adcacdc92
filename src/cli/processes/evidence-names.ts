// Names the files of `trustflow evidence`, such as `2026-11-23-read-affidavit.pdf`: date, state or description, kind.
import type { DocumentReference } from "../../contracts/shared/values.js";

/** A document of a process, with what its file is named by. */
export interface Evidence {
  /** The workflow id. */
  process: string;
  /** The part that this process has in the one that started it: `notice`, `post`. */
  part?: string | undefined;
  /** The kind of the document, or the member of the result that names it. */
  kind: string;
  /** The provider's date of it, else when the process got it. */
  time: string;
  document: DocumentReference;
  uniqueId?: string | undefined;
  description?: string | undefined;
}

/** Returns a name without an ending for each document: safe on every file system, and followed by a number where several are alike. */
export function fileNames(all: Evidence[]): string[] {
  const taken = new Set<string>();
  return all.map((one) => {
    const name = nameOf(one);
    let unique = name;
    for (let number = 2; taken.has(unique); number++) unique = `${name}-${number}`;
    taken.add(unique);
    return unique;
  });
}

function nameOf({ time, part = "", kind, description = "" }: Evidence): string {
  const kindName = plain(kind);
  // "Affidavit of closure" is a closure-affidavit.
  const what = plain(description).replace(new RegExp(`^${kindName}(-of)?(-|$)`), "");
  return [time.slice(0, 10), plain(part), what, kindName].filter(Boolean).join("-");
}

/** Lower case, because a file system may not tell `A` from `a`; without the ending of a file name. */
function plain(text: string): string {
  return text
    .replace(/\.\w{1,5}$/, "")
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, "-")
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, 60)
    .replaceAll(/^-+|-+$/g, "");
}
