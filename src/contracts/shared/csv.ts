// One line of CSV (RFC 4180) for spreadsheets: no cell is read as a formula. No zod: the report of a batch imports it too.
import { plainText } from "./text.js";

export function csvLine(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(",")}\r\n`;
}

/** A leading apostrophe makes a cell text; it also protects against spreadsheets that divide cells at semicolons. */
function csvCell(value: string): string {
  const text = plainText(value).replaceAll(/(^|;)(["'\s]*)(?=[=+\-@＝＋－＠])/g, "$1$2'");
  return `"${text.replaceAll('"', '""')}"`;
}
