// `trustflow evidence`: saves every document of a process, and of the processes that it has started, with a manifest.
import type { Command } from "commander";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Trustflow } from "../../client.js";
import { childrenOf } from "../../contracts/registry.js";
import type { ProcessName } from "../../contracts/registry.js";
import type { ShownFailure } from "../../contracts/shared/status.js";
import { DocumentReference } from "../../contracts/shared/values.js";
import {
  DocumentErasedError,
  DocumentNotFoundError,
  UnknownProcessError,
} from "../../errors/index.js";
import type { DocumentStore } from "../../documents/store.js";
import { isOpenState } from "../../temporal/visibility/query.js";
import { addCommand } from "../command.js";
import { processId, withTrustflow } from "../context.js";
import { CommandError, exitCodes, usageError } from "../output/exit.js";
import { linesOf, terminal } from "../output/terminal.js";
import { writeJson, writeList, writeNote } from "../output/output.js";
import { transfer } from "../output/progress.js";
import { saveDocument } from "../upkeep/saved-document.js";

/** `manifest.json`. */
interface Manifest {
  /** The process, then those that it has started. */
  processes: ProcessFacts[];
  files: SavedEvidence[];
  /** The documents that the store has no longer: retention or `erase` has deleted them. */
  missing: Omit<SavedEvidence, "name">[];
}

interface ProcessFacts {
  id: string;
  run: string;
  /** Temporal's status, as `list` shows it: RUNNING of an open process. */
  state: string;
  outcome?: string | undefined;
  failure?: ShownFailure | undefined;
}

interface SavedEvidence {
  name: string;
  process: string;
  kind: string;
  /** The provider's id of the document. */
  providerId?: string | undefined;
  description?: string | undefined;
  time: string;
  bytes: number;
  sha256: string;
}

interface Proven {
  facts: ProcessFacts;
  documents: Evidence[];
}

type Id = `${ProcessName}/${string}`;

export function addEvidence(program: Command): void {
  addCommand(program, "evidence <id>", {
    summary: "save every document of a process, with a manifest",
    arguments: { id: processId },
    details: `Saves what was submitted and what the provider gave, also of the processes that this one has started. manifest.json
names each file with its SHA-256, and each process with its run and outcome. Each process needs a folder of its own. An open process gives
what it has so far; what comes later is added by the same command, with another manifest. It needs a worker for a process that is open or
has failed. No file is overwritten. Ends with 3 if the store has deleted a document; the others are saved.`,
    example: `trustflow evidence order-7 --out evidence/order-7
trustflow evidence sendNoticeBatch/campaign-7 --out evidence/campaign-7`,
  })
    .requiredOption("--out <directory>", "folder for the files")
    .action((id: string, { out, json }: { out: string; json?: boolean }) =>
      withTrustflow(async (trustflow) => {
        const { workflowId } = await trustflow.find(id);
        await refuseOthersFolder(out, workflowId);
        const { processes, documents } = await family(trustflow, workflowId as Id);
        if (documents.length > 0) await requireStore(trustflow.documents as DocumentStore);
        const manifest = await saved(trustflow.documents, out, processes, documents);
        say(out, manifest, json);
      }),
    );
}

/** Else a folder that is not mounted would look as if each document was deleted. */
async function requireStore({ dataKeys }: DocumentStore): Promise<void> {
  if (await dataKeys.haveAny()) return;
  throw new CommandError(
    exitCodes.unreachable,
    "documents.directory has no data key: it is not the folder of the workers, or it is not mounted",
  );
}

async function refuseOthersFolder(out: string, workflowId: string): Promise<void> {
  const text = await readFile(join(out, "manifest.json"), "utf8").catch(() => undefined);
  if (text === undefined || ownerIn(text) === workflowId) return;
  throw usageError(
    `--out: ${out} has a manifest.json that is not of ${workflowId}: choose another folder`,
  );
}

function ownerIn(manifest: string): string | undefined {
  try {
    return (JSON.parse(manifest) as Partial<Manifest>).processes?.[0]?.id;
  } catch {
    return undefined;
  }
}

/** The result of a parent names the documents of its children too: each is listed once, at its own process. */
async function family(
  trustflow: Trustflow,
  workflowId: Id,
): Promise<{ processes: ProcessFacts[]; documents: Evidence[] }> {
  const parent = await provenBy(trustflow, workflowId);
  const children: Proven[] = [];
  for (const child of childrenOf(workflowId)) {
    const found = await provenBy(trustflow, child, child.slice(child.lastIndexOf(".") + 1)).catch(
      (error: unknown) => {
        if (!(error instanceof UnknownProcessError)) throw error;
      },
    );
    if (found) children.push(found);
  }
  const ofChildren = children.flatMap(({ documents }) => documents);
  const listed = new Set(ofChildren.map(({ document }) => document.uri));
  return {
    processes: [parent, ...children].map(({ facts }) => facts),
    documents: [
      ...parent.documents.filter(({ document }) => !listed.has(document.uri)),
      ...ofChildren,
    ],
  };
}

async function provenBy(trustflow: Trustflow, workflowId: Id, part?: string): Promise<Proven> {
  const handle = trustflow.handle(workflowId);
  await handle.isOpen();
  const { describe } = await import("../../temporal/visibility/process-status.js");
  const described = await describe(trustflow.temporal, workflowId);
  const { runId, status: temporal, startTime, closeTime = startTime } = described;
  const isCompleted = temporal.name === "COMPLETED";
  const { outcome, failure, documents = [] } = await handle.fullStatus();
  const given = documents.map(({ date, arrivedAt, ...document }) => ({
    ...{ process: workflowId, part, time: date ?? arrivedAt ?? startTime.toISOString() },
    ...document,
  }));
  const others = isCompleted ? [...referencesIn(await handle.result())] : [];
  return {
    facts: { id: workflowId, run: runId, state: temporal.name, outcome, failure },
    documents: [
      ...given,
      ...others.map(([kind, document]) => {
        return { process: workflowId, part, kind, document, time: closeTime.toISOString() };
      }),
    ],
  };
}

/** The documents that a result has beside its list, such as a batch's report, each by the path of its member. */
export function* referencesIn(value: unknown, path = ""): Generator<[string, DocumentReference]> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return;
  const { data: reference } = DocumentReference.safeParse(value);
  if (reference) return yield [path, reference];
  for (const [name, member] of Object.entries(value))
    yield* referencesIn(member, path ? `${path}.${name}` : name);
}

/** Saves the documents, and then the manifest: an open process may have had another one before. */
export async function saved(
  store: Trustflow["documents"],
  out: string,
  processes: ProcessFacts[],
  documents: Evidence[],
): Promise<Manifest> {
  const manifest: Manifest = { processes, files: [], missing: [] };
  const names = fileNames(documents);
  for (const [index, one] of documents.entries()) {
    const { document, uniqueId: providerId, process, kind, description, time } = one;
    const { size: totalBytes, sha256, mediaType } = document;
    const name = names[index]!;
    const facts = { process, kind, providerId, description, time, bytes: totalBytes, sha256 };
    const source = { name, totalBytes, pieces: store.openRead(document) };
    try {
      const { file } = await transfer(source, (content) =>
        saveDocument(out, name, content, { mediaType }),
      );
      manifest.files.push({ name: basename(file), ...facts });
    } catch (error) {
      if (!(error instanceof DocumentNotFoundError || error instanceof DocumentErasedError))
        throw error;
      manifest.missing.push(facts);
    }
  }
  const text = Buffer.from(`${JSON.stringify(manifest, undefined, 2)}\n`);
  const format = { keepsBoth: true, mediaType: "application/json" };
  await saveDocument(out, "manifest", [text], format);
  return manifest;
}

function say(out: string, manifest: Manifest, json: boolean | undefined): void {
  const { processes, files, missing } = manifest;
  if (json) writeJson(manifest);
  else if (files.length > 0)
    writeList({}, files, {
      FILE: ({ name }) => join(out, name),
      BYTES: "bytes",
      "SHA-256": "sha256",
    });
  const open = processes.filter(({ state }) => isOpenState(state));
  const notes = [
    ...open.map(({ id }) => terminal`${id} is still open: these are its documents so far`),
    ...(files.length + missing.length === 0
      ? [terminal`${processes[0]!.id} has no documents`]
      : []),
  ];
  if (notes.length > 0) writeNote(linesOf(notes));
  if (missing.length > 0)
    throw new CommandError(
      exitCodes.unknownId,
      `${missing.length} documents are no longer in the store; the manifest lists them as missing`,
    );
}

/** A document of a process, with what its file is named by. */
export interface Evidence {
  /** The workflow id. */
  process: string;
  /** The part that this process has in the one that started it: `notice`, `post`. */
  part?: string | undefined;
  /** The kind of the document, or the member of the result that names it. */
  kind: string;
  /** The provider's date of it, else when the process got it. */
  time: string;
  document: DocumentReference;
  uniqueId?: string | undefined;
  description?: string | undefined;
}

/** Returns a name without an ending for each document: safe on every file system, and followed by a number where several are alike. */
export function fileNames(all: Evidence[]): string[] {
  const taken = new Set<string>();
  return all.map((one) => {
    const name = nameOf(one);
    let unique = name;
    for (let number = 2; taken.has(unique); number++) unique = `${name}-${number}`;
    taken.add(unique);
    return unique;
  });
}

function nameOf({ time, part = "", kind, description = "" }: Evidence): string {
  const kindName = plain(kind);
  // "Affidavit of closure" is a closure-affidavit.
  const what = plain(description).replace(new RegExp(`^${kindName}(-of)?(-|$)`), "");
  return [time.slice(0, 10), plain(part), what, kindName].filter(Boolean).join("-");
}

/** Lower case, because a file system may not tell `A` from `a`; without the ending of a file name. */
function plain(text: string): string {
  return text
    .replace(/\.\w{1,5}$/, "")
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, "-")
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, 60)
    .replaceAll(/^-+|-+$/g, "");
}
