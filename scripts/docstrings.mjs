// Writes the descriptions of the contracts' schemas into the declarations of the client's package, where editors show them. The compiler
// knows the types that zod infers, and no description.
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { z } from "zod";

/**
 * @typedef {{ description?: string, examples?: unknown[], properties?: Record<string, Schema>, items?: Schema, anyOf?: Schema[],
 *   additionalProperties?: Schema | boolean }} Schema
 * @typedef {Schema[] | Record<string, unknown> | undefined} Place what a name stands for: forms of a schema, or an object with schemas
 * @typedef {{ name: string, definition?: object, argument?: z.ZodType, answer?: z.ZodType }} Message
 */

/** The declarations by which applications see the contracts: the client's methods take their types from `processes`. */
const shown = /^(processes|[\w-]+[\\/](contract|messages)|shared[\\/][\w-]+)\.d\.ts$/;
const declaration = /^export (declare const|interface|type) (\w+)/;
const property = /^( +)(?:readonly )?(\w+)\??: (.*)$/;
const message = /^export declare const (\w+): .*Definition<(\w*)[^[]*\[([^\]]*)\]/gm;

/**
 * @param {string} folder the declarations of the contracts, with their modules beside them
 * @returns {Promise<number>} how many properties have a docstring now
 */
export async function writeDocstrings(folder) {
  /** @type {(name: string) => Promise<Record<string, any>>} */
  const load = (name) => import(pathToFileURL(join(folder, name)).href);
  const names = (await readdir(folder, { recursive: true })).filter((name) => shown.test(name));
  const files = await Promise.all(
    names.map(async (name) => ({
      file: join(folder, name),
      text: await readFile(join(folder, name), "utf8"),
      exported: { ...(await load(name.replace(/d\.ts$/, "js"))) },
    })),
  );
  const types = typesIn(files.map(({ text }) => text).join("\n"));
  const { processes, updatesOf } = await load("registry.js");
  const { signals, queries } = await load("message-contracts.js");
  /** @type {Message[]} */
  const messages = [...processes.flatMap(updatesOf), ...signals, ...queries];
  for (const { text, exported } of files) {
    for (const [, name = "", answered = "", given = ""] of text.matchAll(message)) {
      const one = messages.find((each) => each.definition === exported[name] || each.name === name);
      if (!one) continue;
      const argument = schemasOf(one.argument);
      const answer = schemasOf(one.answer);
      exported[name] = [...argument, ...answer];
      types.add(answered, answer);
      for (const [type] of given.matchAll(/\b[A-Z]\w+/g)) types.add(type, argument);
    }
  }
  let count = 0;
  for (const { file, text, exported } of files) {
    const lines = documented(text, (kind, name) =>
      kind === "declare const" ? placeOf(exported[name]) : types.get(name),
    );
    count += lines.length - text.split("\n").length;
    await writeFile(file, lines.join("\n"));
  }
  return count;
}

/**
 * The types of messages that have a name: what contains one of them says which schema it has.
 * @param {string} text
 */
function typesIn(text) {
  /** @type {Map<string, Schema[]>} */
  const known = new Map();
  /** @type {(name: string, schemas: Schema[]) => void} */
  const add = (name, schemas) => {
    const found = new RegExp(`^export interface ${name}(?: extends (\\w+))? {([^}]*)`, "m").exec(
      text,
    );
    if (known.has(name) || schemas.length === 0) return;
    known.set(name, schemas);
    const [, parent, members = ""] = found ?? [];
    if (parent) add(parent, schemas);
    for (const [, member = "", type = ""] of members.matchAll(/(\w+)\??: ([A-Z]\w+);/g))
      add(type, childrenOf(schemas, member));
  };
  return { add, get: (/** @type {string} */ name) => known.get(name) };
}

/**
 * The lines of a file of declarations, with a docstring before each property that its schema explains. The compiler indents: what is
 * deeper than a property is inside it.
 * @param {string} text
 * @param {(kind: string, name: string) => Place} rootOf
 */
function documented(text, rootOf) {
  /** @type {{ indent: number, place: Place }[]} */
  let above = [];
  return text.split("\n").flatMap((line) => {
    const [, kind, root = ""] = declaration.exec(line) ?? [];
    if (kind) above = [{ indent: 0, place: rootOf(kind, root) }];
    const [, indent = "", name = ""] = property.exec(line) ?? [];
    if (!name) return [line];
    above = above.filter((outer) => outer.indent < indent.length);
    const parent = above.at(-1)?.place;
    const place = Array.isArray(parent) ? childrenOf(parent, name) : placeOf(parent?.[name]);
    above.push({ indent: indent.length, place });
    const docstring = Array.isArray(place) ? docstringOf(place) : "";
    return docstring ? [`${indent}/** ${docstring} */`, line] : [line];
  });
}

/** @param {Schema[]} schemas several where the property has a meaning of its own in each form of a union */
function docstringOf(schemas) {
  const meanings = new Set(schemas.flatMap(({ description = [] }) => description));
  const example = schemas.flatMap(({ examples = [] }) => examples).find(isText);
  return [...meanings, ...(example === undefined ? [] : [`Example: \`${example}\`.`])]
    .join(" ")
    .replaceAll("*/", "*\\/");
}

/** @type {(value: unknown) => value is string} */
const isText = (value) => typeof value === "string";

/** @type {(schemas: Schema[], name: string) => Schema[]} */
function childrenOf(schemas, name) {
  return schemas.flatMap(formsOf).flatMap(({ properties = {} }) => properties[name] ?? []);
}

/** @type {(schema: Schema) => Schema[]} */
function formsOf(schema) {
  const { items, anyOf = [], additionalProperties: others } = schema;
  const inner = [
    ...anyOf,
    ...(items ? [items] : []),
    ...(typeof others === "object" ? [others] : []),
  ];
  return [schema, ...inner.flatMap(formsOf)];
}

/** @type {(value: unknown) => Place} */
function placeOf(value) {
  if (value instanceof z.ZodType) return schemasOf(value);
  return typeof value === "object" && value !== null
    ? /** @type {Record<string, unknown>} */ (value)
    : undefined;
}

/** @type {(contract?: z.ZodType) => Schema[]} */
function schemasOf(contract) {
  return contract
    ? [/** @type {Schema} */ (z.toJSONSchema(contract, { io: "input", unrepresentable: "any" }))]
    : [];
}
