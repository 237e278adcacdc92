// Has all keys of the configuration but those of the accounts, which src/providers/accounts.ts adds: an application reads them without.
import { z } from "zod";
import { defaultQuota, maxQuota } from "../contracts/shared/callback-quota.js";
import { KeyRing } from "../crypto/key-ring.js";
import type { ClientConfiguration } from "./client-configuration.js";
import { ConfigurationError, isRequired } from "./errors.js";
import { endpoint, list, plain, secret, text, url, whole } from "./fields.js";
import { load } from "./load.js";
import { Decisions, Operators } from "./operators.js";
import { processDefaults } from "./processes.js";
import { Webhooks } from "./webhooks.js";

export { ConfigurationError } from "./errors.js";
export { isReadable, requireSecrets } from "./fields.js";

const address = (port: number) => ({
  host: text().default("127.0.0.1").describe("where it listens. Receiver, codec server"),
  port: whole().default(port).describe("0: a free one"),
});

const quota = (key: keyof typeof maxQuota) => whole(1, maxQuota[key]).default(defaultQuota[key]);

const kindDays = whole(1)
  .optional()
  .describe(
    "documents of this [kind](retention.md#documents-that-go), from the end of their process on; unset, they stay",
  );

const Callbacks = z.strictObject({
  publicUrl: url().optional().describe("where providers reach the receiver. Worker"),
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
  addressDays: whole(1)
    .default(defaultQuota.addressDays)
    .describe(
      "how long a process's address is taken, from its issue on; later callbacks are answered 410. Receiver",
    ),
});

export const Config = z.strictObject({
  environment: z
    .preprocess(plain, z.enum(["production", "preproduction", "sandbox"]))
    .optional()
    .describe("`production`, `preproduction` or `sandbox`; shown in every status. Worker"),
  database: z
    .strictObject({
      url: secret()
        .optional()
        .describe(
          "secret; `postgres://…`; `TRUSTFLOW_DATABASE__URL` goes before it. Worker, receiver, relay, `migrate`, `cleanup`, each with its own [database role](install.md#database-roles)",
        ),
      password: secret()
        .optional()
        .describe("secret; of the user in `database.url`, where that has none"),
    })
    .prefault({}),
  keys: z
    .strictObject({
      codec: secret()
        .optional()
        .describe("secret; key ring of Temporal payloads. All but the receiver"),
      codecRead: secret()
        .optional()
        .describe(
          "secret; the same ring in place of `keys.codec`, for one who [only reads](keys.md#who-may-write-to-temporal). Codec server, clients that list and show",
        ),
      secrets: secret()
        .optional()
        .describe(
          "secret; key ring that opens the [secrets that clients and relays seal](keys.md#secrets-in-payloads). Worker alone",
        ),
      secretsPublic: secret()
        .optional()
        .describe(
          "its public ring (`trustflow keys public --of secrets`). Clients that start or change processes; the relay, for the [tokens of video calls](keys.md#secrets-in-payloads)",
        ),
      codecWrite: secret()
        .optional()
        .describe(
          "secret; key ring that proves [who may write](keys.md#who-may-write-to-temporal). Worker, relay, `cleanup`, clients that start or change processes",
        ),
      callback: secret()
        .optional()
        .describe("secret; key ring of callback addresses. Worker, receiver, relay"),
      journal: secret().optional().describe("secret; key ring of the journal. Worker"),
      inbox: secret()
        .optional()
        .describe("secret; private key ring that opens callback bodies. Relay, `callbacks show`"),
      inboxPublic: secret()
        .optional()
        .describe(
          "secret; its public ring, which seals them: what `trustflow keys public` prints. Receiver",
        ),
      documents: secret()
        .optional()
        .describe(
          "secret; key ring of the document store. Worker, clients that put or get documents, `cleanup`",
        ),
      operator: secret()
        .optional()
        .describe(
          "secret; `name:base64`, the key by which this person's decisions are signed ([who decides](who-decides.md)). Clients of operators",
        ),
    })
    .prefault({}),
  codec: z
    .strictObject({
      plaintext: z
        .preprocess(plain, z.enum(["refuse", "accept"]))
        .optional()
        .describe(
          "`refuse` or `accept`; without it `accept` in the sandbox, else `refuse`: what a worker does with a payload that is [not encrypted](keys.md#who-may-write-to-temporal). Worker, `cleanup`. A client with `refuse`, or in production and preproduction without the setting, refuses results, failures, statuses and answers that are [not encrypted](../errors.md#an-answer-that-the-client-rejects)",
        ),
      untagged: z
        .preprocess(plain, z.enum(["refuse", "accept"]))
        .optional()
        .describe(
          "`refuse` or `accept`; without it as `codec.plaintext` where `keys.codecWrite` is given, else `accept`: what a worker does with a payload without a tag of `keys.codecWrite`. Worker, `cleanup`",
        ),
    })
    .prefault({}),
  documents: z
    .strictObject({
      directory: text()
        .optional()
        .describe(
          "the store; the same folder for every worker, every client that puts or gets documents, and `cleanup`",
        ),
    })
    .prefault({}),
  /** Hosts of Temporal and PostgreSQL that may be reached without TLS outside the sandbox. */
  clearText: z
    .strictObject({
      hosts: list()
        .default([])
        .describe(
          "list; the hosts of Temporal and PostgreSQL, as their addresses name them, that may be reached without TLS outside the sandbox. Every role and client",
        ),
    })
    .prefault({}),
  callbacks: Callbacks.prefault({}),
  receiver: z
    .strictObject({
      ...address(8080),
      maxBodyBytes: whole(1)
        .default(262_144)
        .describe("more is answered 413, at a process's address"),
      maxAccountBodyBytes: whole(1)
        .default(16_384)
        .describe("more is answered 413, at an account's address; a webhook is small"),
      /** Callbacks that wait for their commit at once; the largest number whose p99 stays below 60 ms (docs/testing.md). */
      queueLimit: whole(1)
        .default(256)
        .describe("callbacks that wait for their commit; more are answered 503"),
      metricsAddress: endpoint()
        .optional()
        .describe(
          "`host:port` for Prometheus, the host an IP address; a port alone is on 127.0.0.1. Receiver, relay, worker",
        ),
    })
    .prefault({}),
  relay: z
    .strictObject({
      healthHost: text().default("127.0.0.1").describe("of its health endpoint. Relay, worker"),
      healthPort: whole().optional().describe("without it there is none. Relay, worker"),
      gatherMs: whole()
        .default(100)
        .describe("how long it waits for more callbacks of the same process"),
      leaseSeconds: whole(1)
        .default(30)
        .describe("how long the callbacks of a killed relay wait for another one"),
      unmatchedSeconds: whole()
        .default(60)
        .describe(
          "how long a callback to an account's address may belong to no process before it is parked",
        ),
      eventSeconds: whole(1, 86_400)
        .default(5)
        .describe(
          "between two looks for processes that have ended or need a decision, where there are [webhooks](../webhooks.md)",
        ),
      metricsAddress: endpoint()
        .optional()
        .describe(
          "`host:port` for Prometheus, the host an IP address; a port alone is on 127.0.0.1. Receiver, relay, worker",
        ),
    })
    .prefault({}),
  worker: z
    .strictObject({
      healthHost: text().default("127.0.0.1").describe("of its health endpoint. Relay, worker"),
      healthPort: whole().optional().describe("without it there is none. Relay, worker"),
      metricsAddress: endpoint()
        .optional()
        .describe(
          "`host:port` for Prometheus, the host an IP address; a port alone is on 127.0.0.1. Receiver, relay, worker",
        ),
      deployment: z
        .preprocess(plain, z.string().regex(/^[\w-]{1,64}$/, "must be letters, digits, _ and -"))
        .optional()
        .describe(
          "the name of a Worker Deployment of Temporal; with it the workers are versioned ([ramped releases](upgrade.md#a-ramped-release)); the same everywhere. Worker, `release`",
        ),
      cachedProcesses: whole().default(600).describe("how many processes stay in memory"),
      stickySeconds: whole(1)
        .default(10)
        .describe(
          "after a worker was killed, its processes go to another one; read [decision 15](../decisions/0015-time-in-workflows.md) before lowering it",
        ),
      requestsPerSecond: whole(1)
        .default(50)
        .describe(
          "attempts of calls a second at one provider, over all workers and accounts; the same value everywhere. Single notices and batches have it each; a batch reads its notices at the account's own pace",
        ),
    })
    .prefault({}),
  codecServer: z
    .strictObject({
      ...address(8081),
      token: secret()
        .optional()
        .describe("secret; anyone who has it can read payloads. Codec server"),
      corsOrigins: list().default([]).describe("list; the Web UI's origins, exactly"),
    })
    .prefault({}),
  journal: z
    .strictObject({
      leaseSeconds: whole(1)
        .default(90)
        .describe("how long a sender owns an effect; above the longest call"),
      /** Between the two look-ups that find nothing, before a keyed effect is sent again (docs/reading-the-specification.md §1). */
      lookUpSpacingSeconds: whole(1)
        .default(60)
        .describe("between the two look-ups that must find nothing before an effect is sent again"),
    })
    .prefault({}),
  attention: z
    .strictObject({
      retrySeconds: whole(1)
        .default(180)
        .describe("between two attempts while a person is awaited"),
      probeSeconds: whole(1)
        .default(15)
        .describe("between two probes of a provider that is away or refuses the account"),
      invisibleSeconds: whole(1)
        .default(900)
        .describe("how long a new id may be unknown to a query"),
      unavailableSeconds: whole(1, 86_400)
        .default(3_600)
        .describe(
          "how long a provider may be away before a person is asked, in every step and question; at most 86400",
        ),
    })
    .prefault({}),
  retention: z
    .strictObject({
      inboxDays: whole(1)
        .default(90)
        .describe(
          "bodies of callbacks, the tokens that they carried, and [webhooks](../webhooks.md) that were sent",
        ),
      parkedDays: whole(1).default(365).describe("bodies of callbacks that stay parked"),
      journalDays: whole(1)
        .default(400)
        .describe("rows of journal and inbox, and of the notices of batches"),
      documentOrphanDays: whole(1)
        .default(30)
        .describe("unused uploads, until they go into quarantine"),
      quarantineDays: whole(1).default(14).describe("uploads in quarantine"),
      /** By kind, from the end of the process on; without a period they stay. */
      documents: z
        .strictObject({
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
        })
        .prefault({}),
      batchSize: whole(1).default(1_000).describe("rows in one delete"),
    })
    .prefault({}),
  stuck: z
    .strictObject({
      scanSeconds: whole(1)
        .default(300)
        .describe("between two counts of the [stuck processes](stuck.md#a-stuck-process). Relay"),
      repairAfterSeconds: whole()
        .default(600)
        .describe(
          "how long workflow tasks of a process must have failed before `cleanup` resets it; the time to put a bad release back",
        ),
    })
    .prefault({}),
  ...processDefaults,
  /** A running sandbox, for the commands that steer it. */
  sandbox: z
    .strictObject({
      url: url()
        .optional()
        .describe(
          "a running [sandbox](../sandbox/README.md), for the commands that steer it (`trustflow sandbox messages` …). Processes call what their account names; an account of `preproduction` that names this sandbox is shown as `sandbox`",
        ),
    })
    .prefault({}),
  log: z
    .strictObject({
      level: z
        .preprocess(plain, z.enum(["TRACE", "DEBUG", "INFO", "WARN", "ERROR"]))
        .default("INFO")
        .describe("`TRACE`, `DEBUG`, `INFO`, `WARN` or `ERROR`"),
    })
    .prefault({}),
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
