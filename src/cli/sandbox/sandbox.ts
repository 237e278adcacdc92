// `trustflow sandbox`: runs the simulated providers. Its sub-commands, which steer one that runs, are in sandbox-control.ts.
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
    summary: "run the providers' sandbox, or steer one that runs",
    details: `Without a sub-command it runs until SIGTERM or SIGINT and prints one JSON line when it is ready.
The sub-commands speak to a running one: see docs/sandbox.md.`,
    example: "trustflow sandbox --port 8090 --speed 3600\ntrustflow sandbox ledger --json",
  })
    .option("--host <host>", "where it listens", "127.0.0.1")
    .option("--port <port>", "0: a free one", wholeNumber(), 8090)
    .option("--tls-port <port>", "of mutual TLS; default: the next one", wholeNumber())
    .option("--pki <directory>", "its TLS files; default: below --state, else temporary")
    .option("--speed <factor>", "virtual seconds per second, or manual, or auto", speed, 1)
    .addOption(
      new Option(
        "--person-time <clock>",
        "by which codes and assertions get too old; default: real with --speed auto, else virtual",
      ).choices(["real", "virtual"]),
    )
    .option("--seed <text>", "of its ids")
    .option("--state <directory>", "keep its state here over a restart; else in memory")
    .option("--start-at <instant>", "where the virtual clock begins; default now", instant)
    .option("--otp-lifetime <span>", "how long a one-time password is good; default 10m", span)
    .option("--assertion-lifetime <span>", "how old an eID assertion may be; default 5m", span)
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
