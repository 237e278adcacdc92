// `trustflow sandbox` runs the simulated providers. sandbox-control.ts has the sub-commands that control a running sandbox.
import { type Command, Option } from "commander";
import type { Speed } from "../../sandbox/engine/clock.js";
import type { PersonTime, SandboxOptions } from "../../sandbox/options.js";
import { addCommand, instant, span, speed, wholeNumber } from "../command.js";
import { Health } from "../../health.js";
import { requirePackages } from "../../local/optional-packages.js";
import { runRole } from "../role.js";
import { addSandboxControl } from "./sandbox-control.js";

interface RunOptions {
  host: string;
  port: number;
  tlsPort?: number;
  pki?: string;
  speed: Speed;
  personTime?: PersonTime;
  seed?: string;
  state?: string;
  startAt?: Date;
  otpLifetime?: number;
  assertionLifetime?: number;
}

export function addSandbox(program: Command): void {
  const sandbox = addCommand(program, "sandbox", {
    summary: "run the simulated providers, or control a running sandbox",
    details: `Without a sub-command the sandbox runs until SIGTERM or SIGINT and prints one JSON line when it is ready.
The sub-commands control a running sandbox: see docs/sandbox.md.`,
    example: "trustflow sandbox --port 8090 --speed 3600\ntrustflow sandbox ledger --json",
  })
    .option("--host <host>", "host to listen on", "127.0.0.1")
    .option("--port <port>", "port to listen on; 0: a free port", wholeNumber(), 8090)
    .option("--tls-port <port>", "port for mutual TLS; default: the next port", wholeNumber())
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
    .option("--start-at <instant>", "start of the virtual clock; default: now", instant)
    .option("--otp-lifetime <span>", "how long a one-time password is valid; default 10m", span)
    .option("--assertion-lifetime <span>", "maximum age of an eID assertion; default 5m", span)
    .action(async (options: RunOptions) => {
      const { state, pki, otpLifetime, assertionLifetime, ...listening } = options;
      requirePackages("node-forge");
      const { startSandbox } = await import("../../sandbox/sandbox.js");
      const health = new Health();
      const given: SandboxOptions = {
        ...listening,
        tlsPort: options.tlsPort ?? (options.port && options.port + 1),
        health: health.answer,
        ...(state !== undefined && { stateDirectory: state }),
        ...(pki !== undefined && { pkiDirectory: pki }),
        ...(otpLifetime !== undefined && { otpLifetimeMs: otpLifetime }),
        ...(assertionLifetime !== undefined && { assertionLifetimeMs: assertionLifetime }),
      };
      await runRole("sandbox", async () => {
        const sandbox = await startSandbox(given);
        return { health, ...sandbox, details: { tlsUrl: sandbox.tlsUrl, pki: sandbox.pki } };
      });
    });
  addSandboxControl(sandbox);
}
