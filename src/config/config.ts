// Has all keys of the configuration but those of the accounts, which src/providers/accounts.ts adds: an application reads them without.
import { z } from "zod";
import { defaultQuota, maxQuota } from "../contracts/shared/callback-quota.js";
import { KeyRing } from "../crypto/key-ring.js";
import type { ClientConfiguration } from "./client-configuration.js";
import { ConfigurationError, isRequired } from "./errors.js";
import {
  baseUrl,
  endpoint,
  list,
  matching,
  number,
  oneOf,
  port,
  secret,
  section,
  text,
  url,
  whole,
} from "./fields.js";
import { load } from "./load.js";
import { Decisions, Operators } from "./operators.js";
import { processDefaults } from "./processes.js";
import { Webhooks } from "./webhooks.js";

export { ConfigurationError } from "./errors.js";
export { isReadable, requireSecrets } from "./fields.js";

const optionalSecret = (text: string) => secret().optional().describe(`secret; ${text}`);
const health = {
  healthHost: text().default("127.0.0.1").describe("of its health endpoint. Relay, worker"),
  healthPort: port().optional().describe("without it there is none. Relay, worker"),
};
const metricsAddress = endpoint()
  .optional()
  .describe(
    "`host:port` for Prometheus, the host an IP address; a port alone is on 127.0.0.1. Receiver, relay, worker",
  );

const address = (standard: number) => ({
  host: text().default("127.0.0.1").describe("where it listens. Receiver, codec server"),
  port: port().default(standard).describe("0: a free one"),
});

const quota = (key: keyof typeof maxQuota) => whole(1, maxQuota[key]).default(defaultQuota[key]);

const kindDays = whole(1)
  .optional()
  .describe(
    "documents of this [kind](retention.md#documents-that-go), from the end of their process on; unset, they stay",
  );

const Callbacks = z.strictObject({
  publicUrl: baseUrl().optional().describe("where providers reach the receiver. Worker"),
  eventsPerProcess: quota("eventsPerProcess").describe(
    "of so many callbacks a process is told one by one, at most 1000; the others are [`surplus`](callbacks.md#a-flood-of-callbacks). Receiver, relay",
  ),
  rowsPerAddress: quota("rowsPerAddress").describe(
    "callbacks that are stored of one process's address, at most 10000; more are answered 429. Receiver",
  ),
  bytesPerAddress: quota("bytesPerAddress").describe(
    "their bodies together, as they are stored: sealed; at most 100000000. Receiver",
  ),
  accountRowsPerDay: quota("accountRowsPerDay").describe(
    "callbacks that are stored of one account's address on one day, at most 500000; more are answered 429. Receiver",
  ),
  accountBytesPerDay: quota("accountBytesPerDay").describe(
    "their bodies together, at most 1000000000; the default is as much as 50000 of the largest take. Receiver",
  ),
  addressDays: number(
    defaultQuota.addressDays,
    "how long a process's address is taken, from its issue on; later callbacks are answered 410. Receiver",
  ),
});

export const Config = z.strictObject({
  environment: oneOf("production", "preproduction", "sandbox")
    .optional()
    .describe(
      "`production`, `preproduction` or `sandbox`; shown in every status. Worker; every client outside the sandbox, which without it believes what is not encrypted",
    ),
  database: section({
    url: optionalSecret(
      "`postgres://…`; `TRUSTFLOW_DATABASE__URL` goes before it. Worker, receiver, relay, `migrate`, `cleanup`, `erase`, and the commands of operators, each with its own [database role](install.md#database-roles)",
    ),
    password: optionalSecret("of the user in `database.url`, where that has none"),
  }),
  keys: section({
    codec: optionalSecret("key ring of Temporal payloads. All but the receiver"),
    codecRead: optionalSecret(
      "the same ring in place of `keys.codec`, for one who [only reads](keys.md#who-may-write-to-temporal). Codec server, clients that list and show",
    ),
    secrets: optionalSecret(
      "key ring that opens the [secrets that clients and relays seal](keys.md#secrets-in-payloads). Worker alone",
    ),
    secretsPublic: secret()
      .optional()
      .describe(
        "its public ring (`trustflow keys public --of secrets`). Clients that start or change processes; the relay, for the [tokens of video calls](keys.md#secrets-in-payloads)",
      ),
    codecWrite: optionalSecret(
      "key ring that proves [who may write](keys.md#who-may-write-to-temporal). Worker, relay, `cleanup`, clients that start or change processes",
    ),
    callback: optionalSecret("key ring of callback addresses. Worker, receiver, relay"),
    journal: optionalSecret("key ring of the journal. Worker"),
    inbox: optionalSecret("private key ring that opens callback bodies. Relay, `callbacks show`"),
    inboxPublic: optionalSecret(
      "its public ring, which seals them: what `trustflow keys public` prints. Receiver",
    ),
    documents: optionalSecret(
      "key ring of the document store. Worker, clients that put or get documents, `cleanup`, `erase`",
    ),
    operator: optionalSecret(
      "`name:base64`, the key by which this person's decisions are signed ([who decides](who-decides.md)). Clients of operators",
    ),
  }),
  codec: section({
    plaintext: oneOf("refuse", "accept")
      .optional()
      .describe(
        "`refuse` or `accept`; without it `accept` in the sandbox, else `refuse`: what a worker does with a payload that is [not encrypted](keys.md#who-may-write-to-temporal). Worker, `cleanup`. A client with `refuse`, or in production and preproduction without the setting, refuses results, failures, statuses and answers that are [not encrypted](../errors.md#an-answer-that-the-client-rejects)",
      ),
    untagged: oneOf("refuse", "accept")
      .optional()
      .describe(
        "`refuse` or `accept`; without it as `codec.plaintext` where `keys.codecWrite` is given, else `accept`: what a worker does with a payload without a tag of `keys.codecWrite`. Worker, `cleanup`",
      ),
  }),
  documents: section({
    directory: text()
      .optional()
      .describe(
        "the store; the same folder for every worker, every client that puts or gets documents, and `cleanup`",
      ),
  }),
  /** Hosts of Temporal and PostgreSQL that may be reached without TLS outside the sandbox. */
  clearText: section({
    hosts: list()
      .default([])
      .describe(
        "list; the hosts of Temporal and PostgreSQL, as their addresses name them, that may be reached without TLS outside the sandbox. Every role and client",
      ),
  }),
  callbacks: Callbacks.prefault({}),
  receiver: section({
    ...address(8080),
    maxBodyBytes: number(262_144, "more is answered 413, at a process's address"),
    maxAccountBodyBytes: number(
      16_384,
      "more is answered 413, at an account's address; a webhook is small",
    ),
    /** Callbacks that wait for their commit at once; the largest number whose p99 stays below 60 ms (docs/testing.md). */
    queueLimit: number(256, "callbacks that wait for their commit; more are answered 503"),
    metricsAddress,
  }),
  relay: section({
    ...health,
    gatherMs: number(100, "how long it waits for more callbacks of the same process", 0),
    leaseSeconds: number(30, "how long the callbacks of a killed relay wait for another one"),
    unmatchedSeconds: number(
      60,
      "how long a callback to an account's address may belong to no process before it is parked",
      0,
    ),
    eventSeconds: number(
      5,
      "between two looks for processes that have ended or need a decision, where there are [webhooks](../webhooks.md)",
      1,
      86_400,
    ),
    metricsAddress,
  }),
  worker: section({
    ...health,
    metricsAddress,
    deployment: matching(/^[\w-]{1,64}$/, "must be letters, digits, _ and -")
      .optional()
      .describe(
        "the name of a Worker Deployment of Temporal; with it the workers are versioned ([ramped releases](upgrade.md#a-ramped-release)); the same everywhere. Worker, `release`",
      ),
    cachedProcesses: number(600, "how many processes stay in memory", 0),
    stickySeconds: number(
      10,
      "after a worker was killed, its processes go to another one; read [decision 15](../decisions/0015-time-in-workflows.md) before lowering it",
    ),
    requestsPerSecond: number(
      50,
      "attempts of calls a second at one provider, over all workers and accounts; the same value everywhere. Single notices and batches have it each; a batch reads its notices at the account's own pace",
    ),
  }),
  codecServer: section({
    ...address(8081),
    token: optionalSecret("anyone who has it can read payloads. Codec server"),
    corsOrigins: list().default([]).describe("list; the Web UI's origins, exactly"),
  }),
  journal: section({
    leaseSeconds: number(90, "how long a sender owns an effect; above the longest call"),
    /** Between the two look-ups that find nothing, before a keyed effect is sent again (docs/reading-the-specification.md §1). */
    lookUpSpacingSeconds: number(
      60,
      "between the two look-ups that must find nothing before an effect is sent again",
    ),
  }),
  attention: section({
    retrySeconds: number(180, "between two attempts while a person is awaited"),
    probeSeconds: number(
      15,
      "between two probes of a provider that is away or refuses the account",
    ),
    invisibleSeconds: number(
      900,
      "how long a new id may be unknown to a query, and a started batch a draft",
    ),
    unavailableSeconds: number(
      3_600,
      "how long a provider may be away before a person is asked, in every step and question; at most 86400",
      1,
      86_400,
    ),
  }),
  retention: section({
    inboxDays: number(
      90,
      "bodies of callbacks, the tokens that they carried, and [webhooks](../webhooks.md) that were sent",
    ),
    parkedDays: number(365, "bodies of callbacks that stay parked"),
    journalDays: number(400, "rows of journal and inbox, and of the notices of batches"),
    documentOrphanDays: number(30, "unused uploads, until they go into quarantine"),
    quarantineDays: number(14, "uploads in quarantine"),
    /** By kind, from the end of the process on; without a period they stay. */
    documents: section({
      submittedDays: kindDays,
      affidavitDays: kindDays,
      attachmentDays: kindDays,
      contractDays: kindDays,
      signedDays: kindDays,
      videoDays: kindDays,
      reportDays: kindDays,
      archiveDays: kindDays,
      conferenceDays: kindDays,
      auditDays: kindDays,
      answerDays: kindDays,
    }),
    batchSize: number(1_000, "rows in one delete"),
  }),
  stuck: section({
    scanSeconds: number(
      300,
      "between two counts of the [stuck processes](stuck.md#a-stuck-process). Relay",
    ),
    repairAfterSeconds: number(
      600,
      "how long workflow tasks of a process must have failed before `cleanup` resets it; the time to put a bad release back",
      0,
    ),
  }),
  ...processDefaults,
  /** A running sandbox, for the commands that control it. */
  sandbox: section({
    url: url()
      .optional()
      .describe(
        "a running [sandbox](../sandbox/README.md), for the commands that control it (`trustflow sandbox messages` …). Processes call what their account names; an account of `preproduction` that names this sandbox is shown as `sandbox`",
      ),
  }),
  log: section({
    level: oneOf("TRACE", "DEBUG", "INFO", "WARN", "ERROR")
      .default("INFO")
      .describe("`TRACE`, `DEBUG`, `INFO`, `WARN` or `ERROR`"),
  }),
  decisions: Decisions,
  operators: Operators,
  webhooks: Webhooks,
  accounts: z
    .unknown()
    .transform(() => undefined)
    .optional(),
});
export type Config = Omit<z.infer<typeof Config>, "accounts">;

export const loadConfig = (env?: NodeJS.ProcessEnv, given?: ClientConfiguration): Config =>
  load(Config, env, given);

/** The value of a key that this command needs. */
export function required<T>(value: T | undefined, key: string): T {
  if (value !== undefined) return value;
  throw isRequired(key);
}

/** An error names entry and key id of the ring, and never quotes it. */
export function ringOf(config: Config, name: keyof Config["keys"]): KeyRing {
  const key = `keys.${name}`;
  const text = required(config.keys[name], key).reveal();
  try {
    return KeyRing.parse(text);
  } catch (error) {
    throw new ConfigurationError([`${key}: ${(error as Error).message}`]);
  }
}
