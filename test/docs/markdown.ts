// Parts of a generated page.
import { posix } from "node:path";

export function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", String.raw`\|`)).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

export function page(title: string, about: string, parts: string[]): string {
  return `${[`# ${title}`, about, ...parts].join("\n\n")}\n`;
}

/** What the code says of a key or a metric links from docs/operations, as the pages do that are about it. */
export const linkedFromReference = (text: string): string =>
  text.replaceAll(
    /\]\(([^):]+)\)/g,
    (_, target: string) =>
      `](${posix.relative("docs/reference", posix.join("docs/operations", target))})`,
  );
