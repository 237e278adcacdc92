// What the Web UI shows is read here by the parser that the Web UI has: whatever texts from outside hold, the document has the
// structure that we wrote, and the texts are text in it.
import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import fc from "fast-check";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmTableFromMarkdown } from "mdast-util-gfm-table";
import { gfmTable } from "micromark-extension-gfm-table";
import type { ProcessStatus } from "../../../src/contracts/shared/status.js";
import { plainText } from "../../../src/contracts/shared/text.js";
import { renderDetails } from "../../../src/workflows/runtime/status.js";
import { hiddenCharacters, outsideText } from "../../harness/stack/outside-text.js";

const at = "2026-01-01T00:00:00.000Z";

/** Every text of a status that comes from outside, or may hold such a text. */
interface Texts {
  id: string;
  account: string;
  waitingFor: string;
  state: string;
  reportedState: string;
  outcome: string;
  failure: string;
  reference: string;
  name: string;
  attention: string;
  reason: string;
  kind: string;
  note: string;
  person: string;
  sought: string;
}
const names = [
  ...["id", "account", "waitingFor", "state", "reportedState", "outcome", "failure", "reference"],
  ...["name", "attention", "reason", "kind", "note", "person", "sought"],
] as (keyof Texts)[];
const texts = fc.record(
  Object.fromEntries(names.map((name) => [name, outsideText])) as Record<
    keyof Texts,
    typeof outsideText
  >,
);

function statusWith(given: Texts, isAsking: boolean): ProcessStatus {
  return {
    process: "sendPostal",
    id: given.id,
    environment: "sandbox",
    account: given.account,
    phase: "tracking",
    waitingFor: given.waitingFor,
    state: given.state,
    reportedState: `not ${given.reportedState}`,
    outcome: given.outcome,
    failure: { type: "NotAccepted", message: given.failure, fields: [] },
    references: { [`the ${given.name}`]: given.reference },
    ...(isAsking && {
      attention: {
        id: given.attention,
        kind: "unknownOutcome",
        step: "submit",
        since: at,
        reason: given.reason,
        lookFor: { [`the ${given.name}`]: given.sought },
        attempts: [{ from: at, until: at }],
        decisions: ["retry", "abandon"],
        retryNeeds: ["confirmRetry", "note"],
      },
    }),
    timeline: [
      { at, source: "callback", event: given.kind, note: given.note },
      { at, source: "person", event: "retry: submit", by: given.person, note: given.note },
    ],
  };
}

interface Node {
  type: string;
  value?: string;
  children?: Node[];
}

const parsed = (source: string): Node =>
  fromMarkdown(source, { extensions: [gfmTable()], mdastExtensions: [gfmTableFromMarkdown()] });

/** The kinds of the nodes, as they are nested. */
const structureOf = ({ type, children }: Node): unknown =>
  children ? [type, ...children.map(structureOf)] : type;

const textsOf = ({ value, children = [] }: Node): string[] =>
  value === undefined ? children.flatMap(textsOf) : [value];

const nodesOf = (node: Node): Node[] => [node, ...(node.children ?? []).flatMap(nodesOf)];

const harmless = Object.fromEntries(names.map((name) => [name, name])) as unknown as Texts;

test("whatever comes from outside, the structure is ours and the text is text", () => {
  const [quiet, asking] = [false, true].map((isAsking) =>
    structureOf(parsed(renderDetails(statusWith(harmless, isAsking)).source)),
  );
  fc.assert(
    fc.property(texts, fc.boolean(), (given, isAsking) => {
      const { source } = renderDetails(statusWith(given, isAsking));
      const tree = parsed(source);
      expect(structureOf(tree)).toEqual(isAsking ? asking : quiet);
      const shown = textsOf(tree).join("\n");
      for (const name of names) {
        const isShown =
          name === "waitingFor"
            ? !isAsking
            : isAsking || !["attention", "reason", "sought"].includes(name);
        if (isShown && name !== "attention") expect(shown).toContain(plainText(given[name]).trim());
      }
      expect(source).not.toMatch(hiddenCharacters);
      if (!isAsking) expect(source).not.toContain("{workflowId}");
    }),
    { numRuns: 100 },
  );
});

test("before the first answer the details show the call under way, and no environment that nobody knows", () => {
  const { account: _, ...status } = statusWith(harmless, false);
  const started = { ...status, account: "default", environment: "unknown" as const };
  const { source } = renderDetails(started, [], ["Submit to EviPost"]);
  expect(source).not.toMatch(/unknown|default/);
  expect(textsOf(parsed(source))).toContain(
    "Now: Submit to EviPost (see Pending Activities for attempt, cause and next attempt)",
  );
});

/** What a shell makes of these commands: the words of each. None is empty. */
const wordsOf = (commands: string[]) =>
  execFileSync("sh", ["-c", `trustflow() { printf '%s\\0' "$@" ''; }\n${commands.join("\n")}`])
    .toString()
    .split("\0\0")
    .slice(0, -1)
    .map((words) => words.split("\0"));

const commandsIn = (status: ProcessStatus) => {
  const { children = [] } = parsed(renderDetails(status).source);
  return children.flatMap(({ type, value = "" }) => (type === "code" ? [value] : []));
};

test("each command names the process and the attention as one word each, whatever they hold", () => {
  const samples = fc.sample(texts, 50);
  const code = { triesLeft: 3, resendsLeft: 1 };
  const commands = samples.flatMap((given) => [
    ...commandsIn(statusWith(given, true)),
    ...commandsIn({ ...statusWith(given, false), code }),
  ]);
  const expected = samples.flatMap(({ id, attention }) => {
    const about = `sendPostal/${plainText(id)}`;
    const by = ["--attention", plainText(attention), "--by", "NAME"];
    // Whoever retries has looked into the portal: what says so is not there to be copied.
    return [
      ["resolve", about, "--decision", "retry", ...by],
      ["resolve", about, "--decision", "abandon", ...by],
      ["otp", about],
    ];
  });
  expect(wordsOf(commands)).toEqual(expected);
});

test("an unknown outcome says in which portal to look, for what and for which times", () => {
  const { attention, ...status } = statusWith(harmless, true);
  const shown = (lookFor: Record<string, string>) =>
    textsOf(parsed(renderDetails({ ...status, attention: { ...attention!, lookFor } }).source));
  const { environment, account } = status;
  const portal = `Look in the provider's portal (${environment}, account ${account}) for`;
  expect(shown({ lookupKey: "order-7" })).toContain(`${portal} lookupKey order-7`);
  expect(shown({})).toContain(`${portal} a call at the times below`);
  expect(shown({}).join("\n")).toMatch(/The provider was called between .* and /);
  expect(shown({}).join("\n")).toContain("causes a second effect if the first attempt arrived");
});

test("a wait shows when the process asks by itself, unless it asks just now", () => {
  const { source } = renderDetails(statusWith(harmless, false), [], [], at);
  expect(source).toContain(`- Asks by itself at: ${at}`);
  const asking = renderDetails(statusWith(harmless, false), [], ["Query EviPost"], at);
  expect(asking.source).not.toContain("Asks by itself");
});

test("an option of the command line is code, so that it can be copied with both of its dashes", () => {
  const tree = parsed(renderDetails(statusWith(harmless, true)).source);
  const withDashes = nodesOf(tree).flatMap(({ type, value = "" }) =>
    / --[a-z]|^--/.test(value) ? [type] : [],
  );
  expect(withDashes).toContain("inlineCode");
  expect(withDashes).not.toContain("text");
});
