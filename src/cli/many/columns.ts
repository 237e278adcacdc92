// The header of a CSV file of inputs: each column is the path of a property, as `recipientAddress.streetAddress` or `documents.0.name`, and
// its cells become what the contract has there. `id` is the business id.
import type { z } from "zod";
import type { FieldProblem } from "../../contracts/shared/failures.js";
import { nearestOf } from "../../contracts/shared/nearest.js";
import { describedAt, documentPlaces, isAnything } from "../processes/start-input.js";
import type { Described } from "../processes/start-input.js";

const ID = "id";

interface Column {
  path: string[];
  read(cell: string): unknown;
}

export interface Columns {
  problems: FieldProblem[];
  /** The business id and the input of a row. An empty cell is a property that is not there. */
  take(cells: readonly string[]): { id: string; input: object };
}

export function columnsOf(contract: z.ZodType, header: readonly string[]): Columns {
  const formsAt = describedAt(contract);
  const isDocument = documentPlaces(contract);
  const known = namesIn(formsAt([]));
  const problems: FieldProblem[] = [];
  const columns = header.map((name, index): Column => {
    const path = name.split(".");
    const refuse = (problem: string) => {
      problems.push({ path: name === "" ? `#${index + 1}` : name, problem });
      return { path, read: String };
    };
    if (header.indexOf(name) < index) return refuse("is there twice");
    if (name === ID) return { path, read: String };
    const below = header.find((other) => other.startsWith(`${name}.`));
    if (below !== undefined) return refuse(`has members of its own: ${below}`);
    if (path.at(-1) === "path" && isDocument(path.slice(0, -1))) return { path, read: String };
    const forms = path.includes("__proto__") ? [] : formsAt(path);
    if (forms.length === 0) return refuse(`is no property of the input${hintOf(name, known)}`);
    if (forms.some((form) => isAnything(form) || form.type === "string"))
      return { path, read: String };
    if (forms.some(({ type }) => type === "number" || type === "integer"))
      return { path, read: numberOf };
    if (forms.some(({ type }) => type === "boolean")) return { path, read: booleanOf };
    const isList = forms.some(({ type }) => type === "array");
    return refuse(`has members: name one of them, as ${name}.${isList ? "0" : memberOf(forms)}`);
  });
  if (!header.includes(ID)) problems.push({ path: ID, problem: "is required: the business id" });
  const above = columns.flatMap(({ path }) => path.map((_, end) => path.slice(0, end)));
  const lists = above.filter((path) => formsAt(path).some(({ items }) => items !== undefined));
  const listPaths = new Set(lists.map((path) => path.join(".")));
  return { problems, take: (cells) => rowOf(columns, cells, listPaths) };
}

function rowOf(
  columns: Column[],
  cells: readonly string[],
  listPaths: ReadonlySet<string>,
): { id: string; input: object } {
  const row = treeWithoutMembers();
  for (const [index, { path, read }] of columns.entries()) {
    const cell = cells[index] ?? "";
    if (cell !== "") put(row, path, read(cell));
  }
  const { [ID]: id = "", ...input } = row;
  return { id: String(id), input: listsIn(input, listPaths) as object };
}

type Tree = { [name: string]: unknown };

/** A column may be named `constructor`. */
const treeWithoutMembers = (): Tree => Object.create(null) as Tree;

function put(tree: Tree, [name = "", ...rest]: string[], value: unknown): void {
  if (rest.length === 0) tree[name] = value;
  else put((tree[name] ??= treeWithoutMembers()) as Tree, rest, value);
}

/** A list of the contract has numbers for names; where one is missing, the contract says so. What is the provider's alone has names. */
function listsIn(value: unknown, listPaths: ReadonlySet<string>, path: string[] = []): unknown {
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(
    ([name, one]) => [name, listsIn(one, listPaths, [...path, name])] as const,
  );
  if (!listPaths.has(path.join(".")) || !members.every(([name]) => /^\d{1,4}$/.test(name)))
    return Object.fromEntries(members);
  const list: unknown[] = Array.from({
    length: Math.max(...members.map(([at]) => Number(at))) + 1,
  });
  for (const [at, one] of members) list[Number(at)] = one;
  return list;
}

function numberOf(cell: string): unknown {
  return /^-?\d+(\.\d+)?$/.test(cell) ? Number(cell) : cell;
}

/** Spreadsheets write these words in capitals. */
function booleanOf(cell: string): unknown {
  const word = cell.toLowerCase();
  return word === "true" || word === "false" ? word === "true" : cell;
}

/** The paths of the contract, without those below lists. */
function namesIn(forms: Described[], above = ""): string[] {
  return forms.flatMap(({ properties = {}, anyOf, oneOf }) => [
    ...namesIn(anyOf ?? oneOf ?? [], above),
    ...Object.entries(properties).flatMap(([name, one]) => [
      above + name,
      ...namesIn([one], `${above}${name}.`),
    ]),
  ]);
}

function hintOf(name: string, known: string[]): string {
  const nearest = nearestOf(name, known);
  return nearest === undefined ? "" : `; did you mean ${nearest}?`;
}

function memberOf(forms: Described[]): string {
  return Object.keys(forms.find(({ properties }) => properties)?.properties ?? {})[0] ?? "name";
}
