// The page that `npm run coverage:spec` writes, made of the items: a table for each section, counts, and what is not shown beside what is assumed.
import { assumptionsIn, rowOf } from "./cover.js";
import { isNone, kinds, titled } from "./items.js";
import type { Item } from "./items.js";

const plural: Partial<Record<Item["kind"], string>> = {
  endpoint: "endpoints",
  field: "fields",
  value: "allowed values",
  rule: "rules",
  status: "statuses of answers",
  code: "error codes and causes",
  state: "states",
  outcome: "outcomes",
  transition: "transitions",
  callback: "callbacks",
  credential: "credentials",
  limit: "limits",
  version: "versions",
  notShown: "not shown",
};

export interface Pages {
  /** docs/assumptions.md. */
  assumptions: string;
  /** docs/specification.md, for the titles of the sections. */
  specification: string;
}

export function coveragePage(items: readonly Item[], pages: Pages): string {
  const titles = new Map(
    [...pages.specification.matchAll(/^\| (P[12] §[\d.]+) +\| (.+?) +\|$/gm)].map(
      ([, section = "", title = ""]) => [section, title],
    ),
  );
  const sections = [...new Set(items.map(({ section }) => section))];
  return [
    ...heading(items),
    ...notShown(items, pages),
    ...sections.flatMap((section) => [
      "",
      `## ${section}`,
      "",
      `${capital(titles.get(section) ?? section)}.`,
      "",
      ...table(items.filter((item) => item.section === section)),
    ]),
    "",
  ].join("\n");
}

const capital = (text: string) => `${text[0]?.toUpperCase()}${text.slice(1)}`;

function heading(items: readonly Item[]): string[] {
  const isOpen = ({ client, sandbox }: Item) => isNone(client) && isNone(sandbox);
  const covered = items.filter((item) => !isOpen(item)).length;
  const ofDocument = (document: string) => (item: Item) => item.section.startsWith(document);
  const count = (kind: Item["kind"], document?: string) =>
    items.filter((item) => item.kind === kind && ofDocument(document ?? "")(item)).length;
  return [
    "# Coverage of the specification",
    "",
    "Every endpoint, field, rule, error, limit, state and callback of the two documents, with the function of our client, the",
    "rule of the sandbox and the tests that cover it. The sections are those of [specification.md](../docs/specification.md).",
    "",
    `**${items.length} items. ${covered} are covered; ${items.length - covered} need nothing, each for the reason that stands in its row. None is open.**`,
    "",
    "| kind | P1 | P2 | both |",
    "| --- | ---: | ---: | ---: |",
    ...kinds.map(
      (kind) =>
        `| ${plural[kind]} | ${count(kind, "P1")} | ${count(kind, "P2")} | ${count(kind)} |`,
    ),
    `| all | ${items.filter(ofDocument("P1")).length} | ${items.filter(ofDocument("P2")).length} | ${items.length} |`,
    "",
    "`reach` is the user's way: a process (`sendPostal`), a member of its input (`sendPostal: options.costCentre`), an update",
    "(`sendPostal.cancel`), a command (`trustflow provider letters --offset`) or a key of an account; what the provider answers is",
    "reached by the processes and commands that ask for it. The test looks each up in the code.",
    "",
    "How to read a row: `evi-post/submit` is a function of that provider's client, `evi-post.submit` an operation of the sandbox; a",
    "name alone is another function of ours, or of the sandbox. A test is a title with its file, or a fixture: our client and the",
    "sandbox share no code, but both meet it, unless the fixture says that it is about one of them. (assumed): a part is not shown,",
    "and [assumptions.md](../docs/assumptions.md) says what stands for it.",
    "",
    "The items stand in `test/coverage/specification.jsonl`. `npm run coverage:spec` writes this page. `test/coverage` fails where",
    "an item loses its client, its sandbox rule or a test, and where the code has an operation, a state, a filter value or an error",
    "code without an item.",
  ];
}

function notShown(items: readonly Item[], { assumptions }: Pages): string[] {
  const rows = assumptionsIn(assumptions);
  return [
    "",
    "## What the specification does not show",
    "",
    "Each place where the documents say so, and what is assumed in its stead; [assumptions.md](../docs/assumptions.md) says where to change",
    "it.",
    "",
    "| § | not shown | assumed |",
    "| --- | --- | --- |",
    ...items
      .filter(({ kind }) => kind === "notShown")
      .map(({ section, says, assumptions: named = [] }) => {
        const assumed = named.map((name) => {
          if (isNone(name)) return `– (${name.slice("none: ".length)})`;
          const row = rowOf(rows, name);
          return `${row?.name.replace(/^[^:]*: /, "")} → ${row?.assumed}`;
        });
        return `| ${section} | ${says} | ${assumed.join("<br>")} |`;
      }),
  ];
}

function table(items: readonly Item[]): string[] {
  return [
    "| item | the specification says | reach | client | sandbox | tests |",
    "| --- | --- | --- | --- | --- | --- |",
    ...items.map(({ id, says, reach, client, sandbox, tests, assumptions = [], section }) => {
      const isAssumed = assumptions.some((name) => !isNone(name));
      const cells = [
        id.slice(section.length),
        isAssumed ? `${says} (assumed)` : says,
        reach.map(reachCell).join("<br>"),
        coverCell(client),
        coverCell(sandbox),
        tests.map((test) => testCell(test, client)).join("<br>"),
      ];
      return `| ${cells.join(" | ")} |`;
    }),
  ];
}

function coverCell(cover: string): string {
  if (isNone(cover)) return `– (${cover.slice("none: ".length)})`;
  return `\`${cover.split("#").at(-1)}\``;
}

function reachCell(way: string): string {
  return isNone(way) ? `– (${way.slice("none: ".length)})` : `\`${way}\``;
}

/** A fixture of another provider than the client's has its folder before it. */
function testCell(test: string, client: string): string {
  const named = titled(test);
  if (!named) {
    const [folder = "", name = ""] = test.replace(/\.json$/, "").split("/");
    return client.includes(`${folder}/`) ? `\`${name}\`` : `\`${folder}/${name}\``;
  }
  return `${named.title} (${named.file.replace(/^test\/|\.test\.ts$/g, "")})`;
}
