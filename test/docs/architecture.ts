// The house as its imports and its lint rules show it. A room is a folder or a file at the top of src.
import { posix } from "node:path";
import { page, table } from "./markdown.js";
import { codeBlocks, files, textOf } from "./repository.js";

export const roomOf = (path: string): string | undefined =>
  /^src\/([^/]+?)(?:\.[cm]?[jt]s)?(?:\/|$)/.exec(path)?.[1];

const sources = files.filter((path) => /^src\/.*\.(ts|js|cjs)$/.test(path));

export const rooms = [...new Set(sources.flatMap((path) => roomOf(path) ?? []))];

/** One import between two rooms; imports of types count. */
export interface Arrow {
  from: string;
  to: string;
  path: string;
}

export const arrows: Arrow[] = sources.flatMap((path) =>
  [...textOf(path).matchAll(/(?:\bfrom|\bimport|\bimport\()\s*"(\.[^"]+)"/g)].flatMap(
    ([, target = ""]) => {
      const from = roomOf(path)!;
      const to = roomOf(posix.join(posix.dirname(path), target));
      return to === undefined || to === from ? [] : { from, to, path };
    },
  ),
);

/** The floors of a page's picture, from the top, each with its rooms: `f1["what it is<br/>room, room"]`. */
export function floorsOf(text: string): string[][] {
  const picture = codeBlocks(text).find(({ language }) => language === "mermaid");
  return (picture?.lines ?? []).flatMap((line) => {
    const [, listed] = /^\s*\w+\["[^"]*<br\/>([^"]+)"\]$/.exec(line) ?? [];
    return listed === undefined ? [] : [listed.split(", ")];
  });
}

interface Pattern {
  group: string[];
  message: string;
  allowTypeImports?: boolean;
}

interface Override {
  files: string[];
  rules?: { "no-restricted-imports"?: [string, { patterns: Pattern[] }] };
}

/** What the lint rules let a room do: the rooms that it may import, those of which it takes types alone, and its libraries. */
class Rights {
  readonly allowed = new Set<string>();
  readonly types = new Set<string>();
  readonly libraries = new Set<string>();
  isRestricted = false;
  #forbidden: Set<string> | undefined;

  add(glob: string, { group, message, allowTypeImports = false }: Pattern): void {
    const own = roomOf(glob);
    const names = (patterns: string[]) =>
      patterns
        .map((pattern) => roomOf(posix.join(posix.dirname(glob), pattern)) ?? "")
        .filter((name) => name !== own && /^\w/.test(name));
    const excepted = group.filter((one) => one.startsWith("!")).map((one) => one.slice(1));
    const named = group.filter((one) => one.startsWith("."));
    const isOfLibraries = message.endsWith("use that library");
    if (!isOfLibraries && (named.length === 0 || message.endsWith("nobody imports that"))) return;
    this.isRestricted = true;
    if (isOfLibraries) for (const one of excepted) this.libraries.add(one);
    else if (allowTypeImports) {
      for (const name of names(named)) this.types.add(name);
      for (const name of names(excepted)) this.allowed.add(name);
    } else if (named.some((one) => /^(\.\.?\/)+(\*\/)?\*\*$/.test(one))) {
      for (const name of names(excepted)) this.allowed.add(name);
    } else {
      const forbidden = names(named);
      this.#forbidden = new Set(forbidden.filter((name) => this.#forbidden?.has(name) ?? true));
    }
  }

  get cells(): string[] {
    const list = (names: Iterable<string>) => [...names].toSorted().join(", ") || "–";
    const never =
      this.#forbidden &&
      [...new Set([...this.#forbidden, ...this.types])].filter((name) => !this.allowed.has(name));
    return [
      never ? `all but ${list(never)}` : list(this.allowed),
      list(this.types),
      list(this.libraries),
    ];
  }
}

const about = `The linter enforces the rules of \`.oxlintrc.json\`; \`npm run reference\` makes this page of them. A row says the most that any
file of a room may import; a single file may be allowed less. "All but" counts from the room's own floor down
([architecture](../ARCHITECTURE.md#the-floors)). \`cli\`, \`cleanup\` and \`worker\` have no row, because no such rule restricts them. The
last column has libraries that the rules forbid by default and allow here.`;

/** docs/reference/imports.md; `npm run reference` writes it. */
export function importsPage(): string {
  const order = floorsOf(textOf("docs/ARCHITECTURE.md")).flat();
  const { overrides } = JSON.parse(textOf(".oxlintrc.json")) as { overrides: Override[] };
  const rights = new Map<string, Rights>();
  for (const { files: globs, rules } of overrides) {
    const patterns = rules?.["no-restricted-imports"]?.[1].patterns ?? [];
    for (const glob of globs.filter((one) => /^src\/\w/.test(one))) {
      const room = roomOf(glob)!;
      const own = rights.get(room) ?? new Rights();
      for (const pattern of patterns) own.add(glob, pattern);
      rights.set(room, own);
    }
  }
  const rows = [...rights]
    .filter(([, own]) => own.isRestricted)
    .toSorted(([one], [other]) => order.indexOf(one) - order.indexOf(other));
  return page("Who may import what", about, [
    table(
      ["room", "may import", "types alone", "libraries of its own"],
      rows.map(([room, own]) => [`\`${room}\``, ...own.cells]),
    ),
  ]);
}
