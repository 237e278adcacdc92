// Reads the input of a start command, JSON with or without comments, and checks it against the contract. `{ "path": … }` in place of a
// document names a file, which goes into the document store at the start.
import type { Command } from "commander";
import { basename, dirname, resolve } from "node:path";
import { z } from "zod";
import { refuseOversize, withDocuments, withParts } from "../../client/input.js";
import type { FieldProblem } from "../../contracts/shared/failures.js";
import { checkInput } from "../../contracts/shared/problems.js";
import { BusinessId, DocumentReference } from "../../contracts/shared/values.js";
import { isPdf } from "../../documents/content.js";
import type { DocumentStore } from "../../documents/store.js";
import { count } from "../../contracts/shared/text.js";
import { CommandError } from "../output/exit.js";
import { invalidInput, jsonObject, openLarge, readText, withoutComments } from "../files.js";
import type { LargeFile } from "../files.js";
import { facts, writeAnswer } from "../output/output.js";
import { transfer } from "../output/progress.js";

interface DocumentFile extends LargeFile {
  name: string;
  mediaType: string;
}

export interface StartInput<Input extends object> {
  /** The input, with a placeholder for each file. */
  checked: Input;
  /** Its keys are the paths of the documents in the input. */
  files: Map<string, DocumentFile>;
}

/** The command of a process with a list of items has these options and checks beside those of the others. */
export interface StartExtension<Options> {
  addOptions(command: Command): void;
  /** The input as the options change it. */
  amend(input: Record<string, unknown>, options: Options): Record<string, unknown>;
  /** Before anything is stored or started. `done`: that was all that the command was asked for. */
  check(read: StartInput<object>, options: Options): Promise<"start" | "done">;
}

/** The answer of `--dry-run`, with what it could not check. */
export function sayValid(
  json: boolean | undefined,
  checked: { process: string; id?: string; rows?: number },
  notChecked: string[],
): void {
  const text = facts([
    ["valid", "yes; nothing was stored or started"],
    ["rows", checked.rows === undefined ? undefined : count(checked.rows)],
    ...notChecked.map((what): [string, string] => ["not checked", what]),
  ]);
  writeAnswer(json, { valid: true, ...checked, notChecked }, text);
}

export type CheckedInput<Input extends object> =
  | { read: StartInput<Input>; problems?: never }
  | { read?: never; problems: FieldProblem[] };

interface ReadOptions {
  /** What the command line changes in the input. */
  amend?(input: Record<string, unknown>): Record<string, unknown>;
  /** The ids of the process. */
  businessId?: z.ZodType;
}

/** Reads the input; `-` is stdin. A document's path is relative to the input file, or for stdin to the working directory. */
export async function readStartInput<Input extends object>(
  contract: z.ZodType<Input>,
  source: string,
  id: string,
  { amend = (input) => input, businessId = BusinessId }: ReadOptions = {},
): Promise<StartInput<Input>> {
  const text = withoutComments(await readText(source, "--input"));
  const given = amend(jsonObject(text, "--input", source));
  const check = inputCheck(contract, source === "-" ? process.cwd() : dirname(resolve(source)));
  const { read, problems } = await check(given, checkInput(businessId, id, ["id"]).fields);
  if (problems) throw invalidInput(problems);
  refuseOversize(read.checked);
  return read;
}

/** Checks inputs of one contract; the paths of documents are relative to the folder. */
export function inputCheck<Input extends object>(contract: z.ZodType<Input>, folder: string) {
  const isDocument = documentPlaces(contract);
  return async (given: object, before: FieldProblem[] = []): Promise<CheckedInput<Input>> => {
    const files = new Map<string, DocumentFile>();
    const problems = [...before];
    const input = await withParts(given, async (part, path) => {
      if (!("path" in part) || !isDocument(path)) return undefined;
      const at = path.join(".");
      const file = await documentFile(part, at, folder).catch((error: unknown) => {
        if (!(error instanceof CommandError)) throw error;
        problems.push(...error.fields);
        return undefined;
      });
      if (file) files.set(at, file);
      const { mediaType } = part as { mediaType?: unknown };
      return standIn(file, mediaType);
    });
    const { data, fields } = checkInput(contract, input);
    problems.push(...fields);
    if (problems.length > 0 || data === undefined) return { problems };
    return { read: { checked: data, files } };
  };
}

type Store = Pick<DocumentStore, "putStream">;
/** Stores a file, whose document is at the path in the input. */
export type Put = (store: Store, file: DocumentFile, path: string) => Promise<DocumentReference>;

/** Stores the files and returns the input that can be sent. */
export async function withStoredFiles(
  { checked, files }: StartInput<object>,
  documents: () => Store,
  put: Put = putShown,
): Promise<object> {
  const sent = await withDocuments(checked, async (document, path) => {
    const file = files.get(path);
    return file ? put(documents(), file, path) : document;
  });
  return sent as object;
}

function putShown(store: Store, file: DocumentFile): Promise<DocumentReference> {
  const { name, size: totalBytes, mediaType } = file;
  return transfer({ name, totalBytes, pieces: file.pieces() }, (pieces) =>
    store.putStream(pieces, mediaType),
  );
}

async function documentFile(given: object, at: string, folder: string): Promise<DocumentFile> {
  const { path, mediaType = "application/pdf", ...more } = given as Record<string, unknown>;
  const refused = Object.keys(more).map((key) => ({
    path: `${at}.${key}`,
    problem: `is not known beside ${at}.path`,
  }));
  const refuse = (key: string, problem: string) => refused.push({ path: `${at}.${key}`, problem });
  if (typeof path !== "string") refuse("path", "must be text");
  if (typeof mediaType !== "string") refuse("mediaType", "must be text");
  if (refused.length > 0) throw invalidInput(refused);
  const file = await openLarge(resolve(folder, String(path)), `${at}.path`);
  if (mediaType === "application/pdf" && !isPdf(file.start))
    throw invalidInput([{ path: `${at}.path`, problem: "is not a PDF" }]);
  return { ...file, name: basename(String(path)), mediaType: String(mediaType) };
}

// A placeholder for the stored document; the contract checks no more than this.
function standIn(file: DocumentFile | undefined, given: unknown): DocumentReference {
  return {
    uri: `document:${"0".repeat(32)}`,
    sha256: "0".repeat(64),
    size: file?.size ?? 1,
    mediaType: file?.mediaType ?? (typeof given === "string" ? given : "application/pdf"),
  };
}

/** What a JSON Schema says of a value. */
export interface Described {
  type?: string;
  properties?: Record<string, Described>;
  items?: Described;
  additionalProperties?: Described | boolean;
  anyOf?: Described[];
  oneOf?: Described[];
}

/** The forms that the contract allows at a path; none where it knows no such path. */
export function describedAt(contract: z.ZodType): (path: string[]) => Described[] {
  const described = z.toJSONSchema(contract, { io: "input", unrepresentable: "any" }) as Described;
  return (path) =>
    path.reduce(
      (forms, key) => forms.flatMap((form) => formsOf(memberOf(form, key))),
      formsOf(described),
    );
}

function memberOf(form: Described, key: string): Described | undefined {
  const { properties = {}, items, additionalProperties: others } = form;
  if (Object.hasOwn(properties, key)) return properties[key];
  if (items) return /^\d+$/.test(key) ? items : undefined;
  if (typeof others === "object") return others;
  return isAnything(form) ? form : undefined;
}

/** The provider's own, of which the contract says nothing. */
export function isAnything({ type, properties }: Described): boolean {
  return type === undefined && properties === undefined;
}

/** True where the contract accepts a document at a path. */
export function documentPlaces(contract: z.ZodType): (path: string[]) => boolean {
  const formsAt = describedAt(contract);
  const isReference = ({ properties = {} }: Described) =>
    Object.keys(DocumentReference.shape).every((key) => key in properties);
  return (path) => formsAt(path).some(isReference);
}

function formsOf(described: Described | undefined): Described[] {
  if (!described) return [];
  const forms = described.anyOf ?? described.oneOf;
  return forms ? forms.flatMap(formsOf) : [described];
}
