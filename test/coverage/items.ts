// The items of the specification, as specification.jsonl lists them by hand: each sentence that binds, in the order of the two
// documents, with the client function, the sandbox rule and the tests that cover it.
import { readFileSync } from "node:fs";

export const kinds = [
  "endpoint",
  "field",
  "value",
  "rule",
  "status",
  "code",
  "state",
  "outcome",
  "transition",
  "callback",
  "credential",
  "limit",
  "version",
  "notShown",
] as const;

export interface Item {
  id: string;
  /** As docs/specification.md explains it. */
  section: string;
  kind: (typeof kinds)[number];
  /** What the specification says, in our words. */
  says: string;
  /** `<provider>/<function>` of a client, `src/<file>#<export>`, or `none: <reason>`. */
  client: string;
  /** `<provider>.<operation>` of the sandbox, `packages/sandbox/src/<file>#<export>`, or `none: <reason>`. */
  sandbox: string;
  /** How a user reaches it, as reach.ts reads it; of several ways any one. `none: <reason>` where it is no user's choice. */
  reach: string[];
  /** A fixture as `<provider>/<file>` below test/fixtures, or `test/<file> › <title>`; none where both sides are `none`. */
  tests: string[];
  /** Rows of docs/assumptions.md as `<first section>: <first words of what is not shown>`, or `none: <reason>`. */
  assumptions?: string[];
}

/** Of each test that ran and passed its file below the repository and its title. */
export type Passed = readonly { file: string; title: string }[];

export function readItems(root: string): Item[] {
  return readFileSync(`${root}/test/coverage/specification.jsonl`, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Item);
}

export const isNone = (cover: string) => cover.startsWith("none: ");

/** A test as its file and its title; undefined: it is a fixture. */
export function titled(test: string): { file: string; title: string } | undefined {
  const [file = "", ...title] = test.split(" › ");
  return title.length === 0 ? undefined : { file, title: title.join(" › ") };
}

export interface Sides {
  client: boolean;
  sandbox: boolean;
}

/** Which side a test is about; those from end to end are about both. */
export function sidesOf(test: string, fixtureSide?: string): Sides {
  const file = titled(test)?.file;
  if (file === undefined)
    return { client: fixtureSide !== "sandbox", sandbox: fixtureSide !== "client" };
  const isBoth = /^test\/(e2e|long)\//.test(file);
  const isSandbox = file.startsWith("packages/sandbox/test/");
  return { client: isBoth || !isSandbox, sandbox: isBoth || isSandbox };
}
