// The only reader of the environment and of trustflow.toml; fails at start, naming the key (docs/design.md §13).
import { existsSync, readFileSync } from "node:fs";
import { parse as parseToml } from "smol-toml";
import { z } from "zod";
import { credentialsInClear } from "./config/clear-text.js";
import { ConfigurationError, isRequired, environmentName } from "./config/errors.js";
import {
  endpoint,
  FromEnvironment,
  list,
  nameSecrets,
  plain,
  secret,
  text,
  url,
  whole,
} from "./config/fields.js";
import { Decisions, Operators } from "./config/operators.js";
import { processDefaults } from "./config/processes.js";
import { defaultQuota, maxQuota } from "./contracts/shared/callback-quota.js";
import { suggestionFor } from "./contracts/shared/nearest.js";
import { missing, sentenceOf } from "./contracts/shared/problems.js";
import { KeyRing } from "./crypto/key-ring.js";
import { Accounts } from "./providers/accounts.js";

export { ConfigurationError } from "./config/errors.js";
export { isReadable, requireSecrets } from "./config/fields.js";

const address = (port: number) => ({
  host: text().default("127.0.0.1"),
  port: whole().default(port),
});

const quota = (key: keyof typeof maxQuota) => whole(1, maxQuota[key]).default(defaultQuota[key]);

const Callbacks = z.strictObject({
  publicUrl: url().optional(),
  eventsPerProcess: quota("eventsPerProcess"),
  rowsPerAddress: quota("rowsPerAddress"),
  bytesPerAddress: quota("bytesPerAddress"),
  accountRowsPerDay: quota("accountRowsPerDay"),
  accountBytesPerDay: quota("accountBytesPerDay"),
  addressDays: whole(1).default(defaultQuota.addressDays),
});

export const Config = z.strictObject({
  environment: z.preprocess(plain, z.enum(["production", "preproduction", "sandbox"])).optional(),
  database: z
    .strictObject({
      url: secret().optional(),
      /** Goes into a URL that has none. */
      password: secret().optional(),
    })
    .prefault({}),
  keys: z
    .strictObject({
      codec: secret().optional(),
      /** The same ring, for one who only reads. */
      codecRead: secret().optional(),
      /** The workers' private keys of the secrets that clients and relays seal. */
      secrets: secret().optional(),
      /** What clients and relays seal secrets with: the public half of `secrets`. */
      secretsPublic: secret().optional(),
      /** Proves to the workers who has written. */
      codecWrite: secret().optional(),
      callback: secret().optional(),
      journal: secret().optional(),
      /** The private ring that opens callback bodies, and its public ring, which seals them. */
      inbox: secret().optional(),
      inboxPublic: secret().optional(),
      documents: secret().optional(),
      /** `name:base64`: whose decisions this client makes. */
      operator: secret().optional(),
    })
    .prefault({}),
  codec: z
    .strictObject({
      /** Of a payload that is not encrypted; default: `accept` in the sandbox, else `refuse`. */
      plaintext: z.preprocess(plain, z.enum(["refuse", "accept"])).optional(),
      /** Of a payload without a tag of `keys.codecWrite`; default: as `plaintext`, where the worker has that ring. */
      untagged: z.preprocess(plain, z.enum(["refuse", "accept"])).optional(),
    })
    .prefault({}),
  documents: z.strictObject({ directory: text().optional() }).prefault({}),
  /** Hosts of Temporal and PostgreSQL that may be reached without TLS outside the sandbox. */
  clearText: z.strictObject({ hosts: list().default([]) }).prefault({}),
  callbacks: Callbacks.prefault({}),
  receiver: z
    .strictObject({
      ...address(8080),
      maxBodyBytes: whole(1).default(262_144),
      /** To an account's address; a webhook is small. */
      maxAccountBodyBytes: whole(1).default(16_384),
      /** Callbacks that wait for their commit at once; the largest number whose p99 stays below 60 ms (docs/testing.md). */
      queueLimit: whole(1).default(256),
      metricsAddress: endpoint().optional(),
    })
    .prefault({}),
  relay: z
    .strictObject({
      healthHost: text().default("127.0.0.1"),
      healthPort: whole().optional(),
      gatherMs: whole().default(100),
      /** How long the callbacks that a killed relay was at wait for another one. */
      leaseSeconds: whole(1).default(30),
      /** How long the process of a callback to an account's address may be unknown before the callback is parked. */
      unmatchedSeconds: whole().default(60),
      metricsAddress: endpoint().optional(),
    })
    .prefault({}),
  worker: z
    .strictObject({
      healthHost: text().default("127.0.0.1"),
      healthPort: whole().optional(),
      metricsAddress: endpoint().optional(),
      /** How many processes stay in memory. */
      cachedProcesses: whole().default(600),
      /** How long after a worker was killed its waiting processes go to another one. */
      stickySeconds: whole(1).default(10),
      /** Requests a second to one provider, over all accounts. */
      requestsPerSecond: whole(1).default(50),
    })
    .prefault({}),
  codecServer: z
    .strictObject({
      ...address(8081),
      token: secret().optional(),
      corsOrigins: list().default([]),
    })
    .prefault({}),
  journal: z
    .strictObject({
      leaseSeconds: whole(1).default(90),
      /** Between the two look-ups that find nothing, before a keyed effect is sent again (docs/reading-the-specification.md §1). */
      lookUpSpacingSeconds: whole(1).default(60),
    })
    .prefault({}),
  attention: z
    .strictObject({
      /** Between two attempts of the patient phase. */
      retrySeconds: whole(1).default(180),
      /** Between two probes of a provider that refuses the account or is away. */
      probeSeconds: whole(1).default(15),
      invisibleSeconds: whole(1).default(900),
      /** At most a day: then a step's quick phase ends by itself. */
      unavailableSeconds: whole(1, 86_400).default(3_600),
    })
    .prefault({}),
  retention: z
    .strictObject({
      inboxDays: whole(1).default(90),
      /** Bodies of callbacks that nobody replayed. */
      parkedDays: whole(1).default(365),
      journalDays: whole(1).default(400),
      documentOrphanDays: whole(1).default(30),
      /** How long an upload that no process took stays in quarantine. */
      quarantineDays: whole(1).default(14),
      /** By kind, from the end of the process on; without a period they stay. */
      documents: z
        .strictObject({
          submittedDays: whole(1).optional(),
          affidavitDays: whole(1).optional(),
          attachmentDays: whole(1).optional(),
          contractDays: whole(1).optional(),
          signedDays: whole(1).optional(),
          videoDays: whole(1).optional(),
          reportDays: whole(1).optional(),
          archiveDays: whole(1).optional(),
          conferenceDays: whole(1).optional(),
          auditDays: whole(1).optional(),
          answerDays: whole(1).optional(),
        })
        .prefault({}),
      batchSize: whole(1).default(1_000),
    })
    .prefault({}),
  stuck: z
    .strictObject({
      /** Between two looks of the relay at the open processes. */
      scanSeconds: whole(1).default(300),
      /** How long workflow tasks of a process have failed before the clean-up resets it. */
      repairAfterSeconds: whole().default(600),
    })
    .prefault({}),
  ...processDefaults,
  /** A running sandbox, for the commands that steer it. */
  sandbox: z.strictObject({ url: url().optional() }).prefault({}),
  log: z
    .strictObject({
      level: z
        .preprocess(plain, z.enum(["TRACE", "DEBUG", "INFO", "WARN", "ERROR"]))
        .default("INFO"),
    })
    .prefault({}),
  decisions: Decisions,
  operators: Operators,
  accounts: Accounts,
});
export type Config = z.infer<typeof Config>;

/** Variables of the same prefix that are no configuration keys. */
const notKeys = new Set(["TRUSTFLOW_CONFIG", "TRUSTFLOW_CACHE"]);

/** Reads `TRUSTFLOW_CONFIG`, else ./trustflow.toml if it is there, and lays the environment over it. */
export function loadConfig(): Config {
  const named = process.env["TRUSTFLOW_CONFIG"];
  const path = named ?? (existsSync("trustflow.toml") ? "trustflow.toml" : undefined);
  const tree = path === undefined ? {} : readToml(path);
  const { DATABASE_URL = "" } = process.env;
  if (DATABASE_URL !== "") place(tree, ["database", "url"], DATABASE_URL);
  for (const [name, value] of Object.entries(process.env)) {
    if (value === undefined || value === "") continue;
    refuseBoth(name);
    if (name.startsWith("TRUSTFLOW_") && !notKeys.has(name)) place(tree, keyOf(name), value);
  }
  const parsed = Config.safeParse(tree, { error: sentenceOf });
  if (parsed.success) {
    const inClear = credentialsInClear(parsed.data);
    if (inClear.length > 0) throw new ConfigurationError(inClear);
    nameSecrets(parsed.data);
    return parsed.data;
  }
  const problems = parsed.error.issues.flatMap(({ path, message, ...issue }) => {
    const key = path.join(".") || "(top)";
    if (issue.code === "unrecognized_keys") {
      const unknown = issue.keys.map((name) => unknownKey([...path.map(String), name]));
      return `${key}: unknown key: ${unknown.join("; ")}`;
    }
    return message === missing ? isRequired(key).problems : `${key}: ${message}`;
  });
  throw new ConfigurationError(problems);
}

/** With the variables that it comes from, if any, and the keys that it may have been meant to be. */
function unknownKey(path: string[]): string {
  const name = path.at(-1) ?? "";
  const variable = environmentName(path.join("."));
  const from = Object.keys(process.env).filter(
    (one) => one === variable || one.startsWith(`${variable}__`),
  );
  const where = from.length > 0 ? ` (${from.join(", ")})` : "";
  return `${name}${where}; ${suggestionFor(name, keysAt(path.slice(0, -1)))}`;
}

interface Shape {
  properties?: Record<string, Shape>;
  additionalProperties?: Shape;
}

function keysAt(path: string[]): string[] {
  let shape = z.toJSONSchema(Config, { unrepresentable: "any", reused: "inline" }) as Shape;
  for (const key of path) shape = shape.properties?.[key] ?? shape.additionalProperties ?? {};
  return Object.keys(shape.properties ?? {});
}

/** The value of a key that this command needs. */
export function required<T>(value: T | undefined, key: string): T {
  if (value !== undefined) return value;
  throw isRequired(key);
}

/** What is wrong with a ring is said by entry and key id; its text never stands in a message. */
export function ringOf(config: Config, name: keyof Config["keys"]): KeyRing {
  const key = `keys.${name}`;
  const text = required(config.keys[name], key).reveal();
  try {
    return KeyRing.parse(text);
  } catch (error) {
    throw new ConfigurationError([`${key}: ${(error as Error).message}`]);
  }
}

/** Without the environment. */
export function readToml(path: string): Record<string, unknown> {
  if (!existsSync(path)) throw new ConfigurationError([`${path} does not exist`]);
  try {
    return parseToml(readFileSync(path, "utf8"));
  } catch (error) {
    const line = (error as { line?: number }).line;
    throw new ConfigurationError([`${path} is not TOML${line ? ` (line ${line})` : ""}`]);
  }
}

/** `TRUSTFLOW_ACCOUNTS__DEFAULT__EVI_POST__BASE_URL` is `accounts.default.evi-post.baseUrl`. */
function keyOf(name: string): string[] {
  const segments = name
    .slice("TRUSTFLOW_".length)
    .split("__")
    .map((part) => part.toLowerCase());
  const kebab = { accounts: 3, operators: 2 }[segments[0] ?? ""] ?? 0;
  return segments.map((part, index) =>
    index < kebab
      ? part.replaceAll("_", "-")
      : part.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()),
  );
}

/** A secret by itself and by its file: nobody could say which one counts. */
function refuseBoth(name: string): void {
  if (!name.startsWith("TRUSTFLOW_") || !name.endsWith("__FILE")) return;
  const alone = name.slice(0, -"__FILE".length);
  if (process.env[alone]) throw new ConfigurationError([`set either ${alone} or ${name}`]);
}

function place(tree: Record<string, unknown>, path: string[], value: string): void {
  let at = tree;
  for (const key of path.slice(0, -1)) {
    const next = at[key];
    at = (typeof next === "object" && next !== null ? next : (at[key] = {})) as Record<
      string,
      unknown
    >;
  }
  at[path.at(-1) ?? ""] = new FromEnvironment(value);
}
