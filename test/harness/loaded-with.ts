// What is loaded together with a file of ours, read from its imports: a test can see that something stays light.
import { readFileSync } from "node:fs";
import { posix } from "node:path";
import { root } from "../docs/repository.js";

/** Our files and the packages that a file imports, and those that they import; not its types, and not its `import()`s. */
export function loadedWith(path: string, seen = new Set<string>()): Set<string> {
  if (seen.has(path)) return seen;
  seen.add(path);
  const text = readFileSync(`${root}/${path}`, "utf8");
  const statements = text.matchAll(/^(?:import|export)\s(?!type\b)[^;]*?from\s+"([^"]+)";/gm);
  for (const [, from = ""] of statements) {
    const own = from.replace(/^trustflow\/internal\//, "src/").replace(/\.js$/, ".ts");
    if (from.startsWith(".")) loadedWith(posix.join(posix.dirname(path), own), seen);
    else if (own.startsWith("src/")) loadedWith(own, seen);
    else seen.add(from);
  }
  return seen;
}

export function packagesIn(loaded: Iterable<string>): string[] {
  return [...loaded].filter((path) => !/^(src\/|node:)/.test(path));
}
