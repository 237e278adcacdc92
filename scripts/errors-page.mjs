#!/usr/bin/env node
// `npm run errors-page`: writes docs/client-errors.md from the classes in src/errors.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root, say } from "./steps.mjs";

export const page = "docs/client-errors.md";
const folder = "src/errors";

/** The sections, by the folders of the classes. */
const sections = {
  connection: "Connecting, and every call to Temporal",
  process: "Processes",
  document: "Documents",
};

const head = `# Errors of the client

This page is made from the classes in \`${folder}\`. What the answers of the providers mean stands in docs/errors.md of the repository.

Every call of \`trustflow-client\` that fails throws one of these classes; all of them extend \`TrustflowError\`. The only other errors are
the reason of an \`AbortSignal\` that you aborted, and defects. Each has

- \`code\`: names the case, and stays the same in every release;
- \`retryable\`: whether the same call with the same ids can succeed later;
- \`details\`: plain JSON for a log or an alert, without a secret and without personal data. The message may have personal data where the
  class says so;
- \`docs\`: the section of the class on this page.
`;

/** @returns {string} the page, from the sources */
export function errorsPage() {
  const classes = exported().map(described);
  const parts = Object.entries(sections).map(([group, title]) =>
    [
      `## ${title}`,
      ...classes.filter((one) => one.group === group).map((one) => sectionOf(one, classes)),
    ].join("\n\n"),
  );
  return `${[head.trimEnd(), ...parts].join("\n\n")}\n`;
}

/** @typedef {ReturnType<typeof described>} Described */

/** The files of the classes, in the order in which the client exports them. */
function exported() {
  const index = readFileSync(join(root, folder, "index.ts"), "utf8");
  return Array.from(index.matchAll(/"\.\/(\w+\/[\w-]+)\.js"/g), ([, path = ""]) => path);
}

/** @param {string} path */
function described(path) {
  const text = readFileSync(join(root, folder, `${path}.ts`), "utf8");
  const [, comment = "", name = "", base = ""] =
    /\/\*\*((?:(?!\*\/)[^])*)\*\/\nexport class (\w+) extends (\w+)/.exec(text) ?? [];
  const [, code = ""] = /readonly code[^=;]*= "(\w+)"/.exec(text) ?? [];
  const [, details = ""] = /readonly details: ([^;]*(?:\{[^}]*\})?[^;]*);\n/.exec(text) ?? [];
  const [, named = ""] = /interface Details \{([^}]*)\}/.exec(text) ?? [];
  const shape = details === "Details" ? `{ ${withoutComments(named)} }` : details;
  return {
    group: path.split("/")[0],
    name,
    base,
    code,
    details: shape.replaceAll(/\s+/g, " "),
    isRetryable: /readonly retryable = true/.test(text),
    text: withoutStars(comment),
  };
}

/**
 * @param {Described} of
 * @param {Described[]} all
 */
function sectionOf({ name, base, code, details, isRetryable, text }, all) {
  const parent = all.find((one) => one.name === base);
  const retryable = isRetryable || (parent?.isRetryable ?? false);
  const shape = details || parent?.details;
  const facts = [
    `code \`${code}\``,
    retryable ? "retryable" : "not retryable",
    shape ? `details \`${shape}\`` : "no details",
    ...(parent ? [`extends \`${base}\``] : []),
  ];
  return `### ${name}\n\n${text}\n\n${facts.join("; ")}.`;
}

/** @param {string} members */
function withoutComments(members) {
  return members
    .replaceAll(/\/\*\*.*\*\//g, "")
    .replaceAll(/\s+/g, " ")
    .trim()
    .replace(/;$/, "");
}

/** @param {string} comment */
function withoutStars(comment) {
  return comment.replaceAll(/\n \* ?/g, "\n").trim();
}

if (process.argv[1] === import.meta.filename) {
  writeFileSync(join(root, page), errorsPage());
  say(`${page} written`);
}
