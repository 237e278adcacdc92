// The rows of docs/operations/configuration.md, each for the keys that it stands for.
import { namedRows, textOf } from "./repository.js";

export interface ConfigurationRow {
  /** As the page names it, perhaps with a name that stands for several, such as `<process>`. */
  row: string;
  key: string;
  environment: string;
  default: string;
}

export const configurationRows: ConfigurationRow[] = namedRows(
  textOf("docs/operations/configuration.md"),
).map(([key = "", environment = "", value = ""]) => ({
  row: key,
  key,
  environment,
  default: value,
}));

const upperSnake = (name: string) =>
  name.replaceAll(/[A-Z]/g, "_$&").replaceAll("-", "_").toUpperCase();

/** What a row says of this key: the row of its own, else the one with a name that stands for it. */
export function documentedAs(key: string): ConfigurationRow | undefined {
  const own = configurationRows.find((row) => row.key === key);
  return own ?? configurationRows.flatMap((row) => filledIn(row, key) ?? [])[0];
}

function filledIn(row: ConfigurationRow, key: string): ConfigurationRow | undefined {
  const shape = row.key
    .replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll(/<(process|role|provider|kind|word)>/g, String.raw`(?<$1>[\w-]+)`);
  const { groups } = new RegExp(`^${shape}$`).exec(key) ?? {};
  if (!groups) return undefined;
  const environment = row.environment.replaceAll(
    /<(PROCESS|ROLE|PROVIDER|KIND|WORD)>/g,
    (_, name: string) => upperSnake(groups[name.toLowerCase()] ?? ""),
  );
  return { ...row, key, environment, default: row.default.replace("<word>", groups["word"] ?? "") };
}
