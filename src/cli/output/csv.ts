// Formats a table as CSV for spreadsheets: one line per row.
import { csvLine } from "../../contracts/shared/csv.js";

export function csvOf(headings: string[], rows: (string | undefined)[][]): string {
  const lines = [headings, ...rows.map((row) => headings.map((_, index) => row[index] ?? ""))];
  return lines.map(csvLine).join("");
}
