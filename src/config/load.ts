// No other file reads the environment and trustflow.toml. Fails at start, naming the key (docs/design.md §13).
import { existsSync, readFileSync } from "node:fs";
import { parse as parseToml } from "smol-toml";
import { z } from "zod";
import { suggestionFor } from "../contracts/shared/nearest.js";
import { missing, sentenceOf } from "../contracts/shared/problems.js";
import { credentialsInClear } from "./clear-text.js";
import type { Addresses } from "./clear-text.js";
import { layOver } from "./client-configuration.js";
import type { ClientConfiguration } from "./client-configuration.js";
import { ConfigurationError, environmentName, isRequired } from "./errors.js";
import { FromEnvironment, nameSecrets, unreadable } from "./fields.js";

/** Variables of the same prefix that are no configuration keys. */
const notKeys = new Set(["TRUSTFLOW_CONFIG", "TRUSTFLOW_CACHE"]);

/** Reads `TRUSTFLOW_CONFIG`, else ./trustflow.toml if it is there, and lays the environment over it, and `given` over both. */
export function load<S extends z.ZodType<Addresses>>(
  schema: S,
  env = process.env,
  given: ClientConfiguration = {},
): z.infer<S> {
  const path = configurationFile(env);
  const tree = path === undefined ? {} : readToml(path);
  const { DATABASE_URL = "" } = env;
  if (DATABASE_URL !== "") place(tree, ["database", "url"], new FromEnvironment(DATABASE_URL));
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || value === "") continue;
    refuseBoth(name, env);
    if (!name.startsWith("TRUSTFLOW_") || notKeys.has(name)) continue;
    const [path, given] = [keyOf(name), new FromEnvironment(value)];
    // A secret's file takes the place of all that the configuration file says of the secret.
    if (name.endsWith("__FILE")) place(tree, path.slice(0, -1), { file: given });
    else place(tree, path, given);
  }
  layOver(tree, given);
  const parsed = schema.safeParse(tree, { error: sentenceOf });
  if (parsed.success) {
    const inClear = credentialsInClear(parsed.data);
    if (inClear.length > 0) throw new ConfigurationError(inClear);
    nameSecrets(parsed.data, env);
    return parsed.data;
  }
  const problems = parsed.error.issues.flatMap(({ path, message, ...issue }) => {
    const key = path.join(".") || "(top)";
    if (issue.code === "unrecognized_keys") {
      const variable = environmentName(key);
      if (env[variable]) return `${key}: is a section, not a key (${variable})`;
      const unknown = issue.keys.map((name) =>
        unknownKey(schema, [...path.map(String), name], env),
      );
      return `${key}: unknown key: ${unknown.join("; ")}`;
    }
    return message === missing ? isRequired(key).problems : `${key}: ${message}`;
  });
  throw new ConfigurationError(problems);
}

export const configurationFile = (env = process.env): string | undefined =>
  env["TRUSTFLOW_CONFIG"] || (existsSync("trustflow.toml") ? "trustflow.toml" : undefined);

/** With the variables that it comes from, if any, and the keys that it may have been meant to be. */
function unknownKey(schema: z.ZodType, path: string[], env: NodeJS.ProcessEnv): string {
  const name = path.at(-1) ?? "";
  const variable = environmentName(path.join("."));
  const from = Object.keys(env).filter(
    (one) => one === variable || one.startsWith(`${variable}__`),
  );
  const where = from.length > 0 ? ` (${from.join(", ")})` : "";
  return `${name}${where}; ${suggestionFor(name, keysAt(schema, path.slice(0, -1)))}`;
}

interface Shape {
  properties?: Record<string, Shape>;
  additionalProperties?: Shape;
}

function keysAt(schema: z.ZodType, path: string[]): string[] {
  let shape = z.toJSONSchema(schema, { unrepresentable: "any", reused: "inline" }) as Shape;
  for (const key of path) shape = shape.properties?.[key] ?? shape.additionalProperties ?? {};
  return Object.keys(shape.properties ?? {});
}

/** Without the environment. */
export function readToml(path: string): Record<string, unknown> {
  try {
    return parseToml(readFileSync(path, "utf8"));
  } catch (error) {
    const { code, line } = error as { code?: unknown; line?: number };
    if (code !== undefined) throw new ConfigurationError([`${path} ${unreadable(error)}`]);
    throw new ConfigurationError([`${path} is not TOML${line ? ` (line ${line})` : ""}`]);
  }
}

/** `TRUSTFLOW_ACCOUNTS__DEFAULT__EVI_POST__BASE_URL` is `accounts.default.evi-post.baseUrl`. */
function keyOf(name: string): string[] {
  const segments = name
    .slice("TRUSTFLOW_".length)
    .split("__")
    .map((part) => part.toLowerCase());
  const kebab = { accounts: 3, operators: 2, webhooks: 2 }[segments[0] ?? ""] ?? 0;
  return segments.map((part, index) =>
    index < kebab
      ? part.replaceAll("_", "-")
      : part.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()),
  );
}

/** A secret by itself and by its file: nobody could say which one counts. */
function refuseBoth(name: string, env: NodeJS.ProcessEnv): void {
  if (!name.startsWith("TRUSTFLOW_") || !name.endsWith("__FILE")) return;
  const alone = name.slice(0, -"__FILE".length);
  if (env[alone]) throw new ConfigurationError([`set either ${alone} or ${name}`]);
}

function place(tree: Record<string, unknown>, path: string[], value: unknown): void {
  let at = tree;
  for (const key of path.slice(0, -1)) {
    const next = at[key];
    at = (typeof next === "object" && next !== null ? next : (at[key] = {})) as Record<
      string,
      unknown
    >;
  }
  at[path.at(-1) ?? ""] = value;
}
