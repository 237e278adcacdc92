// What an item of the specification must have to count as covered, read from the files alone; coverage.test.ts adds what the
// registries know.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { isNone, kinds, sidesOf, titled } from "./items.js";
import type { Item } from "./items.js";

interface Fixture {
  side?: string;
  given?: { assertion?: { without?: string } };
  request?: { method: string; path: string };
  response?: { status: number; body?: { code?: number } };
  /** Of a callback. */
  body?: unknown;
  event?: unknown;
  result?: unknown;
  error?: unknown;
  correlation?: unknown;
  secret?: unknown;
}

export interface Assumption {
  /** `P2 §2.5: the unit of …`: the first section of the row, and what is not shown. */
  name: string;
  assumed: string;
}

const ROW = /^\| ((?:P[12] §)[^|]*) \|((?:[^|\\]|\\.)*)\|((?:[^|\\]|\\.)*)\|/gm;

/** The rows of docs/assumptions.md that a section of the specification leaves open. */
export function assumptionsIn(page: string): Assumption[] {
  return [...page.matchAll(ROW)].map(([, sections = "", open = "", assumed = ""]) => ({
    name: `${/^P[12] §[\d.]+/.exec(sections)?.[0]}: ${open.trim()}`,
    assumed: assumed.trim(),
  }));
}

/** The row that an item names by its beginning. */
export function rowOf(rows: readonly Assumption[], named: string): Assumption | undefined {
  const found = rows.filter(({ name }) => name.startsWith(named));
  return found.length === 1 ? found[0] : undefined;
}

export class Repository {
  readonly #root: string;
  readonly #texts = new Map<string, string | undefined>();
  readonly #files = new Map<string, string[]>();

  constructor(root: string) {
    this.#root = root;
  }

  text(path: string): string | undefined {
    if (!this.#texts.has(path)) {
      const full = `${this.#root}/${path}`;
      this.#texts.set(path, existsSync(full) ? readFileSync(full, "utf8") : undefined);
    }
    return this.#texts.get(path);
  }

  /** The files of a folder, from the root. */
  files(folder: string): string[] {
    if (!this.#files.has(folder)) {
      const full = `${this.#root}/${folder}`;
      const names = existsSync(full) ? readdirSync(full) : [];
      this.#files.set(
        folder,
        names.map((name) => `${folder}/${name}`),
      );
    }
    return this.#files.get(folder) ?? [];
  }

  /** Whether an activity, a command or the doctor's check calls the function of the provider's client. */
  isCalled(provider: string, name: string): boolean {
    const own = `src/providers/${provider}/index.ts`;
    return [...this.#all("src/activities"), ...this.#all("src/cli"), own].some((path) => {
      const text = this.text(path) ?? "";
      const module = path === own ? "./client.js" : `providers/${provider}/client.js`;
      const named = new RegExp(
        `\\.${name}\\b|\\{[^{}]*\\b${name}\\b[^{}]*\\} (= await import\\(|from )"`,
      );
      return text.includes(module) && named.test(text);
    });
  }

  /** The files of a folder and of those in it. */
  #all(folder: string): string[] {
    const full = `${this.#root}/${folder}`;
    if (!existsSync(full)) return [];
    return readdirSync(full, { recursive: true, encoding: "utf8" })
      .map((name) => `${folder}/${name}`)
      .filter((path) => path.endsWith(".ts"));
  }

  declares(path: string, name: string): boolean {
    const declared = new RegExp(
      `^(export )?(async function\\*?|function\\*?|const|class) ${name}\\b`,
      "m",
    );
    return declared.test(this.text(path) ?? "");
  }

  fixture(test: string): Fixture | undefined {
    const text = this.text(`test/fixtures/${test}`);
    return text === undefined ? undefined : (JSON.parse(text) as Fixture);
  }
}

/** What one item lacks. */
export function problemsOf(item: Item, repository: Repository): string[] {
  const { client, sandbox, tests } = item;
  if (!kinds.includes(item.kind)) return [`its kind ${item.kind} is unknown`];
  const isEmpty = isNone(client) && isNone(sandbox);
  const unfounded = tests.flatMap((test) => problemOfTest(test, repository) ?? []);
  if (unfounded.length > 0) return unfounded;
  return [
    ...[client, sandbox].flatMap((cover) => problemOfExport(cover, repository) ?? []),
    ...(isEmpty && tests.length > 0 ? ["it has tests, and neither client nor sandbox"] : []),
    ...(isNone(client) || shows("client") ? [] : ["no test of its client"]),
    ...(isNone(sandbox) || shows("sandbox") ? [] : ["no test of its sandbox"]),
    ...(isEmpty ? [] : (problemOfWord(item, repository) ?? [])),
    ...(item.kind === "notShown" && !item.assumptions ? ["nothing says what is assumed"] : []),
    ...(item.reach.length === 0 ? ["nothing says how a user reaches it"] : []),
    ...problemOfCaller(client, repository),
  ];

  function shows(side: "client" | "sandbox"): boolean {
    return tests.some((test) => sidesOf(test, repository.fixture(test)?.side)[side]);
  }
}

function problemOfTest(test: string, repository: Repository): string | undefined {
  const named = titled(test);
  if (!named) {
    const isRun = ["test/providers", "packages/sandbox/test/providers"].every((tests) =>
      repository
        .files(`${tests}/${test.split("/")[0]}`)
        .filter((file) => /\/(conformance|messaging-gateway)\.test\.ts$/.test(file))
        .some((file) => /\b(fixturesOf|testExchanges)\(/.test(repository.text(file) ?? "")),
    );
    if (!repository.fixture(test)) return `the fixture ${test} is missing`;
    return isRun ? undefined : `no test of both sides runs ${test}`;
  }
  // A group of tests is none.
  const text = repository.text(named.file)?.replaceAll(/\bdescribe\(\s*("[^"]*"|`[^`]*`)/g, "");
  const isThere = ['"', "`"].some((quote) => text?.includes(`${quote}${named.title}${quote}`));
  return isThere ? undefined : `${named.file} has no test "${named.title}"`;
}

function problemOfExport(cover: string, repository: Repository): string | undefined {
  const [path = "", name] = cover.split("#");
  if (name === undefined) return undefined;
  return repository.declares(path, name) ? undefined : `${path} declares no ${name}`;
}

/** No user reaches a function of a client that nothing of ours calls. */
function problemOfCaller(client: string, repository: Repository): string[] {
  if (isNone(client) || client.includes("#")) return [];
  const [provider = "", name = ""] = client.split("/");
  return repository.isCalled(provider, name) ? [] : [`nothing of ours calls ${client}`];
}

/** An endpoint, a status, a code and a word of the provider stand in one of the tests that are named. */
function problemOfWord({ kind, says, tests }: Item, repository: Repository): string[] | undefined {
  const files = tests.flatMap((test) => titled(test)?.file ?? []);
  const fixtures = tests.flatMap((test) => repository.fixture(test) ?? []);
  const [, method, path] = /^([A-Z]+) `\/?([^`]+)`/.exec(says) ?? [];
  if (kind === "endpoint" && path !== undefined) {
    const pattern = new RegExp(`^/${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
    const isSent = fixtures.some(
      ({ request }) => request?.method === method && pattern.test(request?.path ?? ""),
    );
    return isSent ? undefined : [`no fixture sends ${method} ${path}`];
  }
  const number = /^\d+/.exec(says)?.[0];
  if (number !== undefined && fixtures.length > 0) {
    const shown = fixtures.flatMap(({ response }) => [response?.status, response?.body?.code]);
    return shown.includes(Number(number)) ? undefined : [`no fixture shows ${number}`];
  }
  const word = /`([\w:*-]+)`/.exec(says)?.[1];
  if (word === undefined || !withWord.has(kind)) return undefined;
  const named = new RegExp(`(?<![\\w-])${word.replaceAll("*", "\\*")}(?![\\w])`, "i");
  const isSaid =
    files.some((file) => named.test(repository.text(file) ?? "")) ||
    fixtures.some((fixture) => isCompared(fixture, word, named));
  return isSaid ? undefined : [`no test says ${word}`];
}

/**
 * A word that stands elsewhere in a fixture may be dropped by our code, and no test sees it. So it must stand in what the test compares,
 * by its name or by the value that the provider gives it.
 */
function isCompared(fixture: Fixture, word: string, named: RegExp): boolean {
  const { given, request, response, body, event, result, error, correlation, secret } = fixture;
  const ours = [event, result, error, correlation, secret].filter((part) => part !== undefined);
  // Where nothing of ours is named, the answer itself is compared. An assertion is refused for what it is without.
  const parts = ours.length > 0 ? ours : [response, given?.assertion?.without];
  const compared = JSON.stringify([request, ...parts]);
  return named.test(compared) || [...valuesOf([body, response?.body], word)].some(isIn(compared));
}

const isIn = (text: string) => (value: unknown) =>
  typeof value === "string" && text.includes(JSON.stringify(value));

/** What stands under a member of this name, and whatever that holds. */
function* valuesOf(value: unknown, name: string, isBelow = false): Iterable<unknown> {
  if (isBelow) yield value;
  if (typeof value !== "object" || value === null) return;
  for (const [member, held] of Object.entries(value))
    yield* valuesOf(held, name, isBelow || member === name);
}

const withWord: ReadonlySet<Item["kind"]> = new Set([
  "field",
  "value",
  "state",
  "outcome",
  "callback",
]);
