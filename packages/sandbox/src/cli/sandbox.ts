// `trustflow-sandbox`, and `trustflow sandbox`: runs the simulated providers, or controls a running sandbox.
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Command, Option } from "commander";
import type { Speed } from "../engine/clock.js";
import type { PersonTime, SandboxOptions } from "../options.js";
import {
  CommandError,
  controlsOf,
  describe,
  exitCodes,
  span,
  speed,
  wholeNumber,
} from "./command.js";
import type { Program } from "./command.js";
import { addControls } from "./control.js";

const port = wholeNumber(0, 65_535);

interface RunOptions {
  host: string;
  port: number;
  tlsPort?: number;
  pki?: string;
  speed: Speed;
  personTime?: PersonTime;
  seed?: string;
  state?: string;
  otpLifetime?: number;
  assertionLifetime?: number;
}

/** Adds the command `sandbox` to another program. */
export function addCommands(
  program: Command,
  { sandboxUrl }: { sandboxUrl: () => string | undefined },
): void {
  asSandbox(program.command("sandbox"), { name: `${program.name()} sandbox`, url: sandboxUrl });
}

/** Makes `command` the sandbox's, with its sub-commands. */
export function asSandbox(command: Command, program: Program): Command {
  describe(command, program.name, {
    summary: "run the simulated providers, or control a running sandbox",
    details: `Without a sub-command the sandbox runs until SIGTERM or SIGINT and prints one JSON line when it is ready.
The sub-commands control a running sandbox.`,
    example: "--port 8090 --speed 3600\nledger --json",
  })
    .option("--json", "print JSON on stdout")
    .option("--host <host>", "host to listen on", "127.0.0.1")
    .option("--port <port>", "port to listen on; 0: a free port", port, 8090)
    .option("--tls-port <port>", "port for mutual TLS; default: the next port", port)
    .option("--pki <directory>", "folder for its TLS files; default: below --state, else temporary")
    .option(
      "--speed <factor>",
      "speed of the virtual clock: virtual seconds per second, or manual, or auto",
      speed,
      1,
    )
    .addOption(
      new Option(
        "--person-time <clock>",
        "clock by which codes, assertions and call tokens expire; default: real with --speed auto, else virtual",
      ).choices(["real", "virtual"]),
    )
    .option("--seed <text>", "seed of its IDs")
    .option("--state <directory>", "folder that keeps its state over a restart; default: in memory")
    .option("--otp-lifetime <span>", "how long a one-time password is valid; default 10m", span)
    .option("--assertion-lifetime <span>", "maximum age of an eID assertion; default 5m", span)
    .allowExcessArguments()
    .action((options: RunOptions) => {
      // Names the nearest sub-command; its types leave it out.
      if (command.args.length > 0)
        (command as Command & { unknownCommand(): never }).unknownCommand();
      return run(options);
    });
  addControls(controlsOf(command, program));
  return command;
}

async function run(options: RunOptions): Promise<void> {
  const { state, pki, otpLifetime, assertionLifetime, ...listening } = options;
  const { startSandbox } = await import("../sandbox.js");
  const given: SandboxOptions = {
    ...listening,
    tlsPort: options.tlsPort ?? (options.port && options.port + (options.port < 65_535 ? 1 : -1)),
    health,
    ...(state !== undefined && { stateDirectory: state }),
    ...(pki !== undefined && { pkiDirectory: pki }),
    ...(otpLifetime !== undefined && { otpLifetimeMs: otpLifetime }),
    ...(assertionLifetime !== undefined && { assertionLifetimeMs: assertionLifetime }),
  };
  const ending = ended();
  const sandbox = await startSandbox(given).catch((error: Error & { syscall?: string }) => {
    const hint =
      error.syscall === "listen" ? ": choose others by --host, --port and --tls-port" : "";
    throw new CommandError(
      exitCodes.unreachable,
      `The sandbox did not start: ${error.message}${hint}`,
    );
  });
  const { url, tlsUrl, pki: files } = sandbox;
  process.stdout.write(`${JSON.stringify({ ready: "sandbox", url, tlsUrl, pki: files })}\n`);
  await ending;
  await sandbox.close();
  // When Node runs out of work, it removes signal handlers first, and another signal would then kill the process.
  process.exit();
}

/** A second signal does not interrupt the stop. A sandbox with an IPC channel ends with its parent. */
async function ended(): Promise<void> {
  const signals = ["SIGTERM", "SIGINT", "SIGHUP"].map((signal) => {
    process.on(signal, () => undefined);
    return once(process, signal);
  });
  const ofParent = process.connected ? [once(process, "disconnect")] : [];
  process.channel?.unref();
  await Promise.race([...signals, ...ofParent]);
}

/** Of orchestrators: it is ready as soon as it listens. */
function health({ method, url }: IncomingMessage, response: ServerResponse): boolean {
  if (method !== "GET" || (url !== "/health" && url !== "/ready")) return false;
  response.writeHead(200, { "content-type": "application/json" }).end('{"ok":true}\n');
  return true;
}
