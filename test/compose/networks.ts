// Who reaches whom, tried from the network of each container; and a host outside, which is a network of this machine's own.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { promisify } from "node:util";
import { root } from "../docs/repository.js";
import { killOnExit } from "../../packages/dev/src/processes/watchdog.js";

const run = promisify(execFile);

export interface Place {
  service: string;
  /** The id of its image. */
  image: string;
  pid: number;
  isHealthy: boolean;
  addresses: string[];
  /** The addresses of this host in its networks. */
  gateways: string[];
}

export interface Address {
  host: string;
  port: number;
}

interface Inspected {
  Image: string;
  Config: { Labels: Record<string, string> };
  State: { Pid: number; Health?: { Status: string } };
  NetworkSettings: { Networks: Record<string, { IPAddress: string; Gateway: string }> };
}

/** Of what `docker inspect` prints. */
export const placesOf = (inspected: string): Place[] =>
  (JSON.parse(inspected) as Inspected[]).map(({ Image, Config, State, NetworkSettings }) => {
    const networks = Object.values(NetworkSettings.Networks);
    return {
      service: Config.Labels["com.docker.compose.service"] ?? "",
      image: Image,
      pid: State.Pid,
      isHealthy: State.Health?.Status === "healthy",
      addresses: networks.map(({ IPAddress }) => IPAddress),
      gateways: networks.map(({ Gateway }) => Gateway).filter(Boolean),
    };
  });

/** In the network of a process, and otherwise on this host. */
const within = async (pid: number, command: string, ...args: string[]) =>
  (await run("nsenter", ["--target", String(pid), "--net", command, ...args])).stdout;

/** The ports of a place that are not on its loopback alone, at each of its addresses. */
export async function openAt({ pid, addresses }: Place): Promise<Address[]> {
  const listening = await within(pid, "ss", "--no-header", "--listening", "--tcp", "--numeric");
  const ports = [...listening.matchAll(/ (\S+):(\d+) +\S+:\*/g)]
    .filter(([, host = ""]) => !/^(127\.|\[::1\])/.test(host))
    .map(([, , port]) => Number(port));
  return addresses.flatMap((host) => [...new Set(ports)].map((port) => ({ host, port })));
}

/** Those that take a connection from there. */
export async function reachedFrom<A extends Address>({ pid }: Place, addresses: A[]): Promise<A[]> {
  const program = `${root}test/compose/connects.js`;
  const taken = await within(pid, process.execPath, program, JSON.stringify(addresses));
  const answers = JSON.parse(taken) as boolean[];
  return addresses.filter((_, index) => answers[index]);
}

/** A host that knows no way into the networks of the deployment, as those of the internet: it answers translated addresses alone. */
export async function startOutside(): Promise<Address & { close(): Promise<void> }> {
  const [name, here, host, port] = ["trustflow-outside", "203.0.113.1", "203.0.113.2", 80];
  const ip = (line: string) => run("ip", line.split(" "));
  // A run that was killed leaves it.
  await ip(`netns delete ${name}`).catch(() => undefined);
  await ip(`netns add ${name}`);
  await ip(`link add tf-outside type veth peer name eth0 netns ${name}`);
  await ip(`address add ${here}/30 dev tf-outside`);
  await ip(`link set tf-outside up`);
  await ip(`-n ${name} address add ${host}/30 dev eth0`);
  await ip(`-n ${name} link set eth0 up`);
  const script = `require("net").createServer().listen(${port}, "${host}", () => console.log("ready"))`;
  const server = spawn("ip", ["netns", "exec", name, process.execPath, "--eval", script]);
  const unregister = killOnExit(server.pid ?? 0);
  await once(server.stdout, "data");
  return {
    host,
    port,
    async close() {
      server.kill();
      await once(server, "close");
      unregister();
      await ip(`netns delete ${name}`);
    },
  };
}

/** A port of this host in all its networks. */
export async function startOnHost(): Promise<{ port: number; close(): void }> {
  const server = createServer().listen(0, "0.0.0.0");
  await once(server, "listening");
  return { port: (server.address() as AddressInfo).port, close: () => server.close() };
}
