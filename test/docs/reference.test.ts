// docs/reference is what the registry and the schemas say, and the phases of a process are those of its recorded histories.
import { expect, test } from "vitest";
import { contractOf, outcomesOf, processes } from "../../src/contracts/registry.js";
import { files, textOf } from "./repository.js";
import { shownOfClient } from "./client-page.js";
import { referencePages } from "./reference.js";

const generated = referencePages();

test.each([...generated.keys()])("%s is what `npm run reference` makes", (path) => {
  expect(textOf(path)).toBe(generated.get(path));
});

test("no page of docs/reference is left over", () => {
  const there = files.filter((path) => path.startsWith("docs/reference/"));
  expect(there.toSorted()).toEqual([...generated.keys()].toSorted());
});

test.each(processes)("the page of %s has each outcome with its meaning", (processName) => {
  const rows = generated.get(`docs/reference/${processName}.md`) ?? "";
  for (const outcome of outcomesOf(processName)) expect(rows).toMatch(`\n| \`${outcome}\` | `);
});

test.each(shownOfClient())("$name of the client, and each of its members, is explained", (one) => {
  expect([one.doc, ...one.members.map(({ doc }) => doc)]).not.toContain("");
});

test.each(
  shownOfClient().filter(({ name }) => /(Options|Overrides|Filter|Order|Waiting)$/.test(name)),
)("each member of $name that may be left out has its default", ({ doc, kind, members }) => {
  const optional = members.filter(({ code }) => /^\w+\?:/.test(code));
  for (const member of kind === "type" ? [{ name: "all", doc: "" }] : optional)
    expect([member.name, `${doc} ${member.doc}`]).toEqual([
      member.name,
      expect.stringMatching(/Default/),
    ]);
});

test("each error that the client's page names is one of the client's", () => {
  const said = generated.get("docs/reference/client.md") ?? "";
  const known = textOf("dist/errors/index.d.ts");
  const named = new Set(said.match(/\b[A-Z]\w+Error\b/g));
  expect(named.size).toBeGreaterThan(20);
  for (const name of named) expect(known).toContain(name);
  const [, rows = ""] = said.split("\n## Errors\n");
  for (const [name] of known.matchAll(/\b(?!TrustflowError)[A-Z]\w+Error\b/g))
    expect(rows).toContain(`[${name}]`);
  expect(rows).not.toContain("undefined");
});

interface History {
  history: {
    events: {
      upsertWorkflowSearchAttributesEventAttributes?: {
        searchAttributes: { indexedFields: Record<string, { data?: string }> };
      };
    }[];
  };
}

/** The phases that a recorded history shows, one after the other. */
function phasesIn({ history }: History): string[] {
  const shown = history.events.flatMap(
    ({ upsertWorkflowSearchAttributesEventAttributes: event }) => {
      const { data } = event?.searchAttributes.indexedFields["TrustflowPhase"] ?? {};
      return data === undefined
        ? []
        : [JSON.parse(Buffer.from(data, "base64").toString()) as string];
    },
  );
  return ["submitting", ...shown].filter((phase, at, all) => phase !== all[at - 1]);
}

/** Whether the ways lead from one phase to the other; a phase may be skipped. */
function leads(ways: readonly (readonly string[])[], from: string, to: string): boolean {
  const reached = new Set([from]);
  for (const phase of reached)
    for (const way of ways)
      for (const [at, next] of way.entries()) if (way[at - 1] === phase) reached.add(next);
  return from !== to && reached.has(to);
}

test.each(processes)("the recorded histories of %s go the ways of its phases", (processName) => {
  const { phases } = contractOf(processName);
  const recorded = files.filter((path) => path.startsWith(`test/replay/${processName}/`));
  expect(recorded.length).toBeGreaterThan(0);
  for (const path of recorded) {
    const shown = phasesIn(JSON.parse(textOf(path)) as History);
    for (const [at, to] of shown.slice(1).entries())
      expect([path, shown[at], to, leads(phases, shown[at] ?? "", to)]).toEqual([
        path,
        shown[at],
        to,
        true,
      ]);
  }
});
