// One command per process that starts it, or with --dry-run only checks the input.
import { loadWithAccounts } from "../../providers/accounts.js";
import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import { refuseUnreadable, withDocuments } from "../../client/input.js";
import type { Config } from "../../config/config.js";
import {
  businessIdOf,
  commandOf,
  contractOf,
  outcomesOf,
  processes,
} from "../../contracts/registry.js";
import type { ProcessName } from "../../contracts/registry.js";
import { addCommand } from "../command.js";
import { documentStoreOf } from "../../config/document-store.js";
import { withTrustflow } from "../context.js";
import { addFollowOptions, type FollowOptions, watchProcess } from "./follow.js";
import { recipientsFile } from "../batch/recipients-file.js";
import { writeData, writeJson, writeJsonLine } from "../output/output.js";
import { readStartInput, sayValid, withStoredFiles } from "./start-input.js";
import type { StartExtension, StartInput } from "./start-input.js";
import { terminal } from "../output/terminal.js";

type Checked = StartInput<{ account?: string | undefined }>;

interface StartOptions extends FollowOptions {
  input: string;
  id?: string;
  watch?: boolean;
  dryRun?: boolean;
}

export function addStarts(program: Command): void {
  for (const name of processes) {
    const { input: schema, items, command: help } = contractOf(name);
    const extension: StartExtension<object> | undefined = items && recipientsFile;
    const command = addCommand(program, commandOf(name), {
      summary: help.summary,
      details: `"trustflow example ${name}" prints an input with comments, "trustflow schema ${name}" its schema. ${help.details}
A second start with the same --id joins the first. Prints the id; with --watch also each change until the end (--json: JSON Lines, the id first).`,
      example: help.example,
    })
      .requiredOption(
        "--input <file>",
        "JSON file with the input (comments are allowed), or - for stdin",
      )
      .option("--id <id>", "business id, without personal data; default: a random id")
      .option("--watch", "follow the process to its end")
      .option("--dry-run", "only check the input; store and start nothing");
    extension?.addOptions(command);
    addFollowOptions(command, outcomesOf(name)).action(async (options: StartOptions) => {
      const id = options.id ?? randomUUID();
      const read = await readStartInput(schema, options.input, id, {
        amend: (input) => extension?.amend(input, options) ?? input,
        businessId: businessIdOf(name),
      });
      if ((await extension?.check(read, options)) === "done") return;
      if (options.dryRun) return sayChecked(name, read, options);
      await withTrustflow(async (trustflow) => {
        const input = await withStoredFiles(read, () => trustflow.documents);
        const handle = await trustflow.start(name, id, input);
        const started = { process: handle.process, id, workflowId: handle.workflowId };
        if (!options.json) writeData(terminal`${handle.workflowId}`);
        else if (options.watch) writeJsonLine(started);
        else writeJson(started);
        if (options.watch) await watchProcess(handle, options);
      });
    });
  }
}

async function sayChecked(
  name: ProcessName,
  read: Checked,
  { id, json }: StartOptions,
): Promise<void> {
  const { provider, command } = contractOf(name);
  const config = loadWithAccounts();
  const account = read.checked.account ?? "default";
  const accounts: Record<string, object | undefined> = config.accounts[account] ?? {};
  const notChecked = [
    ...(await documentsNotChecked(config, read)),
    // Accounts may be configured only for the workers.
    ...providersOf(name, provider)
      .filter((one) => !accounts[one])
      .map(
        (one) =>
          `whether the workers know the account "${account}" of ${one}: it is not configured here`,
      ),
    command.notChecked,
    ...(id === undefined ? [] : ["whether the id is already used with another input"]),
  ];
  sayValid(json, { process: name, ...(id !== undefined && { id }) }, notChecked);
}

/** The provider of the process, and those of the processes that it starts itself. */
function providersOf(name: ProcessName, provider: string): string[] {
  const started = (contractOf(name).children ?? []).flatMap(({ process: child }) =>
    processes.filter((one) => one === child).map((one) => contractOf(one).provider),
  );
  return [...new Set([provider, ...started])];
}

/** Checks that stored documents exist, if a document store is configured. */
async function documentsNotChecked(
  config: Config,
  { checked, files }: StartInput<object>,
): Promise<string[]> {
  const hasStore = config.documents.directory !== undefined && config.keys.documents !== undefined;
  const notChecked: string[] = [];
  await withDocuments(checked, async (document, path) => {
    if (files.has(path) || !("uri" in document)) return document;
    if (hasStore) await refuseUnreadable(documentStoreOf(config), document, path);
    else notChecked.push(`whether ${path} is in the store: the store is not configured here`);
    return document;
  });
  return notChecked;
}
