// A table as CSV (RFC 4180), for a spreadsheet: one line for each row, and no cell that a spreadsheet takes for a formula.
import { plainText } from "../../contracts/shared/text.js";

export function csvOf(headings: string[], rows: (string | undefined)[][]): string {
  const lines = [headings, ...rows.map((row) => headings.map((_, index) => row[index] ?? ""))];
  return lines.map((cells) => `${cells.map(csvCell).join(",")}\r\n`).join("");
}

/** After an apostrophe a cell is text; also where a spreadsheet divides cells by semicolons. */
function csvCell(value: string): string {
  const text = plainText(value).replaceAll(/(^|;)(["'\s]*)(?=[=+\-@＝＋－＠])/g, "$1$2'");
  return `"${text.replaceAll('"', '""')}"`;
}
