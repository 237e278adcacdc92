// A list of recipients in parts, for a provider that adds a second list to the first one (P2 §4.3 does not show it).
import { openList } from "./list-reader.js";
import type { Pieces } from "./list-reader.js";
import { listLine } from "./pieces.js";

/** Each part has the header and at most so many recipients. */
export async function* listParts(list: Pieces, rowsOfPart: number): AsyncGenerator<Buffer> {
  const { rows } = await openList(list);
  let header: string | undefined;
  let lines: string[] = [];
  for await (const some of rows) {
    for (const { fields } of some) {
      if (header === undefined) header = listLine(fields);
      else lines.push(listLine(fields));
      if (lines.length < rowsOfPart) continue;
      yield Buffer.from([header, ...lines].join(""));
      lines = [];
    }
  }
  if (lines.length > 0) yield Buffer.from([header, ...lines].join(""));
}
