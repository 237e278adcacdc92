// `trustflow send-postal`: starts a certified postal communication, or only says whether it could be.
import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import { refuseUnreadable } from "../client/input.js";
import { loadConfig } from "../config.js";
import type { SendPostalInput } from "../contracts/send-postal.js";
import { addCommand } from "./command.js";
import { withTrustflow } from "./context.js";
import { addFollowOptions, type FollowOptions, watchProcess } from "./follow.js";
import { facts, writeData, writeJson, writeJsonLine } from "./output.js";
import { documentStoreOf } from "./parts.js";
import { type ReadInput, readPostalInput } from "./postal-input.js";

interface SendOptions extends FollowOptions {
  input: string;
  id?: string;
  watch?: boolean;
  dryRun?: boolean;
}

export function addSendPostal(program: Command): void {
  const command = addCommand(program, "send-postal", {
    summary: "send a certified postal communication",
    details: `The input is the contract of "trustflow schema sendPostal"; its document may also be
{ "path": "letter.pdf" }, relative to the input file: it is put into the document store.
A second start under the same --id joins the first. Prints the id; with --watch also each
change (--json: JSON Lines, the id first) until the end.`,
    example:
      "trustflow send-postal --input letter.json --id order-7 --watch\ntrustflow send-postal --input letter.json --dry-run",
  })
    .requiredOption("--input <file>", "JSON file, or - for stdin")
    .option("--id <id>", "business id, without personal data; default: a random one")
    .option("--watch", "follow it to its end")
    .option("--dry-run", "only check the input; nothing is stored or started");
  addFollowOptions(command).action(async (options: SendOptions) => {
    const id = options.id ?? randomUUID();
    const read = await readPostalInput(options.input, id);
    if (options.dryRun) return sayChecked(read, options);
    await withTrustflow(async (trustflow) => {
      const { checked, file } = read;
      const document = file
        ? await trustflow.documents.put(file.bytes, file.mediaType)
        : checked.document;
      const handle = await trustflow.sendPostal(id, { ...checked, document });
      const started = { process: handle.process, id, workflowId: handle.workflowId };
      if (!options.json) writeData(handle.workflowId);
      else if (options.watch) writeJsonLine(started);
      else writeJson(started);
      if (options.watch) await watchProcess(handle, options);
    });
  });
}

async function sayChecked({ checked, file }: ReadInput, { id, json }: SendOptions): Promise<void> {
  const notChecked = [
    ...(await documentNotChecked(checked, file !== undefined)),
    ...accountNotChecked(checked.account ?? "default"),
    "what the account's site and provisioning allow: the process checks that before it submits",
    ...(id === undefined ? [] : ["whether the id already stands for another input"]),
  ];
  if (json)
    return writeJson({
      valid: true,
      process: "sendPostal",
      ...(id !== undefined && { id }),
      notChecked,
    });
  writeData(
    facts([["valid", "yes; nothing was stored or started"], ...notChecked.map(notCheckedFact)]),
  );
}

const notCheckedFact = (text: string): [string, string] => ["not checked", text];

async function documentNotChecked(
  { document }: SendPostalInput,
  isFile: boolean,
): Promise<string[]> {
  if (isFile || !("uri" in document)) return [];
  const { documents, keys } = loadConfig();
  if (documents.directory === undefined || keys.documents === undefined) {
    return ["whether the document is in the store: the store is not configured here"];
  }
  await refuseUnreadable(documentStoreOf(loadConfig()), document, "document");
  return [];
}

// Accounts may be configured for the workers alone.
function accountNotChecked(name: string): string[] {
  const { accounts } = loadConfig();
  return accounts[name]?.["evi-post"]
    ? []
    : [`whether the workers know the account "${name}": it is not configured here`];
}
