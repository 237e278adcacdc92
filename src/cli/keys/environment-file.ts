// NAME=value lines, as an environment file of a deployment has them.
import { invalidInput } from "../files.js";

export function linesOf(values: Record<string, string>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}=${value}\n`)
    .join("");
}

/** A copy of the text in which each value stands where its empty `NAME=` stood; what has no line comes last. */
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
        throw invalidInput([{ path: "--template", problem: `has a value for ${name} already` }]);
      delete rest[name];
      return `${name}=${value}`;
    });
  return `${lines.join("\n")}\n${linesOf(rest)}`;
}
