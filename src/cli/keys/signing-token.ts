// `trustflow keys signing-token`: the one-shot signature service makes a token of the registration-authority operator (P1 §1.4, §5.4).
import { rm, writeFile } from "node:fs/promises";
import type { Command } from "commander";
import { ProviderError } from "../../providers/errors/provider-error.js";
import { writePrivate } from "../files.js";
import { CommandError, exitCodes } from "../output/exit.js";
import { writeJson, writeNote } from "../output/output.js";
import { terminal } from "../output/terminal.js";
import { addAccountCommand, answerOf, providerAccount } from "../provider/call.js";
import type { AccountOptions } from "../provider/call.js";

interface Options extends AccountOptions {
  out: string;
}

export function addSigningToken(keys: Command): void {
  addAccountCommand(keys, "signing-token", {
    summary: "have the one-shot signature service make a token for an account",
    details: `Calls the provider with the account's present token. The new token is a secret: it goes into a new file that only you can read,
for accounts.<name>.one-shot-signature.token, and is shown nowhere else. Each run makes another token.`,
    example: "trustflow keys signing-token --account second-office --out signatures.token",
  })
    .requiredOption("--out <file>", "new file for the token, which only you can read")
    .action(makeToken);
}

async function makeToken({ account: name, out, json }: Options): Promise<void> {
  const { account } = providerAccount("one-shot-signature", name);
  const { createToken } = await import("../../providers/one-shot-signature/client.js");
  // The file comes first: a token that cannot be written would be lost.
  await writePrivate(out, "", "--out");
  try {
    const { token } = await answerOf(createToken(account).catch(saysThatItMayExist));
    await writeFile(out, `${token}\n`);
  } catch (error) {
    await rm(out, { force: true });
    throw error;
  }
  if (json) writeJson({ file: out });
  else writeNote(terminal`${out} is written; only you can read it`);
}

function saysThatItMayExist(error: unknown): never {
  if (!(error instanceof ProviderError) || error.effect !== "unknown") throw error;
  throw new CommandError(
    exitCodes.failed,
    `${error.message}. The service may have made a token that nobody has seen: look for it there before you run the command again`,
  );
}
