// The pages of docs/reference, as the sources say. `npm run reference` writes them.
import { exampleOf } from "../../src/contracts/example.js";
import { contractOf, processes } from "../../src/contracts/registry.js";
import { resolve } from "../../src/contracts/definition/message-contract.js";
import type { UpdateContract } from "../../src/contracts/definition/message-contract.js";
import type { ProcessName } from "../../src/contracts/registry.js";
import { schemasOf } from "../../src/contracts/schemas.js";
import type { ProcessFailure } from "../../src/contracts/shared/failures.js";
import { Phase, ProcessStatus } from "../../src/contracts/shared/status.js";
import { meaningsOf } from "../../src/contracts/shared/words.js";
import { importsPage } from "./architecture.js";
import { clientPage } from "./client-page.js";
import { configurationPage } from "./configuration-page.js";
import { errorsPage } from "./errors-page.js";
import { page, table } from "./markdown.js";
import { metricsPage } from "./metrics-page.js";

/** docs/errors.md says what to do. */
const failureMeanings: Record<ProcessFailure, string> = {
  InvalidInput: "the input breaks a rule; nothing was sent",
  InputMismatch: "the id already stands for another input",
  NotAccepted: "the provider refused the first effect; nothing exists there",
  Abandoned:
    "an operator abandoned the process; `effect` says whether something exists at the provider",
};

interface Schema {
  type?: string;
  format?: string;
  description?: string;
  examples?: unknown[];
  const?: string | number | boolean;
  enum?: string[];
  not?: object;
  writeOnly?: boolean;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
}

interface Row {
  path: string;
  isRequired: boolean;
  schema: Schema;
}

const generated =
  "`npm run reference` makes this page from `src/contracts`; a test compares the two.";

/** Each page with its path. */
export function referencePages(): Map<string, string> {
  return new Map([
    ["docs/reference/README.md", overview()],
    ["docs/reference/client.md", clientPage()],
    ["docs/reference/client-errors.md", errorsPage()],
    ["docs/reference/configuration.md", configurationPage()],
    ["docs/reference/metrics.md", metricsPage()],
    ["docs/reference/imports.md", importsPage()],
    ...processes.map((name) => [`docs/reference/${name}.md`, pageOf(name)] as const),
  ]);
}

function overview(): string {
  const status = schemasOf("sendMessage").status as Schema;
  return page("Reference of the processes", generated, [
    table(
      ["process", "what it does"],
      processes.map((name) => [`[${name}](${name}.md)`, contractOf(name).command.summary]),
    ),
    "[The client's API](client.md) has the methods that start and follow them, [its errors](client-errors.md) what they throw. For operators: [every key of the configuration](configuration.md), [metrics and alerts](metrics.md). For contributors: [who may import what](imports.md).",
    "`trustflow schema PROCESS` prints the JSON Schemas, and `trustflow example PROCESS` an input with comments.",
    "## Status",
    "A process may have more members, which its page names.",
    members(rowsOf(status)),
    "## Result",
    "The page of a process has its own members. These have the same form in each result:",
    members(rowsOf(schemasOf("sendPostal").result as Schema).filter(isShared)),
    "## Phases",
    meanings(["phase", "meaning"], meaningsOf(Phase)),
    "## Document",
    "Where a table says `document`, an input has one of these two forms; a result always has the first one.",
    ...formTables((schemasOf("sendPostal").input as Schema).properties?.["document"] ?? {}),
    "## Updates of every process",
    ...updateOf("sendPostal", resolve),
    "## Failures",
    "A failed process has one of these types. [What to do](../errors.md#a-process-that-failed).",
    meanings(["type", "meaning"], failureMeanings),
  ]);
}

/** Its members are told once, for all processes. */
const isShared = ({ path }: Row) => /(^|\.)(documents|timeline|reported|shown)(\[\]|\.)/.test(path);

function pageOf(name: ProcessName): string {
  const { title, command, result: resultContract, phases, states, status } = contractOf(name);
  const { input, result } = schemasOf(name) as unknown as { input: Schema; result: Schema };
  const own = Object.keys(ProcessStatus.shape);
  const updates = Object.values(contractOf(name).updates);
  const ownStatus = rowsOf(schemasOf(name).status as Schema).filter(
    ({ path }) => !own.includes(path.split(/[.[]/)[0] ?? ""),
  );
  const outcome = (resultContract as unknown as { shape: { outcome: typeof status } }).shape
    .outcome;
  return page(name, `${generated} [All processes](README.md).`, [
    `**${title}**: ${command.summary}. ${command.details}`,
    commandsOf(name),
    `\`--dry-run\` does not check ${command.notChecked}.`,
    "## Input",
    members(withDefaults(name, rowsOf(input))),
    "A valid input:",
    `\`\`\`json\n${JSON.stringify(exampleOf(name), undefined, 2)}\n\`\`\``,
    "## Phases",
    diagram(phases),
    ...(states
      ? [`The provider's states: ${states.map((state) => `\`${state}\``).join(", ")}.`]
      : []),
    "## Outcomes",
    meanings(["outcome", "meaning"], meaningsOf(outcome)),
    "## Result",
    members(rowsOf(result).filter((row) => !isShared(row))),
    "[All results](README.md#result) have the members of `documents` and `timeline` alike.",
    ...(ownStatus.length > 0
      ? [
          "## Status",
          "Beside the members that [every process](README.md#status) has:",
          members(ownStatus),
        ]
      : []),
    "## Updates",
    ...updates.flatMap((update) => updateOf(name, update)),
    "Every process has the update [`resolve`](README.md#resolve), and fails with one of [these types](README.md#failures).",
  ]);
}

/** They end at once: nothing is watched. */
function commandsOf(name: ProcessName): string {
  const [, command = "", stem = ""] =
    /^trustflow (\S+) --input (\S+)\.json/.exec(contractOf(name).command.example) ?? [];
  const start = `trustflow ${command} --input ${stem}.json`;
  const lines = [
    `trustflow example ${name} > ${stem}.json`,
    `${start} --dry-run`,
    `${start} --id ${stem}-1`,
  ];
  return `\`\`\`sh\n${lines.join("\n")}\n\`\`\``;
}

function updateOf(name: ProcessName, { name: update, description }: UpdateContract): string[] {
  const messages = schemasOf(name).updates as unknown as Record<
    string,
    { arguments: Schema[]; answer: Schema }
  >;
  const { arguments: given = [], answer = {} } = messages[update] ?? {};
  return [
    `### ${update}`,
    description,
    ...given.flatMap((argument) => ["The argument:", members(rowsOf(argument))]),
    "The answer:",
    ...formTables(answer),
  ];
}

/** What belongs to another process, whose page tells its members. */
const ofAnother = /^The (input|settings|result) of `(\w+)`/;

/** Every property below, in the order of the schema; a document is one, and its members are told once. */
function rowsOf(schema: Schema, above = ""): Row[] {
  const seen = new Set<string>();
  return formsOf(schema)
    .flatMap(({ properties = {}, required = [], items }) => [
      ...(items ? rowsOf(items, `${above}[]`) : []),
      ...Object.entries(properties).flatMap(([name, property]) => {
        const path = above === "" ? name : `${above}.${name}`;
        const row = { path, isRequired: required.includes(name), schema: property };
        const isToldElsewhere = isDocument(property) || ofAnother.test(property.description ?? "");
        return [row, ...(isToldElsewhere ? [] : rowsOf(property, path))];
      }),
    ])
    .filter(({ path, schema: { description = "" } }) => {
      const key = `${path} ${description}`;
      return !seen.has(key) && seen.add(key);
    });
}

function formsOf(schema: Schema): Schema[] {
  return schema.anyOf ? schema.anyOf.flatMap(formsOf) : [schema];
}

const isDocument = (schema: Schema) =>
  formsOf(schema).every(({ properties = {} }) => "mediaType" in properties);

/** A table for each form. */
const formTables = (schema: Schema): string[] =>
  formsOf(schema).flatMap((form, at) => [...(at > 0 ? ["or"] : []), members(rowsOf(form))]);

function withDefaults(name: ProcessName, rows: Row[]): Row[] {
  const { defaults = {} } = contractOf(name);
  return rows.map((row) => {
    const [section, key = "", ...deeper] = row.path.split(".");
    const given = defaults[key];
    if (section !== "settings" || deeper.length > 0 || given === undefined) return row;
    const value = typeof given === "object" ? given.value : given;
    const description = `${row.schema.description} Default: ${value}, or what \`${name}.${key}\` of the [configuration](configuration.md) says.`;
    return { ...row, schema: { ...row.schema, description } };
  });
}

function typeOf(schema: Schema): string {
  const { type, format, const: only, enum: words, items, not, writeOnly, properties } = schema;
  if (not) return "–";
  if (isDocument(schema)) return "document";
  if (schema.anyOf) return [...new Set(schema.anyOf.map(typeOf))].join(" or ");
  if (writeOnly) return "text, secret";
  if (only !== undefined) return `\`${only}\``;
  if (words) return words.map((word) => `\`${word}\``).join(", ");
  if (items) return `list of ${typeOf(items)}`;
  if (properties || type === "object") return "object";
  if (format === "date-time") return "instant";
  if (format === "date") return "date";
  return (
    { string: "text", integer: "whole number", number: "number", boolean: "true or false" }[
      type ?? ""
    ] ?? "any"
  );
}

function members(rows: Row[]): string {
  return table(
    ["property", "", "type", "what"],
    rows.map(({ path, isRequired, schema }) => {
      const [example] = schema.examples ?? [];
      const shown = typeof example === "string" ? ` Example: \`${example}\`.` : "";
      return [
        `\`${path}\``,
        isRequired ? "required" : "",
        typeOf(schema),
        `${linked(schema.description)}${shown}`,
      ];
    }),
  );
}

/** With a link to the members that another process's page tells. */
function linked(description = ""): string {
  return description.replace(ofAnother, (_, part: string, name: string) => {
    const section = part === "result" ? "result" : "input";
    return `The ${part} of [\`${name}\`](${name}.md#${section})`;
  });
}

function meanings(head: [string, string], words: Record<string, string> = {}): string {
  return table(
    head,
    Object.entries(words).map(([word, meaning]) => [`\`${word}\``, meaning]),
  );
}

function diagram(phases: readonly (readonly string[])[]): string {
  const [first = []] = phases;
  const moves = phases.flatMap((way) =>
    way.slice(1).map((to, index) => `  ${way[index]} --> ${to}`),
  );
  const lines = [`  [*] --> ${first[0]}`, ...moves, "  ended --> [*]"];
  return `\`\`\`mermaid\nstateDiagram-v2\n${lines.join("\n")}\n\`\`\``;
}
