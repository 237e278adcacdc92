// Makes the one call of a command to a provider: takes the account from the configuration here, turns an error into an exit code, and saves
// files in the caller's folder.
import type { Command } from "commander";
import { z } from "zod";
import { required, requireSecrets } from "../../config/config.js";
import { accountsOf, loadWithAccounts } from "../../providers/accounts.js";
import { ProviderError } from "../../providers/errors/provider-error.js";
import type { ProblemKind } from "../../contracts/shared/problem-kind.js";
import type { Provider } from "../../providers/registry.js";
import { addCommand } from "../command.js";
import type { CommandText } from "../command.js";
import { accountMissing, CommandError, exitCodes, usageError } from "../output/exit.js";
import type { ExitCode } from "../output/exit.js";
import { saveDocument } from "../upkeep/saved-document.js";
import type { Pieces } from "../upkeep/saved-document.js";

/** It has all its secrets. */
export function providerAccount<P extends Provider>(provider: P, name: string) {
  const config = loadWithAccounts();
  const account = accountsOf(config, provider)[name];
  if (!account) throw accountMissing(name, provider);
  required(config.environment, "environment");
  requireSecrets(config.accounts[name]?.[provider] ?? {});
  return { account, config };
}

const codeByKind: Partial<Record<ProblemKind, ExitCode>> = {
  invalidRequest: exitCodes.failed,
  notVisibleYet: exitCodes.unknownId,
  protocol: exitCodes.failed,
  unknownOutcome: exitCodes.failed,
};

/** Returns the provider's answer; its error has the exit code of its kind, by default that of an unreachable provider. */
export async function answerOf<T>(calling: Promise<T>): Promise<T> {
  try {
    return await calling;
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    throw new CommandError(codeByKind[error.kind] ?? exitCodes.unreachable, error.message);
  }
}

/** Every id that EviPost and EviNotice give is a UUID (P2 §2.5, §4.1–4.3). */
export function requireUuid(field: string, ...ids: string[]): void {
  if (ids.every((id) => z.regexes.guid.test(id))) return;
  throw usageError(`${field}: must be a UUID`);
}

/** A command that calls a provider with one of its accounts. */
export function addAccountCommand(parent: Command, name: string, text: CommandText): Command {
  return addCommand(parent, name, text).option(
    "--account <name>",
    "account of the provider",
    "default",
  );
}

export interface AccountOptions {
  account: string;
  json?: boolean;
}

export type Saved = Awaited<ReturnType<typeof savedAs>>;

/**
 * Saves a file under the provider's id of it. An id may be any text, and files of other content may have the same one: a regenerated
 * affidavit (P2 §2.12).
 */
export async function savedAs(folder: string, id: string, pieces: Pieces) {
  const name = id.replaceAll(/[^\w-]/g, "_").slice(0, 100);
  return { id, ...(await saveDocument(folder, name, pieces, { keepsBoth: true })) };
}

/** The items, each with its file where files were saved. */
export function withFiles<T>(items: readonly T[], saved: readonly Saved[] = []) {
  return items.map((item, index) => {
    const { file, sha256 } = saved[index] ?? {};
    return { ...item, ...(file !== undefined && { file, sha256 }) };
  });
}

export const fileColumns = { FILE: "file", "SHA-256": "sha256" } as const;
