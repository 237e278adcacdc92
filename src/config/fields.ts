// Configuration values are typed in TOML, and text in environment variables (docs/design.md §13).
import { readFileSync } from "node:fs";
import { z } from "zod";
import { tableNamePattern } from "../contracts/shared/names.js";
import { Secret } from "../contracts/shared/values.js";
import { ConfigurationError, isRequired } from "./errors.js";

/** A value that came from an environment variable, and so as text. */
export class FromEnvironment {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export const plain = (value: unknown) => (value instanceof FromEnvironment ? value.text : value);
export const text = () => z.preprocess(plain, z.string().min(1));
export const tableName = z.string().regex(tableNamePattern, "must be 1 to 31 of a-z 0-9 -");
/** One of these words. */
export const oneOf = <const W extends readonly string[]>(...words: W) =>
  z.preprocess(plain, z.enum(words));
export const matching = (form: RegExp, problem: string) =>
  z.preprocess(plain, z.string().regex(form, problem));
/** Of a list in an environment variable. */
const parts = (text: string) => text.split(",").flatMap((part) => part.trim() || []);
export const numbers = () =>
  z.preprocess(
    (value) => (value instanceof FromEnvironment ? parts(value.text).map(Number) : value),
    z.array(z.int()),
  );
/** Without credentials, which have their own keys. */
export const url = (protocol = /^https?$/) =>
  z.preprocess(
    plain,
    z
      .url({
        protocol,
        abort: true,
        error: saying(`must be an ${protocol.test("http") ? "http or " : ""}https URL`),
      })
      .refine((given) => !hasUser(new URL(given)), "must not contain a user name or password"),
  );
/** A path is appended to it, so it must have no query. */
export const baseUrl = (protocol?: RegExp) =>
  url(protocol)
    .refine((given) => !/[?#]/.test(given), "must have no query and no fragment")
    .describe("of the provider's API, `https`; a path at its end comes before every path");
/** A missing value is reported as required. */
const saying = (problem: string) => (issue: { input?: unknown }) =>
  issue.input === undefined ? undefined : problem;
const hasUser = (given: URL) => given.username !== "" || given.password !== "";
/** A server that requires a client certificate has no other one. */
export const tlsBaseUrl = () => baseUrl(/^https$/);
/** The user name of HTTP Basic, which a colon ends (P1 §5.1, §5.3; P2 §5). */
export const username = () =>
  matching(/^[^:]+$/, "must have no colon, and must not be empty").describe(
    "HTTP Basic; without a colon",
  );
/** A value that becomes one segment of a path. */
export const segment = () => matching(/^(?!\.{1,2}$)[^/]+$/, "must be one segment of a path");
/** A path directly after the host, so it must not become part of the host name. */
export const path = (as = "") => matching(/^\//, `must begin with a slash${as && `, ${as}`}`);
export const whole = (minimum = 0, maximum = Number.MAX_SAFE_INTEGER) =>
  z.preprocess(
    (value) =>
      value instanceof FromEnvironment && /^\d+$/.test(value.text)
        ? Number(value.text)
        : plain(value),
    z.int().min(minimum).max(maximum),
  );
export const port = () => whole(0, 65_535);
export const number = (value: number, text: string, least = 1, most?: number) =>
  whole(least, most).default(value).describe(text);
export const flag = () =>
  z.preprocess(
    (value) =>
      value instanceof FromEnvironment && /^(true|false)$/.test(value.text)
        ? value.text === "true"
        : plain(value),
    z.boolean(),
  );
/** A list; in an environment variable separated by commas. */
export const listOf = <E extends z.ZodType>(entry: E, least = 0) =>
  z.preprocess(
    (value) => (value instanceof FromEnvironment ? parts(value.text) : value),
    z.array(entry).min(least),
  );
export const list = () => listOf(z.string().min(1));
/** A table, whose keys may all be absent. */
export const section = <S extends z.ZodRawShape>(shape: S) =>
  z.strictObject(shape).prefault({} as never);

/**
 * `{ env = "NAME" }` or `{ file = "path" }`; as an environment variable the secret itself, or its file as `NAME__FILE`. It is
 * read at its first use, because a command needs only some secrets of a shared configuration.
 */
export const secret = () => configuredSecret(false);

/** An optional secret: without it the account is unusable, but its configuration can be shared. TOML has no null value. */
export const accountSecret = () =>
  renewedSecret()
    .prefault(null)
    .meta({ description: "secret; one of a file is read again when it changes", isRequired: true });

/** As `secret`, but a file is read at each use. While it cannot be read or is empty, its last content counts. */
export const renewedSecret = () => configuredSecret(true);

function configuredSecret(isRenewed: boolean) {
  return z.unknown().transform((value, context): Secret => {
    if (value instanceof FromEnvironment) return new Secret(value.text);
    if (value === null) return new ConfiguredSecret(() => undefined);
    const given = (value ?? {}) as { env?: unknown; file?: unknown };
    // `…__FILE` in the environment, as `{ file = "path" }` in the file.
    const [env, file] = [given.env, plain(given.file)];
    if (typeof env === "string") return new ConfiguredSecret((from) => variable(env, from));
    if (typeof file === "string") return new ConfiguredSecret(() => content(file), isRenewed);
    const message =
      'must be { env = "NAME" } or { file = "path" }: secrets must not be in the file itself';
    context.addIssue({ code: "custom", message });
    return z.NEVER;
  });
}

function variable(name: string, env: NodeJS.ProcessEnv): string {
  const value = env[name];
  if (value) return value;
  throw new Error(`the environment variable ${name} is not set`);
}

function content(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    throw new Error(`the file ${unreadable(error)}`, { cause: error });
  }
}

export function unreadable(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOENT" ? "does not exist" : `cannot be read (${code})`;
}

class ConfiguredSecret extends Secret {
  /** Its key in the configuration. */
  key = "";
  env = process.env;
  readonly #read: (env: NodeJS.ProcessEnv) => string | undefined;
  readonly #isRenewed: boolean;
  #text: string | undefined;
  /** The file has become unusable since. */
  #isStale = false;

  constructor(read: (env: NodeJS.ProcessEnv) => string | undefined, isRenewed = false) {
    super("");
    this.#read = read;
    this.#isRenewed = isRenewed;
  }

  /** Throws a `ConfigurationError` that names the key. */
  override reveal(): string {
    if (this.#text !== undefined && !this.#isRenewed) return this.#text;
    let problem = "the file is empty";
    try {
      const text = this.#read(this.env);
      if (text) return this.#take(text);
    } catch (error) {
      problem = (error as Error).message;
      if (this.#text === undefined) throw new ConfigurationError([`${this.key}: ${problem}`]);
    }
    if (this.#text === undefined) throw isRequired(this.key);
    // A role's log has type and code alone.
    if (!this.#isStale)
      process.emitWarning(`${this.key}: ${problem}; its last content counts`, {
        type: "SecretFileUnusable",
        code: this.key,
      });
    this.#isStale = true;
    return this.#text;
  }

  #take(text: string): string {
    this.#isStale = false;
    this.#text = text;
    return text;
  }
}

/** Tells each secret its key, for error messages, and the environment that it may stand in. */
export function nameSecrets(tree: object, env: NodeJS.ProcessEnv, above: string[] = []): void {
  for (const [name, part] of Object.entries(tree) as [string, unknown][]) {
    const path = [...above, name];
    if (part instanceof ConfiguredSecret) Object.assign(part, { env, key: path.join(".") });
    else if (typeof part === "object" && part !== null) nameSecrets(part, env, path);
  }
}

/** Whether this process has the secret. */
export function isReadable(secret: Secret | undefined): boolean {
  try {
    return secret?.reveal() !== undefined;
  } catch (error) {
    if (error instanceof ConfigurationError) return false;
    throw error;
  }
}

/** Reads each secret of a part of the configuration; throws one `ConfigurationError` that names all unreadable ones. */
export function requireSecrets(tree: object): void {
  const problems = Object.values(tree).flatMap((part: unknown) => {
    try {
      if (part instanceof Secret) part.reveal();
      else if (typeof part === "object" && part !== null) requireSecrets(part);
      return [];
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      return error.problems;
    }
  });
  if (problems.length > 0) throw new ConfigurationError(problems);
}

/** `host:port` to listen on; a port alone listens on this machine only. */
export const endpoint = () =>
  z.preprocess(
    (value) => {
      const given = plain(value);
      return /^\d+$/.test(String(given)) ? `127.0.0.1:${String(given)}` : given;
    },
    z
      .string()
      .refine(
        (given) => /^(\[[\da-f:.]+\]|[\w.-]+):\d+$/i.test(given) && URL.canParse(`tcp://${given}`),
        "must be host:port, or a port",
      ),
  );
