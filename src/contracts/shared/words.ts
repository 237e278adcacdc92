// Words of a contract with their meanings: each is told once, and JSON Schemas, docstrings and docs/reference take it from here.
import { z } from "zod";

const registered = z.registry<Record<string, string>>();

/** An enumeration whose description begins with `about` and says what each word means. */
export function words<const M extends Record<string, string>>(meanings: M, about = "") {
  const names = Object.keys(meanings) as (keyof M & string)[];
  const said = names.map((name) => `\`${name}\`: ${meanings[name]}`).join("; ");
  const schema = z
    .enum(Object.fromEntries(names.map((name) => [name, name])) as { [W in keyof M & string]: W })
    .describe(`${about && `${about} `}${said}.`);
  registered.add(schema, meanings);
  return schema;
}

/** The meaning of each word; undefined for a schema that `words` has not made. */
export function meaningsOf(schema: z.ZodType): Record<string, string> | undefined {
  return registered.get(schema);
}
