// The page of systemd, followed from its first command to its last under a systemd that runs, with namespaces of its own.
import { execFile, spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { killOnExit, removeOnExit } from "../../../packages/dev/src/processes/watchdog.js";
import { writeSecretFiles } from "../../../src/cli/keys/secret-files.js";
import { generateKeyRing } from "../../../src/crypto/key-ring.js";
import { readyLine } from "../../cli/run.js";
import { root, textOf } from "../../deploy/compose-file.js";
import { shellBlocks } from "../../docs/shell-blocks.js";
import { eventually } from "../../harness/outages/wait.js";
import { describeWith } from "../../harness/programs.js";
import { letterInput } from "../../processes/send-postal/inputs.js";

const page = "docs/operations/kubernetes-systemd.md";
const run = promisify(execFile);
const ports = { worker: 8082, relay: 8083, receiver: 8080, "codec-server": 8081 };
const units = Object.keys(ports)
  .map((role) => `trustflow@${role}`)
  .join(" ");

const newFolder = () => mkdtempSync(join(tmpdir(), "trustflow-systemd-"));
const boot = (folder: string, program: string) => [
  join(root, "test/long/deploy/systemd/boot.sh"),
  ...[folder, root, process.execPath, program],
];

/** Whether this machine gives what boot.sh asks for. */
function canBoot(): boolean {
  const needed = ["systemd-run", "dbus-daemon", "psql", "nsenter", "unshare", "openssl"];
  if (process.getuid?.() !== 0 || !existsSync("/lib/systemd/systemd")) return false;
  if (needed.some((program) => spawnSync(program, ["--version"]).error)) return false;
  const folder = newFolder();
  const { status } = spawnSync("sh", boot(folder, "true"));
  rmSync(folder, { recursive: true });
  return removeControlGroups(folder) && status === 0;
}

describeWith("systemd", "the units of the page, started", followed, { isInstalled: canBoot() });

function followed(): void {
  let folder: string;
  let systemd: ChildProcess;
  let stand: ChildProcess | undefined;
  /** Of that systemd, among this machine's processes. */
  let pid: string;
  const unregister: (() => void)[] = [];

  /** In the network of that systemd. */
  const inNetwork = (...args: string[]) => ["-t", pid, "-n", "--", process.execPath, ...args];
  const inside = (...args: string[]) => ["-t", pid, "-m", "-p", "-n", "-u", "-i", "--", ...args];
  /** In a shell under that systemd. Fails where the command does. */
  const shell = async (command: string): Promise<string> => {
    try {
      const { stdout } = await run("nsenter", inside("sh", "-c", `cd /srv/page && ${command}`));
      return stdout.trim();
    } catch (error) {
      const journal = inside("journalctl", "--no-pager", "--lines=20");
      const { stdout } = await run("nsenter", journal).catch(() => ({ stdout: "" }));
      throw new Error(`${command}:\n${stdout}`, { cause: error });
    }
  };
  const isReady = async (port: number): Promise<boolean> => {
    const asks = `process.exit((await fetch("http://127.0.0.1:${port}/ready")).ok ? 0 : 1)`;
    const asked = run("nsenter", inNetwork("--input-type=module", "-e", asks));
    return asked.then(
      () => true,
      () => false,
    );
  };

  beforeAll(async () => {
    folder = newFolder();
    unregister.push(removeOnExit(folder));
    await writePage(join(folder, "page"));
    systemd = spawn("sh", boot(folder, "systemd"), { detached: true, stdio: "inherit" });
    unregister.push(killOnExit(-(systemd.pid ?? 0), "SIGKILL"));
    await eventually("systemd runs", async () => {
      const children = `/proc/${systemd.pid}/task/${systemd.pid}/children`;
      pid = (await readFile(children, "utf8")).trim();
      if (pid === "") return false;
      return (await shell("systemctl is-system-running").catch(() => "")) === "running";
    });
    // Boot.sh has taken away what starts them.
    await shell("systemctl start systemd-journald dbus");
    const program = join(root, "test/long/deploy/systemd/stand.ts");
    const typescript = join(root, "scripts/typescript.mjs");
    stand = spawn("nsenter", inNetwork("--import", typescript, program, folder), {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const { temporal } = await readyLine(stand);
    const settings = join(folder, "page", ".env");
    const text = await readFile(settings, "utf8");
    await writeFile(settings, `${text}TEMPORAL_ADDRESS=${String(temporal)}\n`);
  }, 120_000);
  afterAll(async () => {
    stand?.stdin?.end();
    if (stand?.exitCode === null) await once(stand, "exit");
    if (systemd?.pid !== undefined) {
      process.kill(-systemd.pid, "SIGKILL");
      if (systemd.exitCode === null && systemd.signalCode === null) await once(systemd, "exit");
    }
    await eventually("its control groups are gone", () => removeControlGroups(folder));
    await rm(folder, { recursive: true, force: true });
    for (const each of unregister) each();
  }, 60_000);

  test("each command of the page succeeds, and then each role runs and is ready", async () => {
    const [install, commands] = shellBlocks(page).filter(({ commands: [first] }) =>
      /^(useradd|trustflow-run)/.test(first?.text ?? ""),
    );
    for (const { text } of install?.commands ?? []) await shell(text);
    for (const [role, port] of Object.entries(ports))
      await eventually(`${role} is ready`, () => isReady(port), 60_000);
    expect(await shell(`systemctl is-active ${units}`)).toBe("active\nactive\nactive\nactive");
    expect(await shell("systemctl list-timers --no-legend | grep -c trustflow")).toBe("2");
    await writeFile(
      join(folder, "page", "letter.json"),
      JSON.stringify(letterInput("order-7", "delivered")),
    );
    for (const { text } of commands?.commands ?? []) await shell(text);
    expect(commands?.commands.length).toBeGreaterThan(0);
  }, 120_000);

  test("systemd starts a killed worker again, and it delivers the next letter", async () => {
    const before = await restartsOf("worker");
    await shell("systemctl kill --signal=KILL trustflow@worker");
    await writeFile(
      join(folder, "page", "letter.json"),
      JSON.stringify(letterInput("unit", "delivered")),
    );
    await shell("trustflow-run cli send-postal --id unit --input - < letter.json");
    expect(
      JSON.parse(await shell("trustflow-run cli result sendPostal/unit --json")),
    ).toMatchObject({ outcome: "delivered" });
    expect(await restartsOf("worker")).toBe(before + 1);
  }, 120_000);

  const restartsOf = async (role: string): Promise<number> =>
    Number(await shell(`systemctl show --property=NRestarts --value trustflow@${role}`));

  test("a command ends with its own exit code, and ends when it is interrupted", async () => {
    expect(await shell("trustflow-run cli status sendPostal/nobody || echo $?")).toBe("3");
    const waits = "sh -c 'sleep 60 | trustflow-run cli send-postal --input -'";
    expect(await shell(`timeout --signal=INT 5 ${waits} || echo $?`)).toBe("124");
    expect(await shell("systemctl list-units --no-legend 'trustflow-cli-*'")).toBe("");
    expect(await shell("ls /run/*.accounts.env 2> /dev/null || echo none")).toBe("none");
  }, 120_000);

  test("the jobs of the timers succeed, and stopped roles have not failed", async () => {
    for (const job of ["cleanup", "repair"]) await shell(`systemctl start trustflow@${job}`);
    await shell(`systemctl stop ${units}`);
    expect(await shell("systemctl list-units --failed --no-legend")).toBe("");
  }, 120_000);
}

/** The reader's folder, with what the page takes from that of Compose. */
async function writePage(folder: string): Promise<void> {
  await mkdir(join(folder, "secrets", "accounts"), { recursive: true });
  await cp(join(root, "deploy"), join(folder, "deploy"), { recursive: true });
  await writeSecretFiles(join(folder, "secrets"), generateKeyRing);
  await run("sh", [join(root, "deploy/mtls/make-certificates.sh"), join(folder, "secrets/tls")]);
  await writeFile(join(folder, "secrets/accounts/evi-post"), "sandbox");
  const account = "TRUSTFLOW_ACCOUNTS__DEFAULT__EVI_POST__";
  await fillIn(folder, ".env", {
    TEMPORAL_RETENTION_DAYS: "90",
    TRUSTFLOW_ENVIRONMENT: "sandbox",
    TRUSTFLOW_CALLBACKS__PUBLIC_URL: "http://localhost:8080",
    TRUSTFLOW_CODEC_SERVER__CORS_ORIGINS: "http://localhost:8233",
  });
  await fillIn(folder, "accounts.env", {
    [`${account}BASE_URL`]: "http://localhost:8090",
    [`${account}USERNAME`]: "sandbox",
    [`${account}PASSWORD__FILE`]: "/run/credentials/trustflow@worker.service/accounts_evi-post",
  });
}

async function fillIn(folder: string, name: string, values: Record<string, string>): Promise<void> {
  let text = textOf(`${name}.example`);
  for (const [key, value] of Object.entries(values))
    text = text.replace(new RegExp(`^${key}=$`, "m"), `${key}=${value}`);
  await writeFile(join(folder, name), text);
}

/** Those that boot.sh has made for this folder. False where a process is left in one. */
function removeControlGroups(folder: string): boolean {
  const top = "/sys/fs/cgroup";
  if (!existsSync(top)) return true;
  const groups = readdirSync(top).map((kind) => join(top, kind, basename(folder)));
  for (const group of groups) if (existsSync(group)) removeGroup(group);
  return !groups.some(existsSync);
}

function removeGroup(path: string): void {
  for (const entry of readdirSync(path, { withFileTypes: true }))
    if (entry.isDirectory()) removeGroup(join(path, entry.name));
  try {
    rmdirSync(path);
  } catch {
    // A process in it has not ended yet.
  }
}
