// A Docker engine of the test's own. Its images stay in the cache; its containers, volumes, networks and firewall rules end with it.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { startChild, logTail } from "../../packages/dev/src/processes/child.js";
import { removeOnExit } from "../../packages/dev/src/processes/watchdog.js";
import { fileOf, standInsFolder } from "./stand-ins/programs.js";

export const engineData = join(standInsFolder, "engine");

export interface Engine {
  /** By which `docker` and `docker compose` reach it. */
  env: Record<string, string>;
  close(): Promise<void>;
}

/** Which Debian package has each program that is needed. */
const packages = {
  dockerd: "docker.io",
  docker: "docker.io",
  debootstrap: "debootstrap",
  iptables: "iptables",
  ip: "iproute2",
  nsenter: "util-linux",
  openssl: "openssl",
};

/** Why no engine can be started here; undefined if one can. */
export function obstacle(): string | undefined {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "it needs Linux, and root";
  const missing = Object.entries(packages).filter(
    ([program]) => spawnSync(program, ["--version"]).error,
  );
  if (missing.length > 0)
    return `install ${[...new Set(missing.map(([, name]) => name))].join(", ")}`;
  if (spawnSync("iptables", ["--list-rules"]).status !== 0)
    return "the firewall cannot be changed here";
  if (spawnSync("pgrep", ["-x", "dockerd"]).status === 0)
    return "another Docker engine is running: both would use the same bridge";
  return undefined;
}

export async function startEngine(): Promise<Engine> {
  const folder = await mkdtemp(join(tmpdir(), "trustflow-engine-"));
  const unregister = removeOnExit(folder);
  const socket = `unix://${folder}/docker.sock`;
  const env = { DOCKER_HOST: socket, DOCKER_CONFIG: folder, DOCKER_BUILDKIT: "0" };
  await mkdir(join(folder, "cli-plugins"));
  await symlink(fileOf("compose", "docker-compose"), join(folder, "cli-plugins", "docker-compose"));
  const logFile = join(folder, "dockerd.log");
  const before = { policy: policyOfForward(), forwarding: readFileSync(FORWARDING) };
  const daemon = await startChild({
    command: "dockerd",
    args: [
      ...["--data-root", engineData, "--exec-root", join(folder, "exec"), "--host", socket],
      ...["--pidfile", join(folder, "pid"), "--log-level", "warn"],
    ],
    logFile,
  });
  const docker = (args: string) =>
    spawnSync(`docker ${args}`, { shell: true, env: { ...process.env, ...env }, encoding: "utf8" });
  const clear = () => {
    docker("rm --force --volumes $(docker ps --all --quiet)");
    docker("network prune --force");
    docker("volume rm $(docker volume ls --quiet)");
    // `docker compose up` builds what is missing, and not what is old. Its layers stay.
    docker("rmi --no-prune trustflow:local trustflow-sandbox:local");
  };
  while (docker("version").status !== 0) {
    if (!daemon.isAlive()) throw new Error(`dockerd did not start: ${await logTail(logFile)}`);
    await delay(200);
  }
  // A run that was killed leaves some.
  clear();
  return {
    env,
    async close() {
      clear();
      docker("image prune --force --filter until=168h");
      await daemon.stop(30_000);
      dropRules();
      execFileSync("iptables", before.policy);
      writeFileSync(FORWARDING, before.forwarding);
      await rm(folder, { recursive: true, force: true });
      unregister();
    },
  };
}

/** Whether this host passes on packets: the engine switches it on. */
const FORWARDING = "/proc/sys/net/ipv4/ip_forward";

/** The arguments by which it is set again. */
const policyOfForward = () =>
  execFileSync("iptables", ["--list-rules", "FORWARD"], { encoding: "utf8" })
    .split("\n", 1)
    .flatMap((line) => line.split(" "));

/** The engine leaves its bridge, its rules and its chains. No other engine is running. */
function dropRules(): void {
  if (existsSync("/sys/class/net/docker0")) execFileSync("ip", ["link", "delete", "docker0"]);
  for (const table of ["filter", "nat"]) {
    const iptables = (...args: string[]) =>
      execFileSync("iptables", ["--wait", "--table", table, ...args], { encoding: "utf8" });
    const rules = iptables("--list-rules")
      .split("\n")
      .filter((rule) => /DOCKER|docker0/.test(rule));
    for (const rule of rules.filter((each) => each.startsWith("-A")))
      iptables(...rule.replace("-A", "-D").split(" "));
    const chains = rules.filter((each) => each.startsWith("-N")).map((each) => each.slice(3));
    for (const chain of chains) iptables("--flush", chain);
    for (const chain of chains) iptables("--delete-chain", chain);
  }
}
