// The Markdown that the Web UI shows. Only the template `markdown` makes it, and whatever is put into it is text: no markup, no
// link, no line of its own. `showDetails` takes nothing else, and nobody else calls what it calls.
// oxlint-disable-next-line no-restricted-imports -- the one place
import { setCurrentDetails } from "@temporalio/workflow";
import { plainText } from "../../contracts/shared/text.js";

class MarkdownText {
  readonly #source: string;

  constructor(source: string) {
    this.#source = source;
  }

  get source(): string {
    return this.#source;
  }
}

/** Only this file makes one. */
export type Markdown = MarkdownText;

/**
 * The literal parts of the template are Markdown; the values become plain text, except for `Markdown` values, which stay
 * unchanged.
 */
export function markdown(
  strings: TemplateStringsArray,
  ...values: (string | number | Markdown)[]
): Markdown {
  const parts = values.map((value) =>
    value instanceof MarkdownText ? value.source : escaped(String(value)),
  );
  return new MarkdownText(String.raw({ raw: strings }, ...parts));
}

export function linesOf(lines: Markdown[]): Markdown {
  return new MarkdownText(lines.map(({ source }) => source).join("\n"));
}

/** A text of ours. An option of the command line is code in it, because the Web UI makes one dash of the two in a text. */
export function withOptions(text: string): Markdown {
  const parts = text.split(/(--[a-z-]+)/).map((part) => part.trim());
  const shown = parts.map((part, index) => (index % 2 === 1 ? `\`${part}\`` : escaped(part)));
  return new MarkdownText(shown.filter((part) => part !== "").join(" "));
}

/** One line of code, to be copied; the fence is longer than any that it holds. */
export function codeBlock(text: string): Markdown {
  const line = plainText(text);
  const runs = line.match(/`+/g) ?? [];
  const fence = "`".repeat(Math.max(3, ...runs.map((run) => run.length + 1)));
  return new MarkdownText(["", fence, line, fence].join("\n"));
}

export function showDetails({ source }: Markdown): void {
  setCurrentDetails(source);
}

/**
 * A backslash makes a sign stand for itself that opens markup, a table's cell, an entity, or a variable that the Web UI replaces; where the
 * text begins, also one that opens a list or a heading.
 */
function escaped(text: string): string {
  return plainText(text)
    .trim()
    .replaceAll(/[\\`*_{}[\]<>()#|~&!]/g, String.raw`\$&`)
    .replace(/^[-+=]/, String.raw`\$&`)
    .replace(/^(\d+)\./, String.raw`$1\.`);
}
