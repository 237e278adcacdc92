// A CSV file of inputs, row by row. It is read twice: first every row is checked, then each is started. The memory does not grow with the
// documents, and with the rows only by their ids.
import { dirname, resolve } from "node:path";
import { openList } from "../../batch/recipients/list-reader.js";
import type { Row, Separator } from "../../batch/recipients/list-reader.js";
import { UnreadableList } from "../../batch/recipients/problems.js";
import { businessIdOf, contractOf } from "../../contracts/registry.js";
import type { ProcessName } from "../../contracts/registry.js";
import type { FieldProblem } from "../../contracts/shared/failures.js";
import { checkInput } from "../../contracts/shared/problems.js";
import { InvalidInputError } from "../../errors/index.js";
import { recipientsFile } from "../batch/recipients-file.js";
import { openLarge } from "../files.js";
import { CommandError } from "../output/exit.js";
import { inputCheck } from "../processes/start-input.js";
import type { StartInput } from "../processes/start-input.js";
import { refuseOversize } from "../../client/input.js";
import { columnsOf } from "./columns.js";

/** `column` is absent where the problem is that of the whole row. */
export interface RowProblem {
  line?: number | undefined;
  column?: string | undefined;
  problem: string;
}

export type ManyRow = { line: number; id: string } & (
  | { read: StartInput<object>; problems?: never }
  | { read?: never; problems: RowProblem[] }
);

/** The first of them that stands in the header, which has neither of them in a name. */
const SEPARATOR = /[,;]/;

/** Throws UnreadableList for what concerns the whole file. */
export async function* rowsOf(processName: ProcessName, csv: string): AsyncGenerator<ManyRow> {
  const file = await openLarge(csv, "--csv");
  const separator = (SEPARATOR.exec(file.start.toString())?.[0] ?? ",") as Separator;
  const { input: contract, items } = contractOf(processName);
  const check = inputCheck(contract, dirname(resolve(csv)));
  const businessId = businessIdOf(processName);
  let columns: ReturnType<typeof columnsOf> | undefined;
  let width = 0;
  for await (const rows of (await openList(file.pieces(), separator)).rows)
    for (const row of rows) {
      if (columns === undefined) {
        columns = columnsOf(contract, row.fields);
        width = row.fields.length;
        refuseHeader(row, columns.problems);
        continue;
      }
      const { line, fields } = row;
      if (fields.length === 1 && fields[0] === "") continue;
      const { id, input } = columns.take(fields);
      const problem = shapeProblem(row, width);
      if (problem !== undefined) {
        yield { line, id, problems: [{ line, problem }] };
        continue;
      }
      const { read, problems = [] } = await check(input, checkInput(businessId, id, ["id"]).fields);
      if (read && problems.length === 0) problems.push(...(await moreProblems(read, items)));
      yield read && problems.length === 0
        ? { line, id, read }
        : { line, id, problems: problems.map(({ path, problem: why }) => at(line, path, why)) };
    }
}

const at = (line: number, column: string, problem: string) => ({ line, column, problem });

function refuseHeader({ line }: Row, problems: FieldProblem[]): void {
  if (problems.length > 0)
    throw new UnreadableList(
      ...problems.map(({ path, problem }) => ({
        kind: "header" as const,
        ...at(line, path, problem),
      })),
    );
}

function shapeProblem({ fields, hasStrayQuote }: Row, width: number): string | undefined {
  if (hasStrayQuote) return "has a quote within a field that is not quoted";
  if (fields.length === width) return undefined;
  return `has ${fields.length} fields, and the header has ${width}`;
}

/** What the contract alone does not say. */
async function moreProblems(read: StartInput<object>, hasList: unknown): Promise<FieldProblem[]> {
  try {
    refuseOversize(read.checked);
    if (hasList) await recipientsFile.check(read, {});
    return [];
  } catch (error) {
    if (error instanceof CommandError || error instanceof InvalidInputError) return error.fields;
    throw error;
  }
}

/** Every problem of the file, and how many rows it has. */
export async function checkRows(
  processName: ProcessName,
  csv: string,
): Promise<{ rows: number; problems: RowProblem[] }> {
  const problems: RowProblem[] = [];
  const lines = new Map<string, number>();
  let rows = 0;
  try {
    for await (const { line, id, problems: found = [] } of rowsOf(processName, csv)) {
      rows += 1;
      problems.push(...found);
      const first = lines.get(id);
      if (first === undefined) lines.set(id, line);
      else if (id !== "") problems.push(at(line, "id", `is that of line ${first} too`));
    }
    if (rows === 0 && problems.length === 0) problems.push({ problem: "has no row" });
  } catch (error) {
    if (!(error instanceof UnreadableList)) throw error;
    problems.push(...error.problems);
  }
  return { rows, problems };
}
