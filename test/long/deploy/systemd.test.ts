// The page of systemd, followed from its first command to its last under a systemd that runs, with namespaces of its own.
import { afterAll, beforeAll, expect, test } from "vitest";
import { execFile, spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, rmdirSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { killOnExit } from "../../../packages/dev/src/processes/watchdog.js";
import { writeSecretFiles } from "../../../src/cli/keys/secret-files.js";
import { generateKeyRing } from "../../../src/crypto/key-ring.js";
import { readyLine } from "../../cli/run.js";
import { root, textOf } from "../../deploy/compose-file.js";
import { shellBlocks } from "../../docs/shell-blocks.js";
import { eventually } from "../../harness/outages/wait.js";
import { describeWith } from "../../harness/programs.js";
import { letterInput } from "../../processes/send-postal/inputs.js";

const page = "docs/operations/kubernetes-systemd.md";
const boot = join(root, "test/long/deploy/systemd/boot.sh");
const run = promisify(execFile);
const units = ["worker", "receiver", "relay", "codec-server"].map((role) => `trustflow@${role}`);

/** Where no other systemd runs, whose control groups it would share. */
const canRun =
  process.getuid?.() === 0 &&
  existsSync("/lib/systemd/systemd") &&
  !existsSync("/run/systemd/private") &&
  ["psql", "nsenter", "unshare"].every((program) => !spawnSync(program, ["--version"]).error);

describeWith("systemd", "the units of the page, started", followed, { isInstalled: canRun });

function followed(): void {
  let folder: string;
  let systemd: ChildProcess;
  let stand: ChildProcess;
  /** Its number among this machine's processes. */
  let pid: string;
  let temporal: string;

  const inside = (namespaces: string[], program: string, ...args: string[]) =>
    [["-t", pid, ...namespaces, "--", program, ...args]] as const;
  /** In a shell on that machine. Fails where the command does. */
  const shell = async (command: string): Promise<string> => {
    const [args] = inside(["-m", "-p", "-n", "-u", "-i"], "sh", "-c", `cd /srv/page && ${command}`);
    try {
      return (await run("nsenter", args)).stdout.trim();
    } catch (error) {
      const [journal] = inside(["-m", "-p"], "journalctl", "--no-pager", "--lines=20");
      const { stdout } = await run("nsenter", journal).catch(() => ({ stdout: "" }));
      throw new Error(`${command}:\n${stdout}`, { cause: error });
    }
  };
  /** As an operator runs it there: as a user who may read the secrets and the documents. */
  const trustflow = async (...args: string[]): Promise<string> => {
    const variables = {
      HOME: "/var/lib/trustflow",
      TEMPORAL_ADDRESS: temporal,
      TEMPORAL_TLS: "true",
      TEMPORAL_TLS_SERVER_CA_CERT_PATH: "secrets/tls/server-ca.pem",
      TEMPORAL_TLS_CLIENT_CERT_PATH: "secrets/tls/application.pem",
      TEMPORAL_TLS_CLIENT_KEY_PATH: "secrets/tls/application-key.pem",
      TRUSTFLOW_KEYS__CODEC__FILE: "secrets/keys_codec",
      TRUSTFLOW_KEYS__CODEC_WRITE__FILE: "secrets/keys_codec_write",
      TRUSTFLOW_KEYS__SECRETS_PUBLIC__FILE: "secrets/keys_secrets_public",
      TRUSTFLOW_KEYS__DOCUMENTS__FILE: "secrets/keys_documents",
      TRUSTFLOW_DOCUMENTS__DIRECTORY: "/var/lib/trustflow/documents",
    };
    const given = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
    const user = "setpriv --reuid=trustflow --regid=trustflow --clear-groups";
    return shell(`env ${given.join(" ")} ${user} trustflow ${args.join(" ")}`);
  };
  const areActive = async () =>
    (await shell(`systemctl is-active ${units.join(" ")} || true`)).replaceAll("active\n", "") ===
    "active";

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "trustflow-systemd-"));
    await writePage(join(folder, "page"));
    const namespaces = ["--net", "--pid", "--mount", "--uts", "--ipc", "--fork", "--kill-child"];
    systemd = spawn("unshare", [...namespaces, "sh", boot, folder, root, process.execPath], {
      detached: true,
      stdio: "ignore",
    });
    killOnExit(-(systemd.pid ?? 0), "SIGKILL");
    await eventually("systemd runs", async () => {
      const children = `/proc/${systemd.pid}/task/${systemd.pid}/children`;
      pid = (await readFile(children, "utf8")).trim();
      return pid && (await shell("systemctl is-system-running").catch(() => "")) === "running";
    });
    await shell("systemctl start systemd-journald");
    const [args] = inside(
      ["-n"],
      process.execPath,
      ...["--import", join(root, "scripts/typescript.mjs")],
      ...[join(root, "test/long/deploy/systemd/stand.ts"), folder],
    );
    stand = spawn("nsenter", args, { stdio: ["pipe", "pipe", "inherit"] });
    temporal = String((await readyLine(stand))["temporal"]);
    const file = join(folder, "page", ".env");
    const text = await readFile(file, "utf8");
    await writeFile(file, `${text}TEMPORAL_ADDRESS=${temporal}\n`);
  }, 120_000);
  afterAll(async () => {
    stand?.stdin?.end();
    if (stand?.exitCode === null) await once(stand, "exit");
    if (systemd?.pid) process.kill(-systemd.pid, "SIGKILL");
    await rm(folder, { recursive: true, force: true });
    await eventually("its control groups are gone", () => {
      for (const one of controlGroups()) removeGroups(one);
      return controlGroups().length === 0;
    });
  }, 60_000);

  test("each command of the page succeeds, and then each role runs and is ready", async () => {
    const { commands } = shellBlocks(page).find(({ commands: [first] }) =>
      first?.text.startsWith("useradd"),
    )!;
    for (const { text } of commands) await shell(text);
    await eventually("all are active", areActive);
    for (const [role, port] of Object.entries({ worker: 8082, relay: 8083, receiver: 8080 }))
      await eventually(`${role} is ready`, () => isReady(port));
    expect(await shell("systemctl list-timers --no-legend | grep -c trustflow")).toBe("2");
  }, 120_000);

  const isReady = async (port: number) => {
    const script = `fetch("http://127.0.0.1:${port}/ready").then((r) => r.json()).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))`;
    const [args] = inside(["-n"], process.execPath, "-e", script);
    return run("nsenter", args).then(
      () => true,
      () => false,
    );
  };

  test("a letter is delivered, although its worker is killed: systemd starts it again", async () => {
    const file = join(folder, "page", "letter.json");
    await writeFile(file, JSON.stringify(letterInput("unit", "delivered")));
    await shell("chown --recursive trustflow secrets");
    await trustflow("send-postal", "--input", "letter.json", "--id", "unit");
    await shell("systemctl kill --signal=KILL trustflow@worker");
    expect(JSON.parse(await trustflow("result", "sendPostal/unit", "--json"))).toMatchObject({
      outcome: "delivered",
    });
    expect(await shell("systemctl show --property=NRestarts --value trustflow@worker")).toBe("1");
  }, 120_000);

  test("the jobs of the timers succeed, and a stop is none that failed", async () => {
    for (const job of ["cleanup", "repair"]) await shell(`systemctl start trustflow@${job}`);
    await shell(`systemctl stop ${units.join(" ")}`);
    expect(await shell("systemctl list-units --failed --no-legend")).toBe("");
  }, 120_000);
}

/** What the page has done "as for Compose", in the reader's folder. */
async function writePage(folder: string): Promise<void> {
  await mkdir(join(folder, "secrets", "accounts"), { recursive: true });
  await cp(join(root, "deploy"), join(folder, "deploy"), { recursive: true });
  await writeSecretFiles(join(folder, "secrets"), generateKeyRing);
  await run("sh", [join(root, "deploy/mtls/make-certificates.sh"), join(folder, "secrets/tls")]);
  await writeFile(join(folder, "secrets/accounts/evi-post"), "sandbox");
  const filled = (example: string, values: Record<string, string>) =>
    Object.entries(values).reduce(
      (text, [name, value]) => text.replace(new RegExp(`^${name}=$`, "m"), `${name}=${value}`),
      textOf(example),
    );
  const settings = {
    TEMPORAL_RETENTION_DAYS: "90",
    TRUSTFLOW_ENVIRONMENT: "sandbox",
    TRUSTFLOW_CALLBACKS__PUBLIC_URL: "http://localhost:8080",
    TRUSTFLOW_CODEC_SERVER__CORS_ORIGINS: "http://localhost:8233",
  };
  await writeFile(join(folder, ".env"), filled(".env.example", settings));
  const account = "TRUSTFLOW_ACCOUNTS__DEFAULT__EVI_POST__";
  const accounts = {
    [`${account}BASE_URL`]: "http://localhost:8090",
    [`${account}USERNAME`]: "sandbox",
    [`${account}PASSWORD__FILE`]: "/run/credentials/trustflow@worker.service/accounts_evi-post",
  };
  await writeFile(join(folder, "accounts.env"), filled("accounts.env.example", accounts));
}

/** What that systemd has made at the top of each hierarchy of this machine. */
function controlGroups(): string[] {
  const top = "/sys/fs/cgroup";
  return readdirSync(top)
    .flatMap((hierarchy) =>
      ["init.scope", "system.slice"].map((name) => join(top, hierarchy, name)),
    )
    .filter(existsSync);
}

function removeGroups(path: string): void {
  for (const one of readdirSync(path, { withFileTypes: true }))
    if (one.isDirectory()) removeGroups(join(path, one.name));
  try {
    rmdirSync(path);
  } catch {
    // A process in it has not ended yet.
  }
}
