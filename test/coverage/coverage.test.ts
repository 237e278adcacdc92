// Every item of the specification is covered: by a client function, a sandbox rule and tests that are there; and the code has
// nothing that no item speaks of.
import { describe, expect, test } from "vitest";
import { noticeFilter } from "../../src/activities/evi-notice/submit.js";
import { postalFilter } from "../../src/activities/evi-post/submit.js";
import {
  noticeAffidavitKinds,
  noticeOutcomes,
  noticeStates,
} from "../../src/contracts/send-notice/states.js";
import { batchStates } from "../../src/contracts/send-notice-batch/states.js";
import { postalOutcomes, postalStates } from "../../src/contracts/send-postal/states.js";
import { entryOf, providerNames } from "../../src/providers/registry.js";
import type { Provider } from "../../src/providers/registry.js";
import { startSandbox } from "../../packages/sandbox/src/sandbox.js";
import { root, textOf } from "../docs/repository.js";
import { Repository, assumptionsIn, problemsOf, rowOf } from "./cover.js";
import { isNone, readItems } from "./items.js";
import type { Item, Passed } from "./items.js";
import { coveragePage } from "./page.js";
import { problemOfWay } from "./reach.js";
import { notPassed } from "./results.js";
import { ofFile } from "../harness/of-file.js";

const items = readItems(root);
const repository = new Repository(root);
const rows = assumptionsIn(textOf("docs/assumptions.md"));

const lacking = (all: readonly Item[]) =>
  all.flatMap((item) => problemsOf(item, repository).map((problem) => `${item.id}: ${problem}`));

const sandbox = ofFile(startSandbox);

test("every item has its client function, its sandbox rule and its tests", () => {
  expect(lacking(items)).toEqual([]);
});

test("a user can reach every item, by a way that the code has", () => {
  const ways = new Set(items.flatMap(({ reach }) => reach));
  expect([...ways].flatMap((way) => problemOfWay(way) ?? [])).toEqual([]);
  const unsaid = items.filter(({ client, reach }) => isNone(client) && !reach.every(isNone));
  expect(unsaid.map(({ id }) => id)).toEqual([]);
});

test("the clients have the functions that are named, and the sandbox the operations", () => {
  const functions = new Set(items.map(({ client }) => client).filter(isNamed));
  expect([...functions].filter((name) => !isOfClient(name))).toEqual([]);
  const operations = new Set(items.map((item) => item.sandbox).filter(isNamed));
  expect([...operations].filter((name) => !isOfSandbox(name))).toEqual([]);
});

test("each id stands once, in the section that it begins with, which docs/specification.md explains", () => {
  const ids = items.map(({ id }) => id);
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  const prefix = (section: string) => `${section.replace(" §", "-")}.`;
  expect(items.filter(({ id, section }) => !id.startsWith(prefix(section)))).toEqual([]);
  const explained = [...textOf("docs/specification.md").matchAll(/^\| (P[12] §[\d.]+) +\|/gm)].map(
    ([, section = ""]) => section,
  );
  const used = new Set(items.map(({ section }) => section));
  expect([...used].filter((section) => !explained.includes(section))).toEqual([]);
  const isParent = (one: string) => explained.some((section) => section.startsWith(`${one}.`));
  expect(explained.filter((section) => !used.has(section) && !isParent(section))).toEqual([]);
});

test("what is not shown has its row in docs/assumptions.md, and every row an item", () => {
  const named = items.flatMap(({ id, assumptions = [] }) =>
    assumptions.filter((name) => !isNone(name)).map((name) => ({ id, name })),
  );
  expect(named.filter(({ name }) => !rowOf(rows, name))).toEqual([]);
  const found = new Set(named.map(({ name }) => rowOf(rows, name)?.name));
  expect(rows.map(({ name }) => name).filter((name) => !found.has(name))).toEqual([]);
});

describe("the code has no word that no item speaks of", () => {
  const saying = (section: string, kind: Item["kind"]) =>
    items
      .filter((item) => item.section === section && item.kind === kind)
      .flatMap(({ says }) => /`(\w+)`/.exec(says)?.[1] ?? []);
  const capital = (words: readonly string[]) =>
    words.map((word) => `${word[0]?.toUpperCase()}${word.slice(1)}`);

  test.each<[string, readonly string[], string[]]>([
    ["states of post", postalStates, saying("P2 §3.1", "state")],
    ["outcomes of post", capital(postalOutcomes), saying("P2 §3.1", "outcome")],
    ["states of notices", noticeStates, saying("P2 §3.2", "state")],
    ["outcomes of notices", capital(noticeOutcomes), saying("P2 §3.2", "outcome")],
    ["states of batches", batchStates, saying("P2 §3.3", "state")],
    ["affidavit kinds", noticeAffidavitKinds, saying("P2 §2.6", "value")],
    ["filter values of post", postalFilter, saying("P2 §6.2", "callback")],
    ["filter values of notices", noticeFilter, saying("P2 §6.2", "callback")],
  ])("%s", (_, words, said) => {
    expect(words.length).toBeGreaterThan(6);
    expect(words.filter((word) => !said.includes(word))).toEqual([]);
  });

  test("operations of the providers", () => {
    const endpoints = new Set(
      items.filter(({ kind }) => kind === "endpoint").map(({ client }) => client),
    );
    const known = providerNames.flatMap((provider) =>
      Object.keys(entryOf(provider).effects).map((operation) => `${provider}/${operation}`),
    );
    expect(known.filter((name) => !endpoints.has(name))).toEqual([]);
  });

  test("codes of the certificate service", () => {
    const codes = [
      ...textOf("src/providers/disposable-certificate/translate.ts").matchAll(
        /\b(\d{2,5}): (?:input|denied|ours)\b/g,
      ),
    ].map(([, code = ""]) => code);
    const listed = items.filter(({ section }) => section === "P1 §7.1").map(({ says }) => says);
    expect(codes.length).toBeGreaterThan(8);
    expect(codes.filter((code) => !listed.some((says) => says.startsWith(code)))).toEqual([]);
  });
});

test("the page of `npm run coverage:spec` has a row for each item, and names no assumption that is gone", () => {
  const page = coveragePage(items, {
    assumptions: textOf("docs/assumptions.md"),
    specification: textOf("docs/specification.md"),
  });
  const tables = page.slice(page.indexOf("\n## P1 §"));
  const rows = tables.split("\n").filter((line) => /^\| (?!item |---)/.test(line));
  expect(rows).toHaveLength(items.length);
  expect(page).not.toContain("undefined →");
});

describe("an item that loses its cover is named", () => {
  const id = "P2-2.1.Document";
  const item = items.find((one) => one.id === id)!;
  const file = "test/providers/evi-post/client.test.ts";
  const refusedOnly = ["evi-post/p2-7.1-submit-400-document-not-base64.json"];
  // It has the word in the callback, and not in the event that the test compares.
  const callback = ["evi-post/p2-2.12-callback-closed-delivered.json"];

  test.each<[string, Partial<Item>, string[]]>([
    ["a fixture", { tests: ["evi-post/x.json"] }, ["the fixture evi-post/x.json is missing"]],
    ["a test", { tests: [`${file} › another title`] }, [`${file} has no test "another title"`]],
    [
      "a group of tests",
      { tests: [`${file} › downloadAffidavits`] },
      [`${file} has no test "downloadAffidavits"`],
    ],
    ["a caller", { client: "evi-post/misplaced" }, ["nothing of ours calls evi-post/misplaced"]],
    ["a way", { reach: [] }, ["nothing says how a user reaches it"]],
    ["a test of its side", { tests: refusedOnly }, ["no test of its client"]],
    [
      "all tests",
      { tests: [] },
      ["no test of its client", "no test of its sandbox", "no test says Document"],
    ],
    ["its word", { says: "`Documnet`: required" }, ["no test says Documnet"]],
    [
      "its word in what is compared",
      { says: "`EvidenceType`: one of five", tests: callback },
      ["no test says EvidenceType"],
    ],
    [
      "its rule in the sandbox",
      { sandbox: "packages/sandbox/src/sandbox.ts#nothing" },
      ["packages/sandbox/src/sandbox.ts declares no nothing"],
    ],
    [
      "the method of an endpoint",
      { kind: "endpoint", says: "GET `/v1/EviPost/Submit`" },
      ["no fixture sends GET v1/EviPost/Submit"],
    ],
    ["a status", { kind: "status", says: "201: created" }, ["no fixture shows 201"]],
  ])("%s", (_, change, problems) => {
    expect(lacking([{ ...item, ...change }])).toEqual(problems.map((one) => `${id}: ${one}`));
  });

  test.each([
    ["sendPigeon", "a process"],
    ["sendPostal: recipientAdress.locality", "a member of its input"],
    ["sendNoticeBatch: recipients[;legal]", "a column of its list"],
    ["sendPostal.requestAffidavit: includeBody", "a member of an update"],
    ["sendNotice.cancel", "an update"],
    ["trustflow provider parcels", "a command"],
    ["trustflow provider letters --state", "an option"],
    ["accounts.evi-post.siteHasRegions", "a key"],
  ])("with a way that the code has not: %s, %s", (way) => {
    expect(problemOfWay(way)).toBe(`no user can reach it: the code has no ${way}`);
  });

  test("with a name that client and sandbox do not know", () => {
    const clients = ["evi-post/submit", "evi-post/send", "evi-past/submit"].filter(isOfClient);
    expect(clients).toEqual(["evi-post/submit"]);
    const known = ["evi-post.submit", "evi-post.callback"];
    expect([...known, "evi-post.send"].filter(isOfSandbox)).toEqual(known);
  });

  test("with a test that did not pass", () => {
    const client = { file: "test/providers/evi-post/conformance.test.ts", title: "a (…, x.json)" };
    const sandboxs = {
      file: "packages/sandbox/test/providers/evi-post/a.test.ts",
      title: "x.json",
    };
    const left = (test: string, passed: Passed, side?: string) =>
      notPassed([{ ...item, tests: [test] }], passed, () => side);
    expect(left("evi-post/x.json", [client, sandboxs])).toEqual([]);
    expect(left("evi-post/x.json", [client], "client")).toEqual([]);
    expect(left("evi-post/x.json", [client])).toEqual(["evi-post/x.json"]);
    const each = `${client.file} › %s is (%#)`;
    expect(left(each, [{ ...client, title: "a letter is (7)" }])).toEqual([]);
    expect(left(each, [client])).toEqual([each]);
  });
});

const isNamed = (cover: string) => !isNone(cover) && !cover.includes("#");

/** An exported function of the provider's client, with an effect class. */
function isOfClient(name: string): boolean {
  const [provider = "", operation = ""] = name.split("/");
  if (!providerNames.includes(provider as Provider)) return false;
  const isKnown = Object.hasOwn(entryOf(provider as Provider).effects, operation);
  const sources = repository.files(`src/providers/${provider}`);
  return isKnown && sources.some((path) => repository.declares(path, operation));
}

function isOfSandbox(operation: string): boolean {
  try {
    const kind = operation.endsWith(".callback") ? "lost" : "reject";
    sandbox.faults.add({ operation, kind });
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
