// Formats a table as CSV (RFC 4180) for spreadsheets: one line per row, and no cell that a spreadsheet reads as a formula.
import { plainText } from "../../contracts/shared/text.js";

export function csvOf(headings: string[], rows: (string | undefined)[][]): string {
  const lines = [headings, ...rows.map((row) => headings.map((_, index) => row[index] ?? ""))];
  return lines.map((cells) => `${cells.map(csvCell).join(",")}\r\n`).join("");
}

/** A leading apostrophe makes a cell text; it also protects against spreadsheets that divide cells at semicolons. */
function csvCell(value: string): string {
  const text = plainText(value).replaceAll(/(^|;)(["'\s]*)(?=[=+\-@＝＋－＠])/g, "$1$2'");
  return `"${text.replaceAll('"', '""')}"`;
}
