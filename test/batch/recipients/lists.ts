// Lists of recipients for tests (P2 §2.9).
import { parse } from "csv-parse/sync";
import { checkedList, preflight } from "../../../src/batch/recipients/preflight.js";
import type { PreflightOptions, PreflightReport } from "../../../src/batch/recipients/preflight.js";

export const strict: PreflightOptions = { onInvalid: "strict" };
export const skipping: PreflightOptions = { onInvalid: "skip-invalid" };

export function check(list: string | Uint8Array, options = strict): Promise<PreflightReport> {
  return preflight([Buffer.from(list)], options);
}

/** The list for the provider, and the report. */
export async function checked(
  pieces: Iterable<Uint8Array>,
  options = skipping,
): Promise<{ list: string; report: PreflightReport }> {
  const reading = checkedList(pieces, options);
  const lines: Buffer[] = [];
  for (;;) {
    const { done, value } = await reading.next();
    if (done) return { list: Buffer.concat(lines).toString(), report: value };
    lines.push(value);
  }
}

export function parsed(list: string): string[][] {
  return parse(list, { delimiter: ";", bom: true, skip_empty_lines: true });
}

/** The bytes in pieces that end at the given places. */
export function cut(bytes: Uint8Array, places: number[]): Uint8Array[] {
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length];
  const sorted = ends.toSorted((one, other) => one - other);
  return sorted.map((end, index) => bytes.subarray(sorted[index - 1] ?? 0, end));
}

export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}
