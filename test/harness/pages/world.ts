// A place where a reader follows the pages: a copy of the checkout, a home folder with nothing in it, and a shell that keeps its
// folder and variables from one command to the next. Everything that is started there ends with it.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { killOnExit, removeOnExit } from "../../../packages/dev/src/processes/watchdog.js";
import { cacheDirectory } from "../../../packages/dev/src/paths.js";
import { files, root } from "../../docs/repository.js";

const COMMAND_LIMIT_MS = 600_000;
const END_LIMIT_MS = 60_000;

/** How npm, pip and Go reach their registries from this machine, and where they keep what they have fetched. */
const registrySetting =
  /^(npm_config_(userconfig|globalconfig|registry|cache|cafile|proxy|https_proxy|noproxy)|https?_proxy|no_proxy|ssl_cert_(file|dir)|pip_\w+|pyenv_root|go(proxy|sumdb|noproxy|private))$/i;

/** What a server prints when it is ready: `trustflow dev`, and a role. */
const readyMark = /Everything is running|"ready":/;

export interface Printed {
  code: number | null;
  /** Of both streams, as on a terminal. */
  output: string;
}

export class PageWorld {
  /** All that was printed so far. */
  seen = "";
  readonly checkout: string;
  readonly #folder: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #ends: (() => Promise<void>)[] = [];
  readonly #servers = new Map<ChildProcess, () => void>();

  private constructor(folder: string, env: NodeJS.ProcessEnv) {
    this.#folder = folder;
    this.checkout = join(folder, "trustflow");
    this.#env = env;
  }

  static async open(): Promise<PageWorld> {
    const folder = await mkdtemp(join(tmpdir(), "trustflow-pages-"));
    removeOnExit(folder);
    const { PATH = "", LANG = "" } = process.env;
    const { TEMPORAL_CLI_PATH = "" } = process.env;
    const programs = join(folder, "programs");
    const settings = Object.entries(process.env).filter(([name]) => registrySetting.test(name));
    const world = new PageWorld(folder, {
      ...Object.fromEntries(settings),
      PATH: `${programs}:${dirname(process.execPath)}:${PATH}`,
      HOME: join(folder, "home"),
      LANG,
      TEMPORAL_CLI_PATH,
      TRUSTFLOW_CACHE: cacheDirectory(),
      npm_config_loglevel: "error",
      npm_config_update_notifier: "false",
    });
    const { checkout } = world;
    await Promise.all([mkdir(programs), mkdir(join(folder, "home")), mkdir(checkout)]);
    for (const path of files)
      await cp(join(root, path), join(checkout, path), { recursive: true, verbatimSymlinks: true });
    await Promise.all([
      ...["", "packages/client", "packages/dev", "packages/sandbox"].map((name) =>
        cp(join(root, name, "dist"), join(checkout, name, "dist"), { recursive: true }),
      ),
      symlink(join(root, "node_modules"), join(checkout, "node_modules")),
      // Installed, as the operations guide has it.
      symlink(join(checkout, "dist", "cli.js"), join(programs, "trustflow")),
    ]);
    return world;
  }

  set(name: string, value: string): void {
    this.#env[name] = value;
  }

  async run(command: string, typed = ""): Promise<Printed> {
    const state = join(this.#folder, "shell-state");
    // What the command leaves in the shell is there for the next one.
    const lines = [
      `[ -e '${state}' ] && . '${state}'`,
      command,
      "code=$?",
      `{ export -p; printf 'cd %q\\n' "$PWD"; } > '${state}'`,
      "exit $code",
    ];
    const { child, output } = this.#start(lines);
    child.stdin?.end(typed);
    const unregister = killOnExit(-(child.pid ?? 0), "SIGKILL");
    const limit = setTimeout(() => endGroup(child, "SIGKILL"), COMMAND_LIMIT_MS);
    const [code] = (await once(child, "close")) as [number | null];
    clearTimeout(limit);
    unregister();
    this.seen += output();
    return { code, output: output() };
  }

  /** A command that stays until Ctrl-C, in a terminal of its own; what it has printed when it is ready. */
  async serve(command: string): Promise<string> {
    const { child, output } = this.#start([command]);
    const unregister = killOnExit(-(child.pid ?? 0));
    this.#servers.set(child, unregister);
    while (!readyMark.test(output())) {
      if (child.exitCode !== null)
        throw new Error(`${command} ended with ${child.exitCode}:\n${output()}`);
      await delay(50);
    }
    this.seen += output();
    return output();
  }

  /** Ctrl-C in each terminal in which something runs. */
  async interrupt(): Promise<void> {
    await Promise.all(
      [...this.#servers].map(async ([child, unregister]) => {
        const ended = once(child, "close");
        endGroup(child, "SIGINT");
        const limit = setTimeout(() => endGroup(child, "SIGKILL"), END_LIMIT_MS);
        await ended;
        clearTimeout(limit);
        unregister();
      }),
    );
    this.#servers.clear();
  }

  atEnd(work: () => Promise<void>): void {
    this.#ends.push(work);
  }

  async close(): Promise<void> {
    await this.interrupt();
    for (const end of this.#ends) await end();
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  /** A program of the reader's PATH, as a script of the shell. */
  program(name: string, script: string): Promise<void> {
    return writeFile(join(this.#folder, "programs", name), `#!/bin/sh\n${script}\n`, {
      mode: 0o755,
    });
  }

  file(name: string, text: string): Promise<void> {
    return writeFile(join(this.checkout, name), text);
  }

  #start(lines: string[]): { child: ChildProcess; output: () => string } {
    const child = spawn("bash", ["-c", lines.join("\n")], {
      cwd: this.checkout,
      env: this.#env,
      detached: true,
      stdio: ["pipe", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.stdin.on("error", () => {});
    return { child, output: () => output };
  }
}

function endGroup({ pid = 0 }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // It has ended meanwhile.
  }
}
