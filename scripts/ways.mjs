#!/usr/bin/env node
// `node scripts/ways.mjs`: counts the files of ours that a letter and a callback enter.
//
// The rule. A letter is sent on a real local system (PostgreSQL, Temporal, sandbox, worker, receiver, relay) whose compiled files report
// each call of one of their functions. A file is on a way if one of its functions is called between the way's start and its end, in a
// process of the way. It is entered as often as there are other files of ours that call it, and once if only libraries do. It hands on
// if it calls another file of the way; else it returns to its caller.
//
// (a) from `trustflow.sendPostal()` to the first request that the worker sends to the provider: client and worker.
// (b) from the receiver's first request of a callback to the process's signal handler (`log.applyEvents`): receiver, relay and worker.
//
// Files of the floors below (contracts, crypto, postgres, configuration) and of the codec are tools of every way: listed apart.
import { cp, mkdir, readdir, readFile, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { parseSync } from "@swc/core";
import { ensureInstalled } from "./install.mjs";
import { root, runBuild, say } from "./steps.mjs";

const LIBRARY = "(library)";
const HANDLER = "workflows/runtime/event-log.js";
const UNTRACED = /^(cli|schemas)\/|^(cli|ways-trace)\.js$/;
const TOOL = /^(contracts|crypto|postgres|config|temporal)\//;

const packages = {
  trustflow: ".",
  "trustflow-sandbox": "packages/sandbox",
  "trustflow-dev": "packages/dev",
};

/** @typedef {{ roles: string[], from: (line: string) => boolean, to: (line: string) => boolean }} Way */

/** @type {Way} */
const letter = {
  roles: ["client", "worker"],
  from: (line) => line.startsWith("client client.js "),
  to: (line) => line.startsWith("worker -- request POST "),
};
/** @type {Way} */
const callback = {
  roles: ["receiver", "relay", "worker"],
  from: (line) => line === "receiver -- received",
  to: (line) => line.startsWith(`worker ${HANDLER} workflows/runtime/flow.js`),
};

if (!((await ensureInstalled()) && (await runBuild()))) process.exit(1);
// Below node_modules, so that its files find the libraries.
const copy = join(root, "node_modules", ".cache", "trustflow-ways");
await rm(copy, { recursive: true, force: true });
await mkdir(copy, { recursive: true });
try {
  await instrument();
  const trace = await sendLetter();
  report("(a) trustflow.sendPostal() to the provider's socket", wayOf(trace, letter));
  report("(b) the receiver's socket to the process's handler", wayOf(trace, callback));
} finally {
  await rm(copy, { recursive: true, force: true });
}

async function instrument() {
  for (const folder of Object.values(packages))
    for (const part of ["dist", "package.json"])
      await cp(join(root, folder, part), join(copy, folder, part), { recursive: true });
  await cp(join(root, "packages/dev/temporal"), join(copy, "packages/dev/temporal"), {
    recursive: true,
  });
  // What the packages import of each other is the copy.
  await mkdir(join(copy, "node_modules"));
  for (const [name, folder] of Object.entries(packages))
    await symlink(join(copy, folder), join(copy, "node_modules", name));
  await cp(join(root, "scripts", "ways-trace.mjs"), join(copy, "dist", "ways-trace.js"));
  const files = await readdir(join(copy, "dist"), { recursive: true });
  for (const file of files.filter((name) => name.endsWith(".js") && !UNTRACED.test(name))) {
    const path = join(copy, "dist", file);
    const code = await readFile(path);
    const headers = [...code.toString("latin1").matchAll(/^\/\*\*\*\/ "\.\/(?:dist\/)?([^"]+)"/gm)];
    const isBundle = file === "workflow-bundle.js";
    await writeFile(
      path,
      withEntries(code, (offset) =>
        isBundle ? headers.findLast(({ index }) => index < offset)?.[1] : file,
      ),
    );
  }
  const cli = join(copy, "dist", "cli.js");
  const text = await readFile(cli, "utf8");
  await writeFile(cli, text.replace(/^(#!.*\n)?/, '$1import "./ways-trace.js";\n'));
}

/**
 * The code with a call at the beginning of each function.
 * @param {Buffer} code
 * @param {(offset: number) => string | undefined} fileOf
 */
function withEntries(code, fileOf) {
  // The semicolon begins the first span, so that spans count from the beginning of the file, in bytes.
  const parsed = parseSync(`;${code.toString()}`, { syntax: "ecmascript", target: "es2022" });
  const base = parsed.span.start + 1;
  /** @type {{ at: number, text: string }[]} */
  const inserted = [];
  /** @param {number} from @param {number} to */
  const textOf = (from, to) => code.subarray(from, to).toString();
  /** @param {any} node */
  const visit = (node) => {
    if (node === null || typeof node !== "object") return;
    const body = node.body;
    if (body?.span && (body.type === "FunctionBody" || node.type === "ArrowFunctionExpression")) {
      const [start, end] = [body.span.start - base, body.span.end - base];
      const file = fileOf(start);
      const call = `TextEncoder.enter?.(${JSON.stringify(file)})`;
      // What the bundler has made around a module and each of its exports is no function of ours.
      const isMade =
        /__webpack_(module|exports)/.test(textOf(node.span?.start - base, start)) ||
        /^\(\/\* (binding|reexport)/.test(textOf(start, start + 20));
      if (file !== undefined && !file.startsWith("node_modules/") && !isMade) {
        if (/^(FunctionBody|BlockStatement)$/.test(body.type))
          inserted.push({ at: start + 1, text: `${call};` });
        else inserted.push({ at: start, text: `(${call},` }, { at: end, text: ")" });
      }
    }
    for (const child of Object.values(node)) visit(child);
  };
  visit(parsed.body);
  const pieces = [];
  let from = 0;
  for (const { at, text } of inserted.toSorted((one, other) => one.at - other.at)) {
    pieces.push(code.subarray(from, at), Buffer.from(text));
    from = at;
  }
  return Buffer.concat([...pieces, code.subarray(from)]);
}

/** @returns {Promise<string[]>} */
async function sendLetter() {
  /** @param {string} file */
  const load = (file) => import(pathToFileURL(join(copy, file)).href);
  await load("dist/ways-trace.js");
  const { startStack } = await load("packages/dev/dist/index.js");
  const { sandboxControl } = await load("packages/sandbox/dist/index.js");
  const stack = await startStack({
    directory: join(copy, "stack"),
    persistent: false,
    roles: ["sandbox", "receiver", "relay", "worker"],
    sandboxSpeed: 1,
    progress: say,
  });
  try {
    Object.assign(process.env, stack.clientEnv);
    const { Trustflow } = await load("dist/client.js");
    const trustflow = await Trustflow.connect();
    const input = JSON.parse(await readFile(join(root, "examples", "letter.json"), "utf8"));
    const content = await readFile(join(root, "examples", "letter.pdf"));
    const document = await trustflow.documents.put(content, "application/pdf");
    await truncate(join(copy, "trace.txt"));
    await trustflow.sendPostal("ways-1", { ...input, document });
    await walked(letter);
    // The provider's first callback.
    await sandboxControl(stack.sandboxUrl).advance(3_600_000);
    await walked(callback);
    await trustflow.close();
  } finally {
    await stack.close();
  }
  return lines();
}

/**
 * Until the trace has the end of the way, and what was under way then has ended.
 * @param {Way} way
 */
async function walked({ to }) {
  const until = Date.now() + 60_000;
  while (!(await lines()).some(to)) {
    if (Date.now() > until) throw new Error("the end of the way was not reached in a minute");
    await sleep(200);
  }
  await sleep(3_000);
}

/** @returns {Promise<string[]>} */
async function lines() {
  return (await readFile(join(copy, "trace.txt"), "utf8")).split("\n");
}

/**
 * Each file with the files from which it was entered, in the order of their first entries.
 * @param {string[]} trace
 * @param {Way} way
 */
function wayOf(trace, { roles, from, to }) {
  const start = trace.findIndex(from);
  const length = trace.slice(start).findIndex(to);
  if (start < 0 || length < 0) throw new Error("the trace has no such way");
  /** @type {Map<string, Set<string>>} */
  const entries = new Map();
  for (const line of trace.slice(start, start + length + 1)) {
    const [role = "", file = "", caller = ""] = line.split(" ");
    if (file === "--" || !roles.includes(role) || file === caller) continue;
    entries.set(file, (entries.get(file) ?? new Set()).add(caller));
  }
  return entries;
}

/**
 * @param {string} title
 * @param {Map<string, Set<string>>} entries
 */
function report(title, entries) {
  const [tools = [], files = []] = [true, false].map((isTool) =>
    [...entries].filter(([file]) => TOOL.test(file) === isTool),
  );
  const rows = files.map(([file, callers]) => {
    const ours = [...callers].filter((caller) => caller !== LIBRARY);
    const handsOn = files.some(([other, by]) => other !== file && by.has(file));
    return { file, from: ours.length > 0 ? ours : [LIBRARY], handsOn };
  });
  const onward = rows.filter(({ handsOn }) => handsOn);
  const often = rows.filter(({ from }) => from.length > 2);
  console.log(
    `${title}: ${rows.length} files, ${onward.length} of them hand on; ${often.length} are entered more than twice`,
  );
  for (const { file, from, handsOn } of rows)
    console.log(
      `  ${from.length} ${handsOn ? ">" : " "} src/${file.replace(/js$/, "ts")}  from ${from.join(", ")}`,
    );
  console.log(`  and ${tools.length} tools: ${tools.map(([file]) => file).join(", ")}`);
}
