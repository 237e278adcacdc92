// The commands of packages that an application or an image may leave out.
import type { Command } from "commander";
import { loadWithAccounts } from "../providers/accounts.js";
import { CommandError, exitCodes } from "./output/exit.js";

/** The module `cli` of such a package exports this. */
interface PackageCommands {
  addCommands(program: Command, given: { sandboxUrl: () => string | undefined }): void;
}

export const addLocal = addPackage("trustflow-dev", ["dev", "demo", "rehearse"]);
export const addSandbox = addPackage("trustflow-sandbox", ["sandbox"]);

/** Where the package is missing, its commands say what to install. */
function addPackage(name: string, commands: string[]): (program: Command) => Promise<void> {
  return async (program) => {
    try {
      const { addCommands } = (await import(`${name}/cli`)) as PackageCommands;
      addCommands(program, { sandboxUrl: () => loadWithAccounts().sandbox.url });
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== "ERR_MODULE_NOT_FOUND" || !message.includes(`'${name}'`)) throw error;
      for (const command of commands) addMissing(program, command, name);
    }
  };
}

function addMissing(program: Command, command: string, name: string): void {
  program
    .command(command)
    .summary(`not installed: ${name}`)
    .allowUnknownOption()
    .argument("[arguments...]")
    .helpOption(false)
    .action(() => {
      throw new CommandError(
        exitCodes.unreachable,
        `${name} is not installed. Run \`npm install --save-dev ${name}\``,
      );
    });
}
