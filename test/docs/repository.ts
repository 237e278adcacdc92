// The repository as the tests of its documents read it: its tracked files, its pages, and what a page names.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** Tracked or about to be, and still there. */
export const files = execFileSync(
  "git",
  ["ls-files", "--cached", "--others", "--exclude-standard", "-z"],
  { cwd: root, encoding: "utf8", maxBuffer: 1 << 26 },
)
  .split("\0")
  .filter((path) => path !== "" && existsSync(`${root}/${path}`));

const folders = new Set(
  files.flatMap((path) => {
    const parts = path.split("/").slice(0, -1);
    return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
  }),
);

export const pages = files.filter((path) =>
  /^(README|CONTRIBUTING|CHANGELOG|SECURITY)\.md$|^(docs|examples)\/.*\.md$/.test(path),
);

export function textOf(path: string): string {
  return readFileSync(`${root}/${path}`, "utf8");
}

/** A file or folder of the repository; `<name>` stands for one that is there. */
export function isThere(path: string): boolean {
  const plain = posix.normalize(path).replace(/\/$/, "");
  if (plain === "." || files.includes(plain) || folders.has(plain)) return true;
  if (!plain.includes("<")) return false;
  const shape = plain
    .split(/<[^>]+>/)
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
    .join("[^/]+");
  return [...files, ...folders].some((known) => new RegExp(`^${shape}$`).test(known));
}

export interface CodeBlock {
  language: string;
  lines: string[];
}

const fence = /^```(\w*)\n([\s\S]*?)^```$/gm;

export function codeBlocks(text: string): CodeBlock[] {
  return [...text.matchAll(fence)].map(([, language = "", body = ""]) => ({
    language,
    lines: body
      .replaceAll(/\\\n\s*/g, "")
      .split("\n")
      .filter(Boolean),
  }));
}

/** What stands in backticks, outside code blocks. */
export function quoted(text: string): string[] {
  return [...text.replaceAll(fence, "").matchAll(/`([^`]+)`/g)].map(([, code = ""]) =>
    code.replaceAll(/\s+/g, " "),
  );
}

export interface Link {
  path: string;
  anchor?: string;
}

/** Links within the repository, from its root. */
export function links(page: string): Link[] {
  return [...textOf(page).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = ""]) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [path = "", anchor] = target.split("#");
      const from = path === "" ? page : posix.join(posix.dirname(page), path);
      return { path: from, ...(anchor !== undefined && { anchor }) };
    });
}

/** The anchors of a page's headings, as code hosts make them. */
export function anchors(page: string): string[] {
  return [...textOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

/** The cells of every table row whose first cell is a name in backticks. */
export function namedRows(text: string): string[][] {
  return text
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim().replace(/^`([^`]*)`$/, "$1")),
    );
}
