// NAME=value lines of an environment file.
import { invalidInput } from "../files.js";

export function linesOf(values: Record<string, string>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}=${value}\n`)
    .join("");
}

/** Returns a copy of the text with each value filled in at its empty `NAME=`; values without such a line come last. */
export function filledIn(template: string, values: Record<string, string>): string {
  const rest = { ...values };
  const lines = template
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => {
      const [, name = "", given] = /^(\w+)=(.*)$/.exec(line) ?? [];
      const value = rest[name];
      if (value === undefined) return line;
      if (given !== "")
        throw invalidInput([{ path: "--template", problem: `already has a value for ${name}` }]);
      delete rest[name];
      return `${name}=${value}`;
    });
  return `${lines.join("\n")}\n${linesOf(rest)}`;
}
