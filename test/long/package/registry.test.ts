// What a stranger does, with npm alone: a local registry has the packages as they would be published, and nothing else is installed.
import { afterAll, beforeAll, expect, test } from "vitest";
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { freePorts } from "../../../packages/dev/src/processes/free-ports.js";
import { findOnPath } from "../../../packages/dev/src/processes/tools.js";
import { killOnExit, removeOnExit } from "../../../packages/dev/src/processes/watchdog.js";
import { root } from "../../docs/repository.js";
import { processesOf } from "../../harness/left-over.js";

const LIMIT_MS = 30 * 60_000;
const folder = await mkdtemp(join(tmpdir(), "trustflow-registry-"));
const [port, sandboxPort] = (await freePorts(2)) as [number, number];
const registry = `http://127.0.0.1:${port}/`;
removeOnExit(folder);
const children: ChildProcess[] = [];
let stranger: NodeJS.ProcessEnv;

beforeAll(async () => {
  const [packed] = await Promise.all([pack(), startRegistry()]);
  stranger = await strangersEnvironment();
  for (const tarball of packed)
    await promisify(execFile)("npm", ["publish", tarball, "--access", "public"], {
      cwd: folder,
      env: { ...stranger, [`npm_config_//127.0.0.1:${port}/:_authToken`]: "anybody" },
      maxBuffer: 1e8,
    });
}, LIMIT_MS);

afterAll(async () => {
  for (const child of children) end(child);
  await rm(folder, { recursive: true, force: true });
}, LIMIT_MS);

async function pack(): Promise<string[]> {
  const target = join(folder, "packed");
  const { platform, arch, execPath } = process;
  const args = ["scripts/pack.mjs", "--publishable", "--folder", target, `${platform}-${arch}`];
  await promisify(execFile)(execPath, args, { cwd: root, maxBuffer: 1e8 });
  return (await readdir(target)).map((name) => join(target, name));
}

/** Has our packages alone; asks the registry of this machine's npm for those of others. */
async function startRegistry(): Promise<void> {
  const { stdout: upstream } = await promisify(execFile)("npm", ["config", "get", "registry"]);
  const { stdout: ca } = await promisify(execFile)("npm", ["config", "get", "cafile"]);
  const ours = { access: "$all", publish: "$all" };
  const config = join(folder, "registry.yaml");
  // JSON is YAML.
  const settings = {
    storage: join(folder, "storage"),
    uplinks: { others: { url: upstream.trim(), timeout: "60s", maxage: "60m", max_fails: 10 } },
    packages: {
      "create-trustflow": ours,
      "{trustflow,trustflow-*}": ours,
      "**": { access: "$all", proxy: "others" },
    },
    max_body_size: "500mb",
    web: { enable: false },
    log: { type: "file", path: join(folder, "registry.log"), level: "warn" },
  };
  await writeFile(config, JSON.stringify(settings));
  const bin = join(
    dirname(createRequire(import.meta.url).resolve("verdaccio/package.json")),
    "bin",
    "verdaccio",
  );
  start(process.execPath, [bin, "--config", config, "--listen", `127.0.0.1:${port}`], {
    ...process.env,
    ...(ca.trim() !== "null" && { NODE_EXTRA_CA_CERTS: ca.trim() }),
  });
  await answered(`${registry}-/ping`);
}

/** An empty home and cache, one registry, no way to another one, and nothing on PATH but what npm and the system need. */
async function strangersEnvironment(): Promise<NodeJS.ProcessEnv> {
  const [home, bin, tmp] = ["home", "bin", "tmp"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const made of [home, bin, tmp]) await mkdir(made);
  for (const name of ["node", "npm", "npx", "sh", "env", "setpriv", "true"]) {
    const program = await findOnPath(name);
    if (program !== undefined) await symlink(program, join(bin, name));
  }
  await writeFile(join(home, ".npmrc"), `registry=${registry}\n`);
  await writeFile(join(home, "global-npmrc"), "");
  const nowhere = "http://127.0.0.1:9";
  return {
    ...{ HOME: home, PATH: bin, TMPDIR: tmp },
    npm_config_globalconfig: join(home, "global-npmrc"),
    ...{ HTTP_PROXY: nowhere, HTTPS_PROXY: nowhere, NO_PROXY: "127.0.0.1" },
  };
}

/** In a process group of its own. */
function start(command: string, args: string[], env = process.env): ChildProcess {
  const child = spawn(command, args, {
    ...{ cwd: folder, env, detached: true, stdio: ["ignore", "pipe", "pipe"] },
  });
  killOnExit(-(child.pid as number));
  children.push(child);
  return child;
}

function end(child: ChildProcess, signal: NodeJS.Signals = "SIGTERM"): void {
  try {
    process.kill(-(child.pid as number), signal);
  } catch {
    // It has ended.
  }
}

async function answered(url: string): Promise<Response> {
  for (;;) {
    const response = await fetch(url).catch(() => undefined);
    if (response) return response;
    await delay(200);
  }
}

/** All that it says; resolves once that contains `text`, rejects if it ends before. */
function said(child: ChildProcess, text: string): Promise<string> {
  let output = "";
  return new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream?.on("data", (chunk: Buffer) => {
        output += chunk.toString();
        if (output.includes(text)) resolve(output);
      });
    child.once("close", (code) => reject(new Error(`ended with ${code}:\n${output}`)));
  });
}

test(
  "npm create trustflow@latest my-app && cd my-app && npm start: a letter is delivered, and Ctrl-C leaves nothing",
  async () => {
    const typed = "npm create trustflow@latest my-app && cd my-app && npm start";
    const child = start("sh", ["-c", typed], stranger);
    const closed = once(child, "close");
    await said(child, "my-app is ready");
    const installed = Date.now();
    const output = await said(child, "until you press Ctrl-C");
    const seconds = ((Date.now() - installed) / 1000).toFixed(1);
    console.log(`${seconds} s from the end of the install to the end of the first letter`);
    expect(output).toContain("sendPostal/order-1: delivered, with");
    const links = output.match(/http:\/\/127\.0\.0\.1:\S+/g) ?? [];
    expect(links).toHaveLength(3);
    for (const link of links) expect([link, (await fetch(link)).status]).toEqual([link, 200]);
    // An error names its section of this page.
    for (const name of ["trustflow", "trustflow-client"])
      expect(
        existsSync(join(folder, "my-app/node_modules", name, "docs/reference/client-errors.md")),
      ).toBe(true);
    // No server was built or downloaded.
    expect(existsSync(join(folder, "home", ".cache", "trustflow"))).toBe(false);
    end(child, "SIGINT");
    await closed;
    expect(await processesOf(join(folder, "tmp"))).toEqual([]);
    expect(await readdir(join(folder, "tmp"))).toEqual([]);
  },
  LIMIT_MS,
);

test(
  "npx trustflow-sandbox --port starts the simulated providers alone",
  async () => {
    const args = ["--yes", "trustflow-sandbox", "--port", String(sandboxPort)];
    const child = start("npx", args, stranger);
    expect((await answered(`http://127.0.0.1:${sandboxPort}/_sandbox/ledger`)).status).toBe(200);
    const closed = once(child, "close");
    end(child);
    await closed;
  },
  LIMIT_MS,
);
