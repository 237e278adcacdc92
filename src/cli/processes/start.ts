// The commands that start a process, one for each: they start it, or only say whether it could be.
import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import type { z } from "zod";
import { refuseUnreadable, withDocuments } from "../../client/input.js";
import { type Config, loadConfig } from "../../config.js";
import { contracts } from "../../contracts/index.js";
import type { ProcessName } from "../../contracts/shared/names.js";
import { addCommand } from "../command.js";
import { withTrustflow } from "../context.js";
import { addFollowOptions, type FollowOptions, outcomesOf, watchProcess } from "./follow.js";
import { facts, writeData, writeJson, writeJsonLine } from "../output/output.js";
import { documentStoreOf } from "../parts.js";
import { readStartInput, type StartInput, withStoredFiles } from "./start-input.js";
import { terminal } from "../output/terminal.js";

interface Start {
  process: ProcessName;
  command: string;
  provider: keyof Config["accounts"][string];
  summary: string;
  /** What the input is, in a sentence or two beside its contract. */
  details: string;
  example: string;
  /** What a dry run leaves to the provider. */
  notChecked: string;
}

const starts: Start[] = [
  {
    process: "sendPostal",
    command: "send-postal",
    provider: "evi-post",
    summary: "send a certified postal communication",
    details: `Its document may also be { "path": "letter.pdf" }, relative to the input file: it is put into the document store.`,
    example:
      "trustflow send-postal --input letter.json --id order-7 --watch\ntrustflow send-postal --input letter.json --dry-run",
    notChecked:
      "what the account's site and provisioning allow: the process checks that before it submits",
  },
  {
    process: "issueCertificate",
    command: "issue-certificate",
    provider: "disposable-certificate",
    summary: "issue a disposable certificate to a holder",
    details: `From the holder's data or from an eID assertion. The holder gets a one-time password: "trustflow otp" brings it back, and --watch on a terminal asks for it.`,
    example: "trustflow issue-certificate --input holder.json --id order-7 --watch",
    notChecked:
      "which data the account's authority wants, and how current an assertion is: the provider says that before the enrolment",
  },
  {
    process: "sendMessage",
    command: "send-message",
    provider: "messaging-gateway",
    summary: "send a message",
    details: "Its providerFields are the gateway's whole payload, passed on as they are.",
    example: "trustflow send-message --input message.json --id order-7 --watch",
    notChecked: "the message itself: only the gateway knows what it takes",
  },
  {
    process: "signOneShot",
    command: "sign-one-shot",
    provider: "one-shot-signature",
    summary: "have documents signed with a one-shot certificate",
    details: `Each document may also be { "name": "…", "document": { "path": "…" } }. The signer gets a one-time password: "trustflow otp" brings it back, and --watch on a terminal asks for it.`,
    example: "trustflow sign-one-shot --input request.json --id order-7 --watch",
    notChecked: "the request itself: only the service knows what it takes",
  },
  {
    process: "signEnvelope",
    command: "sign-envelope",
    provider: "envelope-signature",
    summary: "send documents in an envelope that a one-shot certificate signs",
    details: `Each document may also be { "name": "…", "document": { "path": "…" } }. It ends as sent: nothing tells what becomes of the envelope.`,
    example: "trustflow sign-envelope --input envelope.json --id order-7 --watch",
    notChecked: "the request and the envelope themselves: only the two hosts know what they take",
  },
];

type ProcessInput = z.infer<(typeof contracts)[ProcessName]["input"]>;

interface StartOptions extends FollowOptions {
  input: string;
  id?: string;
  watch?: boolean;
  dryRun?: boolean;
}

export function addStarts(program: Command): void {
  for (const start of starts) {
    const { process: name, summary, details, example } = start;
    const command = addCommand(program, start.command, {
      summary,
      details: `The input is the contract of "trustflow schema ${name}". ${details}
A second start under the same --id joins the first. Prints the id; with --watch also each change (--json: JSON Lines, the id first) until the end.`,
      example,
    })
      .requiredOption("--input <file>", "JSON file, or - for stdin")
      .option("--id <id>", "business id, without personal data; default: a random one")
      .option("--watch", "follow it to its end")
      .option("--dry-run", "only check the input; nothing is stored or started");
    addFollowOptions(command, outcomesOf(name)).action(async (options: StartOptions) => {
      const id = options.id ?? randomUUID();
      const read = await readStartInput<ProcessInput>(contracts[name].input, options.input, id);
      if (options.dryRun) return sayChecked(start, read, options);
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
  { process: name, provider, notChecked: byProvider }: Start,
  read: StartInput<ProcessInput>,
  { id, json }: StartOptions,
): Promise<void> {
  const notChecked = [
    ...(await documentsNotChecked(read)),
    ...accountNotChecked(read.checked.account ?? "default", provider),
    byProvider,
    ...(id === undefined ? [] : ["whether the id already stands for another input"]),
  ];
  if (json)
    return writeJson({ valid: true, process: name, ...(id !== undefined && { id }), notChecked });
  writeData(
    facts([["valid", "yes; nothing was stored or started"], ...notChecked.map(notCheckedFact)]),
  );
}

const notCheckedFact = (text: string): [string, string] => ["not checked", text];

/** Looks up the documents that are stored already, where there is a store to look in. */
async function documentsNotChecked({ checked, files }: StartInput<object>): Promise<string[]> {
  const config = loadConfig();
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

// Accounts may be configured for the workers alone.
function accountNotChecked(name: string, provider: Start["provider"]): string[] {
  return loadConfig().accounts[name]?.[provider]
    ? []
    : [`whether the workers know the account "${name}" of ${provider}: it is not configured here`];
}
