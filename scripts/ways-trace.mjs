// Runs in each process of `scripts/ways.mjs`, before any of our files: writes each entry into one of our functions, and the marks of the
// ways, into one file that all of them append to.
import { openSync, readFileSync, writeSync } from "node:fs";
import { subscribe } from "node:diagnostics_channel";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const traceFile = openSync(`${here}/../trace.txt`, "a");
const role = process.argv[2] === undefined ? "client" : process.argv[2];

/** @param {string} line */
const write = (line) => void writeSync(traceFile, `${line}\n`);

// The bundle's modules by line; the workflows run in this thread, so that they reach what stands below.
process.env["TEMPORAL_DEBUG"] = "1";
const modules = readFileSync(`${here}/workflow-bundle.js`, "utf8")
  .split("\n")
  .flatMap((text, line) => {
    const [, name] = /^\/\*\*\*\/ "\.\/(?:dist\/)?([^"]+)"/.exec(text) ?? [];
    return name === undefined ? [] : [{ line: line + 1, name }];
  });

/**
 * The file of a frame, as src has it; undefined where it is none of ours.
 * @param {NodeJS.CallSite} site
 */
function fileOf(site) {
  const name = (site.getFileName() ?? "").replace(/^file:\/\//, "");
  if (/workflow-bundle/.test(name)) {
    const line = site.getLineNumber() ?? 0;
    const found = modules.findLast((module) => module.line <= line)?.name;
    return found === undefined || found.startsWith("node_modules/") ? undefined : found;
  }
  return name.startsWith(here) ? name.slice(here.length) : undefined;
}

/** @param {string} file whose function has just been called */
function enter(file) {
  const before = Error.prepareStackTrace;
  Error.prepareStackTrace = (_, sites) => sites;
  const sites = /** @type {NodeJS.CallSite[]} */ (/** @type {unknown} */ (new Error("").stack));
  Error.prepareStackTrace = before;
  // The first two are this function and the one that was called; a call from within JavaScript's own functions counts for their caller.
  const caller = sites.slice(2).find((site) => Boolean(site.getFileName()));
  write(`${role} ${file} ${(caller && fileOf(caller)) ?? "(library)"}`);
}
// The one object that the workflows' realm shares with this one.
Object.assign(TextEncoder, { enter });

subscribe("http.client.request.start", (message) => {
  const { request } = /** @type {{ request: import("node:http").ClientRequest }} */ (message);
  write(`${role} -- request ${request.method} ${request.path}`);
});
subscribe("http.server.request.start", (message) => {
  const { request } = /** @type {{ request: import("node:http").IncomingMessage }} */ (message);
  if (request.url?.startsWith("/callbacks/")) write(`${role} -- received`);
});
