// docs/reference/client.md, as the declarations say that the compiler makes of src/client.ts and of what it exports. `npm run reference`
// writes it.
import { posix } from "node:path";
import { page, table } from "./markdown.js";
import { textOf } from "./repository.js";

/** A class, an interface or a type of the client, or a member of one. */
export interface Declared {
  name: string;
  /** Its docstring, as Markdown. */
  doc: string;
  /** As the compiler writes it. */
  code: string;
}

export interface Shown extends Declared {
  kind: "class" | "interface" | "type";
  /** What it extends, or undefined. */
  base?: string;
  members: Declared[];
}

const entry = "dist/client.d.ts";

/** Everything that the client exports, and the handles of all processes, in the order of the page. */
export function shownOfClient(): Shown[] {
  const text = textOf(entry);
  const exported = [...text.matchAll(/^export (?:type )?\{([^}]*)\} from "(.*)\.js";$/gm)].flatMap(
    ([, names = "", path = ""]) => {
      const declared = declaredIn(posix.join("dist", `${path}.d.ts`));
      return names
        .split(",")
        .flatMap((name) => declared.find((one) => one.name === name.trim()) ?? []);
    },
  );
  const processes = declaredIn("dist/client/processes.d.ts");
  const given = [
    ...declaredIn(entry),
    ...processes.filter(isNamed("Starts")),
    ...exported.filter(({ name }) => name === "ProcessHandle"),
    ...processes.filter(({ kind, name }) => kind === "class" && name.endsWith("Handle")),
    ...declaredIn("dist/documents/store.d.ts").flatMap(documentsAsGiven),
    ...declaredIn("dist/temporal/connection.d.ts").filter(isNamed("ConnectionOverrides")),
    ...declaredIn("dist/client/handle.d.ts").filter(isNamed("Stated")),
    ...exported,
  ];
  return [...new Map(given.map((one) => [one.name, withoutInherited(one, given)])).values()];
}

/** What overrides a member of the same name, and says nothing more of it. */
function withoutInherited(one: Shown, all: Shown[]): Shown {
  const base = all.find(({ name }) => name === one.base?.replace(/<.*/, ""));
  const isInherited = ({ name, doc }: Declared) =>
    doc === "" && base?.members.some((member) => member.name === name) === true;
  return { ...one, members: one.members.filter((member) => !isInherited(member)) };
}

const isNamed =
  (name: string) =>
  (one: Shown): boolean =>
    one.name === name;

/** `trustflow.documents` has these members of the store alone. */
function documentsAsGiven(store: Shown): Shown[] {
  if (store.name === "PutOptions") return [store];
  if (store.name !== "DocumentStore") return [];
  const [, picked = ""] =
    /get documents\(\): Pick<DocumentStore, ([^>]*)>/.exec(textOf(entry)) ?? [];
  const isPicked = ({ name }: Declared) => picked.includes(`"${name}"`);
  return [{ ...store, members: store.members.filter(isPicked) }];
}

const docstring = String.raw`((?:^ *\/\*\*(?:(?!\*\/)[^])*\*\/\n)?)`;
const top = new RegExp(
  String.raw`${docstring}^(?:export )?(?:declare )?(?:abstract )?(class|interface|type) (\w+)([^]*?[;}])$(?!\n[ }])`,
  "gm",
);
/** A member ends where the compiler's indentation says so. */
const inner = new RegExp(
  String.raw`${docstring}^ {4}(\S[^\n]*(?:\n {5,}[^\n]*|\n {4}[}\])][^\n]*)*)$`,
  "gm",
);

function declaredIn(path: string): Shown[] {
  return [...textOf(path).matchAll(top)].map(([, doc = "", kind = "", name = "", rest = ""]) => {
    const [, base] = / extends ([^{]*) \{/.exec(rest.split("\n")[0] ?? "") ?? [];
    return {
      kind: kind as Shown["kind"],
      name,
      doc: markdownOf(doc),
      code: plain(`type ${name}${rest}`),
      ...(base !== undefined && { base: plain(base.replace(/ implements .*/, "")) }),
      members: kind === "type" ? [] : membersOf(rest),
    };
  });
}

function membersOf(body: string): Declared[] {
  return [...body.matchAll(inner)]
    .map(([, doc = "", code = ""]) => ({
      name: /^(?:(?:static|readonly|abstract|get) )*(\w+)/.exec(code)?.[1] ?? "",
      doc: markdownOf(doc),
      code: plain(code),
    }))
    .filter(({ name, code }) => name !== "constructor" && !/^(#|protected )/.test(code));
}

/** Without the module of a type, and on one line. */
function plain(code: string): string {
  return code
    .replaceAll(/import\("[^"]*"\)\./g, "")
    .replaceAll(/\/\*\*(?:(?!\*\/)[^])*\*\//g, "")
    .replaceAll(/\s+/g, " ")
    .replace(/;$/, "")
    .trim();
}

function markdownOf(doc: string): string {
  const lines = doc
    .replace(/^\s*\/\*\*\s?/, "")
    .replace(/\s*\*\/\s*$/, "")
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, ""));
  return lines
    .join("\n")
    .split(/\n\n+/)
    .map((paragraph) => paragraph.replaceAll(/\s*\n\s*/g, " ").trim())
    .join("\n\n");
}

/** Class, code and docstring of each error, in the order of docs/reference/client-errors.md. */
function errorRows(): string[][] {
  const index = textOf("dist/errors/index.d.ts");
  const found = [...index.matchAll(/\{ (\w+) \} from "(.*)\.js"/g)];
  return found
    .filter(([, name]) => name !== "TrustflowError")
    .map(([, name = "", path = ""]) => {
      const [one] = declaredIn(posix.join("dist/errors", `${path}.d.ts`)).filter(isNamed(name));
      const code = one?.members.find((member) => member.name === "code")?.code ?? "";
      const [, word] = /"(\w+)"/.exec(code) ?? [];
      const link = `[${name}](client-errors.md#${name.toLowerCase()})`;
      return [link, `\`${word}\``, firstSentence(one?.doc ?? "")];
    });
}

const firstSentence = (doc: string) => /^[^]*?\.(?= |$)/.exec(doc)?.[0] ?? doc;

/** The type of a property, from how it is declared. */
function typeOf({ code }: Declared): string {
  return code.replace(/^(?:readonly )?\w+\??: /, "").replace(/ \| undefined$/, "");
}

function methods({ name, members }: Shown): string[] {
  const owners: Record<string, string> = {
    ...{ Trustflow: "trustflow", Starts: "trustflow" },
    DocumentStore: "trustflow.documents",
  };
  const owner = owners[name] ?? "handle";
  return members.flatMap((one) => [
    `#### ${one.code.startsWith("static ") ? "Trustflow" : owner}.${one.name}`,
    `\`\`\`ts\n${one.code.replace(/^(?:static |abstract )/, "")}\n\`\`\``,
    one.doc,
  ]);
}

function properties({ members }: Shown): string {
  return table(
    ["member", "", "type", "what"],
    members.map((one) => [
      `\`${one.name}\``,
      /^(?:readonly )?\w+\?/.test(one.code) ? "" : "required",
      `\`${typeOf(one)}\``,
      one.doc.replaceAll("\n\n", " "),
    ]),
  );
}

function section(one: Shown): string[] {
  const title = `### ${one.name}`;
  if (one.kind === "type") return [title, `\`\`\`ts\n${one.code}\n\`\`\``, one.doc];
  const about = [one.doc, ...(one.base === undefined ? [] : [`Extends \`${one.base}\`.`])];
  const body =
    one.kind === "class" ? methods(one) : one.members.length > 0 ? [properties(one)] : [];
  return [title, ...about, ...body];
}

export function clientPage(): string {
  const shown = shownOfClient();
  const classes = shown.filter(({ kind }) => kind === "class");
  const others = shown.filter(({ kind }) => kind !== "class");
  return page(
    "The client's API",
    "`npm run reference` makes this page from the declarations of `src/client.ts`; a test compares the two. [From your program](../applications.md) shows how to use it, and the pages of the [processes](README.md) have their inputs, results and updates.",
    [
      "## Classes",
      ...classes.flatMap(section),
      "## Options and answers",
      ...others.toSorted((one, other) => one.name.localeCompare(other.name)).flatMap(section),
      "## Errors",
      "Every call that fails throws one of these, the reason of an `AbortSignal` that you aborted, or a defect. All extend `TrustflowError`.",
      table(["error", "code", "when"], errorRows()),
    ].filter((part) => part !== ""),
  );
}
