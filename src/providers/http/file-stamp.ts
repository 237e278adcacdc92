import { statSync } from "node:fs";

/** Another text once the file has changed, or was replaced. Throws where it is not there. */
export function stampOf(path: string): string {
  const { ino, size, mtimeNs } = statSync(path, { bigint: true });
  return `${ino}:${size}:${mtimeNs}`;
}
