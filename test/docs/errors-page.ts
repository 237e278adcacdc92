// docs/reference/client-errors.md, as the classes in src/errors say. `npm run reference` writes it.
import { textOf } from "./repository.js";

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

export function errorsPage(): string {
  const classes = exported().map(described);
  const parts = Object.entries(sections).map(([group, title]) =>
    [
      `## ${title}`,
      ...classes.filter((one) => one.group === group).map((one) => sectionOf(one, classes)),
    ].join("\n\n"),
  );
  return `${[head.trimEnd(), ...parts].join("\n\n")}\n`;
}

type Described = ReturnType<typeof described>;

/** The files of the classes, in the order in which the client exports them. */
function exported(): string[] {
  const index = textOf(`${folder}/index.ts`);
  return Array.from(index.matchAll(/"\.\/(\w+\/[\w-]+)\.js"/g), ([, path = ""]) => path);
}

function described(path: string) {
  const text = textOf(`${folder}/${path}.ts`);
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

function sectionOf(
  { name, base, code, details, isRetryable, text }: Described,
  all: Described[],
): string {
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

function withoutComments(members: string): string {
  return members
    .replaceAll(/\/\*\*.*\*\//g, "")
    .replaceAll(/\s+/g, " ")
    .trim()
    .replace(/;$/, "");
}

function withoutStars(comment: string): string {
  return comment.replaceAll(/\n \* ?/g, "\n").trim();
}
