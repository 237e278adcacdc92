// What is delivered, as a list of parts (SBOM, CycloneDX), and whether something serious is known against one of them.
import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { npm, root, say } from "./steps.mjs";

const file = join(root, "artifacts", "sbom.cdx.json");

/**
 * @param {(check: string) => void} onNotRun called with the check that could not run
 * @returns {Promise<number>} an exit code
 */
export async function supplyChain(onNotRun) {
  const lock = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8"));
  const unproven = withoutIntegrity(lock);
  if (unproven.length > 0) {
    say(`package-lock.json: no integrity, so npm would take any content: ${unproven.join(", ")}`);
    return 1;
  }
  // Of the lock file: every platform's packages, not only those of this machine.
  const whole = await output(npm(["sbom", "--sbom-format=cyclonedx", "--package-lock-only"]));
  const sbom = delivered(parsed(whole), lock);
  const problems = sbomProblems(sbom, lock);
  for (const problem of problems) say(`SBOM: ${problem}`);
  if (problems.length > 0) return 1;
  await mkdir(join(root, "artifacts"), { recursive: true });
  await writeFile(file, `${JSON.stringify(sbom, undefined, 2)}\n`);
  say(`SBOM: ${sbom.components.length} parts in ${relative(root, file)}`);
  const audit = ["audit", "--omit=dev", "--json", "--fetch-retries=0", "--fetch-timeout=30000"];
  const { ok, isRun, word } = judged(await output(npm(audit)));
  say(`npm audit: ${word}`);
  if (!isRun) onNotRun("npm audit");
  return ok ? 0 : 1;
}

/**
 * @typedef {{ version?: string, name?: string, dev?: boolean, integrity?: string, link?: boolean, inBundle?: boolean }} Entry
 * @typedef {{ packages: Record<string, Entry> }} Lock
 * @typedef {{ ref: string, dependsOn?: string[] }} Dependency
 * @typedef {{ bomFormat?: string, specVersion?: string, metadata?: { component?: { "bom-ref": string } },
 *   components: { "bom-ref": string }[], dependencies?: Dependency[] }} Sbom
 */

/**
 * The packages that npm installs without comparing their content. A bundled one is part of another's archive.
 * @param {Lock} lock
 * @returns {string[]}
 */
export function withoutIntegrity({ packages }) {
  return Object.entries(packages)
    .filter(([path]) => path.includes("node_modules/"))
    .filter(([, { integrity, link, inBundle }]) => !integrity && !link && !inBundle)
    .map(([path]) => path);
}

/**
 * Without what only development needs. npm's own `--omit=dev` also drops what development and we need both.
 * @param {Sbom | undefined} sbom
 * @param {Lock} lock
 * @returns {Sbom}
 */
export function delivered(sbom, lock) {
  const kept = new Set([sbom?.metadata?.component?.["bom-ref"], ...partsOf(lock)]);
  /** @param {string} ref */
  const isKept = (ref) => kept.has(ref);
  const { components = [], dependencies = [] } = sbom ?? {};
  return {
    ...sbom,
    components: components.filter((part) => isKept(part["bom-ref"])),
    dependencies: dependencies
      .filter(({ ref }) => isKept(ref))
      .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter(isKept) })),
  };
}

/**
 * Whether it is a CycloneDX document that has every package that is delivered, at its version, and no other.
 * @param {Sbom} sbom
 * @param {Lock} lock
 * @returns {string[]} what is wrong
 */
export function sbomProblems({ bomFormat, specVersion, components }, lock) {
  if (bomFormat !== "CycloneDX" || !(Number(specVersion) >= 1.5))
    return ["it is no CycloneDX document of 1.5 or later"];
  const [listed, wanted] = [new Set(components.map((part) => part["bom-ref"])), partsOf(lock)];
  return [
    ...[...wanted].filter((part) => !listed.has(part)).map((part) => `${part} is missing`),
    ...[...listed].filter((part) => !wanted.has(part)).map((part) => `${part} is not delivered`),
  ];
}

/**
 * `name@version` of each package that is not for development alone.
 * @param {Lock} lock
 */
function partsOf({ packages }) {
  const own = Object.entries(packages).filter(
    ([path, { dev, link }]) => path.includes("node_modules/") && !dev && !link,
  );
  return new Set(
    own.map(
      ([path, { name, version }]) => `${name ?? path.replace(/^.*node_modules\//, "")}@${version}`,
    ),
  );
}

/**
 * What an audit says: something high or critical is a failure; where the registry does not answer it, it is not run.
 * @param {string} text
 * @returns {{ ok: boolean, isRun: boolean, word: string }}
 */
export function judged(text) {
  const { vulnerabilities, metadata, message, error } = parsed(text) ?? {};
  if (!metadata?.vulnerabilities || !vulnerabilities) {
    const status = /\b[45]\d\d [A-Z][A-Za-z ]+/.exec(String(message ?? error?.summary ?? ""))?.[0];
    const why = status ? ` (${status.trim()})` : "";
    const word = `the registry does not answer it${why}, so nothing was checked`;
    return { ok: true, isRun: false, word };
  }
  const { high, critical, total } = metadata.vulnerabilities;
  if (high + critical === 0)
    return { ok: true, isRun: true, word: `nothing high or critical; ${total} in all` };
  const names = Object.entries(vulnerabilities)
    .filter(([, { severity }]) => severity === "high" || severity === "critical")
    .map(([name, { severity }]) => `${name} (${severity})`);
  const word = `${high} high, ${critical} critical: ${names.join(", ")}`;
  return { ok: false, isRun: true, word };
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * What a command prints, whatever its exit code.
 * @param {[string, string[]]} command
 * @returns {Promise<string>}
 */
function output([command, args]) {
  return new Promise((resolve) => {
    const options = { cwd: root, maxBuffer: 100_000_000, timeout: 120_000 };
    execFile(command, args, options, (_error, stdout) => resolve(stdout));
  });
}
