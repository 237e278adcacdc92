// Parts of a generated page.
export function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", String.raw`\|`)).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

export function page(title: string, about: string, parts: string[]): string {
  return `${[`# ${title}`, about, ...parts].join("\n\n")}\n`;
}
