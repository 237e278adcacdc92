// The demo runs in this very process, so that signals and the terminal reach it directly.
import { fileURLToPath } from "node:url";

/** @param {string[]} args */
export async function demo(args) {
  const cli = new URL("../dist/cli.js", import.meta.url);
  process.argv.splice(1, process.argv.length, fileURLToPath(cli), "demo", ...args);
  await import(cli.href);
  // The CLI sets it when the demo ends.
  return process.exitCode;
}
