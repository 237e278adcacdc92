// `trustflow erase` erases a finished process permanently; `trustflow erasures` lists the record of erasures.
import { loadWithAccounts } from "../../providers/accounts.js";
import type { Command } from "commander";
import type { Erasable, Erased } from "../../cleanup/erase.js";
import type { ErasureProof } from "../../cleanup/erasure-record.js";
import { ringOf } from "../../config/config.js";
import { childrenOf, parseWorkflowId, processes } from "../../contracts/registry.js";
import { signDecision } from "../../crypto/decision-signature.js";
import { clientsOf, withOwnTemporal } from "./cleanup.js";
import { provenOperator } from "./proven-operator.js";
import type { ProvenOperator } from "./proven-operator.js";
import { addCommand, personName } from "../command.js";
import { documentStoreOf } from "../../config/document-store.js";
import { withDatabase } from "../context.js";
import { CommandError, exitCodes, usageError } from "../output/exit.js";
import type { Facts } from "../output/output.js";
import {
  countsByKind,
  facts,
  writeData,
  writeJson,
  writeList,
  writeNote,
} from "../output/output.js";
import { terminal } from "../output/terminal.js";

interface EraseFlags {
  by?: string;
  dryRun?: boolean;
  json?: boolean;
}

export function addErase(program: Command): void {
  addCommand(program, "erase <id>", {
    summary: "erase a finished process: its documents, callbacks, answers, key and history",
    arguments: { id: '"<process>/<business id>", so that it cannot mean another process' },
    details: `The erasure is final. An open process is refused, and one whose parent or sibling is open.
The processes that it has started are erased with it; none of them may be open.
A document that another process owns too is kept.
The id cannot be used again: a new start with it is refused, so nothing is sent twice. If the command was interrupted, run it again.
If decisions.signed is "required", the key of an operator who may erase signs it (keys.operator).
The provider's own data are listed but stay there. "trustflow erasures" shows who erased what and when.`,
    example: `trustflow erase sendPostal/order-7 --dry-run
trustflow erase sendPostal/order-7 --by "Ana Ruiz"`,
  })
    .option(
      "--by <name>",
      "name of the person who erases, for the record; required without --dry-run",
      personName,
    )
    .option("--dry-run", "only show what would be erased")
    .action((id: string, flags: EraseFlags) => eraseOne(id, flags));

  addCommand(program, "erasures [id]", {
    summary: "list the erasures, newest first",
    arguments: { id: '"<process>/<business id>": only erasures of this process' },
    details:
      "Shows who erased which process and when, and how many records of each kind; no content.",
    example: "trustflow erasures --json",
  }).action((id: string | undefined, { json }: EraseFlags) =>
    withDatabase(async (pool) => {
      const { erasuresOf } = await import("../../cleanup/erasure-record.js");
      const found = await erasuresOf(pool, id === undefined ? {} : { workflowId: fullId(id) });
      writeList({ json }, found, {
        ID: "workflowId",
        BY: "by",
        "SIGNED BY": ({ proof }) => proof?.operator,
        BEGUN: "begunAt",
        FINISHED: ({ finishedAt }) => finishedAt?.toISOString() ?? "not yet",
        DOCUMENTS: ({ documents }) => countsByKind(documents),
        CALLBACKS: "callbacks",
        ANSWERS: "effects",
        HISTORIES: "runs",
      });
    }),
  );
}

async function eraseOne(id: string, { by, dryRun, json }: EraseFlags): Promise<void> {
  if (by === undefined && !dryRun)
    throw usageError("--by: is required: the record says who erases");
  const workflowId = fullId(id);
  const operator = dryRun ? undefined : provenOperator(loadWithAccounts(), "erase");
  await withOwnTemporal(async ({ temporal, requireOwn, pool, config }) => {
    const { client, namespace } = temporal;
    const { erasableOf, erase, NothingToErase, ProcessIsLost, ProcessIsOpen } =
      await import("../../cleanup/erase.js");
    const { namespacesOf } = await import("../../cleanup/own-namespaces.js");
    const { requireOwnStore } = await import("../../cleanup/own-store.js");
    const clients = (await namespacesOf(pool, namespace)).map(await clientsOf(temporal));
    const documents = documentStoreOf(config);
    await requireOwnStore(pool, documents, [workflowId, ...childrenOf(workflowId)]);
    const codecRing = ringOf(config, "codec");
    const options = { workflowId, client, clients, requireOwn, pool, documents, codecRing };
    const eraseOrShow = (of: typeof options) =>
      by === undefined || dryRun
        ? erasableOf(of)
        : erase({ ...of, by, proof: operator && proofOf(operator, { namespace, by, ...of }) });
    try {
      // A child is found by its id alone, so it goes first: after a crash the command finds the rest.
      const started: string[] = [];
      for (const id of childrenOf(workflowId)) {
        const isStored = await erasableOf({ ...options, workflowId: id }).catch(
          (error: unknown) => {
            if (!(error instanceof NothingToErase)) throw error;
          },
        );
        if (isStored) started.push(id);
      }
      if (started.length > 0) await erasableOf(options);
      const children: ({ id: string } & Erasable & Partial<Erased>)[] = [];
      for (const id of started)
        children.push({ id, ...(await eraseOrShow({ ...options, workflowId: id })) });
      const report = { id: workflowId, ...(await eraseOrShow(options)) };
      if (json)
        return writeJson({
          ...{ id: workflowId, dryRun: dryRun ?? false },
          ...report,
          ...(children.length > 0 && { children }),
        });
      for (const one of [report, ...children]) writeData(facts(linesOf(one)));
      if ([report, ...children].some(({ atProvider }) => atProvider.length > 0))
        writeNote(
          terminal`The provider keeps its own data: ask it to erase them, by these references.`,
        );
      if (dryRun) writeNote(terminal`Nothing was erased: --dry-run`);
    } catch (error) {
      if (error instanceof ProcessIsOpen || error instanceof ProcessIsLost)
        throw new CommandError(exitCodes.failed, error.message);
      if (error instanceof NothingToErase)
        throw new CommandError(exitCodes.unknownId, error.message);
      throw error;
    }
  });
}

function proofOf(
  { name: operator, privateKey }: ProvenOperator,
  { namespace, workflowId, by }: { namespace: string; workflowId: string; by: string },
): ErasureProof {
  const at = new Date().toISOString();
  const decision = { namespace, workflowId, update: "erase", updateId: "", operator, at };
  return { operator, at, value: signDecision(privateKey, { ...decision, argument: { by } }) };
}

function fullId(id: string): string {
  if (parseWorkflowId(id)) return id;
  throw usageError(
    `id: ${id} is not <process>/<business id>; the processes are ${processes.join(", ")}`,
  );
}

function linesOf(report: { id: string } & Erasable & Partial<Erased>): Facts {
  const { documents, callbacks, effects, runs, shared, damaged, atProvider, references } = report;
  return [
    ["process", report.id],
    ["erased by", report.by],
    ["signed by", report.proof?.operator],
    ["begun", report.begunAt?.toISOString()],
    ["finished", report.finishedAt?.toISOString()],
    ["documents", countsByKind(documents)],
    ["callback bodies", String(callbacks)],
    ["journal answers", String(effects)],
    ["histories", String(runs)],
    ...shared.map(({ uri, kind, owners }): [string, string] => [
      "kept",
      `${uri} (${kind}): ${owners.join(", ")} also owns it`,
    ]),
    ...damaged.map(({ owner, problem }): [string, string] => [
      "damaged",
      `${problem}; it is kept as it is, and ${owner} cannot read it`,
    ]),
    ...atProvider.map(({ provider, account, operation, exists, count }): [string, string] => [
      "at the provider",
      `${provider} (${account}): ${operation}, ${count}${exists === "maybe" ? ", perhaps" : ""}`,
    ]),
    ["references", references.length > 0 ? references.join(", ") : undefined],
  ];
}
