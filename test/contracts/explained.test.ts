// Everything of a contract that a caller sees is explained, and what is not is named.
import { expect, test } from "vitest";
import { processes } from "../../src/contracts/registry.js";
import { schemasOf } from "../../src/contracts/schemas.js";

interface Schema {
  description?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  anyOf?: Schema[];
}

/** The paths of the properties that have no description. */
function unexplained(schema: Schema, path: string): string[] {
  const { properties = {}, additionalProperties, items, anyOf = [] } = schema;
  return [
    ...Object.entries(properties).flatMap(([name, property]) => [
      ...(property.description === undefined ? [`${path}.${name}`] : []),
      ...unexplained(property, `${path}.${name}`),
    ]),
    ...(typeof additionalProperties === "object"
      ? unexplained(additionalProperties, `${path}.<name>`)
      : []),
    ...(items ? unexplained(items, `${path}[]`) : []),
    ...anyOf.flatMap((form) => unexplained(form, path)),
  ];
}

test.each(processes)("every property of %s is explained", (processName) => {
  const { input, result, status, updates, signals, queries } = schemasOf(
    processName,
  ) as unknown as {
    [part in "input" | "result" | "status"]: Schema;
  } & {
    [part in "updates" | "signals" | "queries"]: Record<
      string,
      { arguments: Schema[]; answer?: Schema }
    >;
  };
  const missing = [
    ...Object.entries({ input, result, status }),
    ...[updates, signals, queries].flatMap((messages) =>
      Object.entries(messages).flatMap(([name, { arguments: given, answer }]) =>
        [...given, ...(answer ? [answer] : [])].map((schema) => [name, schema] as const),
      ),
    ),
  ].flatMap(([name, schema]) => unexplained(schema, name));
  expect(missing).toEqual([]);
});
