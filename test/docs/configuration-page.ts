// docs/reference/configuration.md, as the schemas of the configuration say. `npm run reference` writes it.
import { z } from "zod";
import { environmentName } from "../../src/config/errors.js";
import { processes } from "../../src/contracts/registry.js";
import { schemasOf } from "../../src/contracts/schemas.js";
import { ConfigWithAccounts } from "../../src/providers/accounts.js";
import { linkedFromReference, page, table } from "./markdown.js";

interface Node {
  properties?: Record<string, Node>;
  additionalProperties?: Node | boolean;
  anyOf?: Node[];
  required?: string[];
  description?: string;
  /** An optional secret that its account cannot be used without. */
  isRequired?: boolean;
  default?: string | number | boolean | string[];
}

export interface ConfigurationRow {
  key: string;
  environment: string;
  default: string;
  what: string | undefined;
}

interface Leaf {
  key: string;
  node: Node;
  isRequired: boolean;
}

/** Every key of the schema; a key of a record is `<name>`. */
function leavesOf(node: Node, path: string[] = [], isRequired = false): Leaf[] {
  if (node.properties) {
    return Object.entries(node.properties).flatMap(([name, child]) =>
      leavesOf(
        child,
        [...path, name],
        (node.required?.includes(name) ?? false) || child.isRequired === true,
      ),
    );
  }
  if (typeof node.additionalProperties === "object")
    return leavesOf(node.additionalProperties, [...path, "<name>"]);
  return [{ key: path.join("."), node, isRequired }];
}

// What must be given is a matter of the input; defaults show in the output.
const shape = (io: "input" | "output") =>
  z.toJSONSchema(ConfigWithAccounts, { io, unrepresentable: "any" }) as Node;
const needed = new Set(
  leavesOf(shape("input"))
    .filter(({ isRequired }) => isRequired)
    .map(({ key }) => key),
);

/** A default of a process is explained where the input has it. */
function settingsOf(processName: (typeof processes)[number]): [string, string | undefined][] {
  const { anyOf, ...input } = schemasOf(processName).input as Node;
  const { settings } = (anyOf?.[0] ?? input).properties ?? {};
  return Object.entries(settings?.properties ?? {}).map(([name, { description }]) => [
    `${processName}.${name}`,
    description,
  ]);
}
const settings = new Map(processes.flatMap(settingsOf));

function defaultOf({ key, node }: Leaf): string {
  if (node.default === undefined) return needed.has(key) ? "required" : "–";
  const text = Array.isArray(node.default) ? node.default.join(",") : String(node.default);
  return text === "" ? "none" : text;
}

export const configurationRows: ConfigurationRow[] = leavesOf(shape("output")).map((leaf) => ({
  key: leaf.key,
  environment: leaf.key === "database.url" ? "DATABASE_URL" : environmentName(leaf.key),
  default: defaultOf(leaf),
  what: settings.get(leaf.key) ?? leaf.node.description,
}));

const quoted = (text: string) => (/^(required|none|–)$/.test(text) ? text : `\`${text}\``);

const about = `\`npm run reference\` makes this page from the schemas of the configuration; a test compares the two. [How to
configure](../operations/configuration.md) says where a key stands, and when a change counts.

"–": there is no default; leave the key out where the role does not need it. "required": you must set the key if you write its section.
The settings of a process are defaults: the \`settings\` of an [input](README.md) override them.`;

/** The section of a key: that of an account is its provider's. */
const sectionOf = (key: string) => /^accounts\.<name>\.[^.]+|^[^.]+/.exec(key)?.[0] ?? key;

export function configurationPage(): string {
  const sections = new Map<string, string[][]>();
  for (const { key, environment, default: value, what = "" } of configurationRows) {
    const rows = sections.get(sectionOf(key)) ?? [];
    sections.set(sectionOf(key), rows);
    rows.push([`\`${key}\``, `\`${environment}\``, quoted(value), linkedFromReference(what)]);
  }
  const tables = [...sections].flatMap(([section, rows]) => [
    `## ${section.replace("accounts.<name>.", "Accounts: ")}`,
    table(["key", "environment", "default", "what"], rows),
  ]);
  return page("Every key of the configuration", about, tables);
}
