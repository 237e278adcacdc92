// Reads the step's result for `resolve --decision happened`: from the command line, a file or stdin.
import type { Decision, Resolution } from "../contracts/shared/messages.js";
import { secretNames } from "../contracts/definition/secret-fields.js";
import { enteredJson, noteVisible } from "./entered.js";
import { CommandError, exitCodes } from "./output/exit.js";
import { jsonObject, readText } from "./files.js";

interface GivenResult {
  text: string | undefined;
  file: string | undefined;
  /** Suppresses the warning about a secret on the command line. */
  isQuiet: boolean | undefined;
}

export async function readStepResult(
  decision: Decision,
  { text, file, isQuiet }: GivenResult,
): Promise<Resolution["result"]> {
  const refuse = (problem: string) => new CommandError(exitCodes.invalid, `--result: ${problem}`);
  if (text !== undefined && file !== undefined)
    throw refuse("cannot be used together with --result-file");
  const source = text ?? file;
  if (source === undefined) return undefined;
  if (decision !== "happened") throw refuse("can only be used with --decision happened");
  const option = text === undefined ? "--result-file" : "--result";
  if (source === "-")
    return jsonObject(await enteredJson("The step's result as JSON"), option, source);
  if (text === undefined) return jsonObject(await readText(source, option), option, source);
  const result = jsonObject(text, option, "the text");
  if (!isQuiet) await noteSecrets(result);
  return result;
}

async function noteSecrets(result: object): Promise<void> {
  const { secretIds } = await import("../contracts/message-contracts.js");
  for (const name of secretNames(secretIds))
    if (Object.hasOwn(result, name)) noteVisible(name, "use --result - or --result-file");
}
