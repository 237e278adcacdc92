// Shared by the sub-commands of `trustflow sandbox`: the sandbox's URL, and the output of its answer.
import type { Command } from "commander";
import { loadConfig } from "../../config.js";
import type { SandboxControl } from "../../sandbox/control/client.js";
import { addCommand, type CommandText } from "../command.js";
import { CommandError, exitCodes } from "../output/exit.js";
import { writeData, writeJson } from "../output/output.js";
import type { Terminal } from "../output/terminal.js";

const DEFAULT_URL = "http://127.0.0.1:8090";

interface ControlOptions {
  url?: string;
  json?: boolean;
}

type Words<R> = (result: R) => Terminal;

/** Adds one sub-command: its request, and its text output without `--json`. */
export function addSandboxCommand<O extends object, R>(
  sandbox: Command,
  name: string,
  text: CommandText,
  ask: (control: SandboxControl, options: O, argument: string) => Promise<R>,
  words?: Words<R>,
): Command {
  const takesArgument = name.includes(" ");
  return addCommand(sandbox, name, text)
    .option(
      "--url <url>",
      `URL of the sandbox; default: sandbox.url of the configuration, else ${DEFAULT_URL}`,
    )
    .action(async (...given: unknown[]) => {
      const [first, second] = given;
      const { url, json, ...options } = (takesArgument ? second : first) as ControlOptions & O;
      const { sandboxControl } = await import("../../sandbox/control/client.js");
      const at = url ?? loadConfig().sandbox.url ?? DEFAULT_URL;
      const control = sandboxControl(at);
      const result = await ask(control, options as O, String(first)).catch(refused(at));
      if (json || !words) writeJson(result);
      else writeData(words(result));
    });
}

function refused(url: string): (error: Error & { code?: string }) => never {
  return (error) => {
    if (error instanceof CommandError) throw error;
    if (!error.message.includes("/_sandbox/")) {
      throw new CommandError(
        exitCodes.unreachable,
        `Cannot reach the sandbox at ${url}: ${error.code ?? error.name}`,
      );
    }
    const status = /: (\d{3}) /.exec(error.message)?.[1];
    throw new CommandError(
      status === "404" ? exitCodes.unknownId : exitCodes.invalid,
      error.message,
    );
  };
}
