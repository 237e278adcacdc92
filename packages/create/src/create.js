#!/usr/bin/env node
// `npm create trustflow@latest my-app`: writes a first application into a new folder and installs its packages.
import { spawnSync } from "node:child_process";
import { cp, mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { basename, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const own = fileURLToPath(new URL("..", import.meta.url));
/** All packages of Trustflow have the same version. */
const { version } = JSON.parse(await readFile(join(own, "package.json"), "utf8"));

/**
 * @param {string} message
 * @returns {never}
 */
function refuse(message) {
  console.error(message);
  process.exit(1);
}

const [given, ...rest] = process.argv.slice(2);
if (given === undefined || given.startsWith("-") || rest.length > 0)
  refuse("Name the new folder, and nothing else: npm create trustflow@latest my-app");
const folder = resolve(given);
const name = basename(folder);
if (!/^[a-z0-9][a-z0-9._-]{0,213}$/.test(name))
  refuse(
    `"${name}" cannot be the name of a package: use lower-case letters, digits, ".", "_" and "-", and begin with a letter or a digit`,
  );
const there = await readdir(folder).catch((/** @type {NodeJS.ErrnoException} */ error) => {
  if (error.code === "ENOENT") return [];
  return refuse(
    error.code === "ENOTDIR"
      ? `${given} is a file: choose another name`
      : `${given}: ${error.message}`,
  );
});
if (there.some((file) => file !== ".git"))
  refuse(`${given} exists and is not empty: choose another name, or empty the folder`);

await mkdir(folder, { recursive: true });
await cp(join(own, "template"), folder, { recursive: true });
// npm leaves a .gitignore out of a package.
await rename(join(folder, "gitignore"), join(folder, ".gitignore"));
const manifest = {
  name,
  version: "0.0.0",
  private: true,
  type: "module",
  scripts: { start: "node index.js" },
  dependencies: { "trustflow-dev": version },
};
await writeFile(join(folder, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);

/** npm, pnpm or yarn: the one that runs this. */
const [manager = "npm"] = (process.env["npm_config_user_agent"] || "npm").split("/");
console.log(`${name}: installing its packages with ${manager}`);
const { status } = spawnSync(manager, ["install"], {
  cwd: folder,
  stdio: "inherit",
  shell: process.platform === "win32",
});
if (status !== 0)
  refuse(`${name} is written, but \`${manager} install\` failed: run it again in ${given}`);
const enter = relative("", folder);
/**
 * In double quotes, which Windows needs, a POSIX shell would read `$` and backticks.
 * @param {string} path
 */
function quoted(path) {
  if (/^[\w./-]*$/.test(path)) return path;
  return process.platform === "win32" ? `"${path}"` : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
console.log(`\n${name} is ready:\n\n${enter ? `  cd ${quoted(enter)}\n` : ""}  ${manager} start\n`);
