// The ways by which a user reaches what an item covers, looked up in the code.
//
// | reach                                        | the code has                                             |
// |----------------------------------------------|----------------------------------------------------------|
// | `sendPostal`                                 | a process of the registry                                |
// | `sendPostal: options.costCentre`             | a member of its input; `recipients[;legalname]`: a column |
// | `sendPostal.requestAffidavit: includeEvents` | an update of it; with a member, of its argument          |
// | `trustflow provider letters --offset`        | a command; with an option                                |
// | `accounts.evi-post.siteHasRegion`            | a key of the accounts of a provider                      |
// | `none: <reason>`                             | the process sets it, or nobody can want it               |
import type { Command } from "commander";
import { createProgram } from "../../src/cli/program.js";
import { contractOf, processes } from "../../src/contracts/registry.js";
import type { ProcessName } from "../../src/contracts/registry.js";
import { schemasOf } from "../../src/contracts/schemas.js";
import { providers } from "../../src/providers/registry.js";
import { listColumns } from "../../src/batch/recipients/columns.js";

interface Schema {
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
}

/** Undefined where the code has the way; else what it lacks. */
export function problemOfWay(way: string): string | undefined {
  if (way.startsWith("none: ")) return undefined;
  const [kind = ""] = way.split(/[ .]/);
  const has = ({ trustflow: hasCommand, accounts: hasKey }[kind] ?? hasMember)(way);
  return has ? undefined : `no user can reach it: the code has no ${way}`;
}

function hasMember(way: string): boolean {
  const [target = "", path] = way.split(": ");
  const [name = "", update] = target.split(".");
  const processName = processes.find((one) => one === name);
  if (!processName) return false;
  const schema = update === undefined ? inputOf(processName) : argumentOf(processName, update);
  if (schema === undefined) return false;
  return path === undefined || hasPath(schema, path.split("."));
}

const schemas = new Map<ProcessName, ReturnType<typeof schemasOf>>();

function schemasOnce(processName: ProcessName) {
  const known = schemas.get(processName) ?? schemasOf(processName);
  schemas.set(processName, known);
  return known;
}

const inputOf = (processName: ProcessName) => schemasOnce(processName).input as Schema;

function argumentOf(processName: ProcessName, update: string): Schema | undefined {
  if (!Object.hasOwn(contractOf(processName).updates, update)) return undefined;
  return (schemasOnce(processName).updates[update]?.arguments[0] ?? {}) as Schema;
}

function hasPath(schema: Schema, [first, ...rest]: string[]): boolean {
  if (first === undefined) return true;
  const column = /^recipients\[;(.+)\]$/.exec(first)?.[1];
  if (column !== undefined) return listColumns.includes(column);
  return formsOf(schema).some((form) => {
    const member = form.properties?.[first.replace(/\[\]$/, "")];
    if (member === undefined) return false;
    const inner = first.endsWith("[]")
      ? formsOf(member).flatMap(({ items }) => items ?? [])
      : [member];
    return inner.some((one) => hasPath(one, rest));
  });
}

function formsOf(schema: Schema): Schema[] {
  const forms = schema.anyOf ?? schema.oneOf;
  return forms ? forms.flatMap(formsOf) : [schema];
}

const program = await createProgram();

function hasCommand(way: string): boolean {
  let command: Command | undefined = program;
  for (const word of way.split(" ").slice(1)) {
    if (word.startsWith("--")) return command.options.some(({ long }) => long === word);
    command = command.commands.find((one) => one.name() === word);
    if (!command) return false;
  }
  return true;
}

function hasKey(way: string): boolean {
  const [, provider = "", ...path] = way.split(".");
  const entry = Object.entries(providers).find(([name]) => name === provider)?.[1];
  let shape: unknown = entry?.keys;
  for (const name of path) shape = membersOf(shape)?.[name];
  return shape !== undefined;
}

/** Of an object, also where it has a default. */
function membersOf(schema: unknown): Record<string, unknown> | undefined {
  const { shape, def } = (schema ?? {}) as {
    shape?: Record<string, unknown>;
    def?: { innerType?: unknown; in?: unknown };
  };
  if (shape) return shape;
  return def?.innerType || def?.in ? membersOf(def.innerType ?? def.in) : undefined;
}
