// Has all keys of the configuration but those of the accounts, which src/providers/accounts.ts adds: an application reads them without.
import { z } from "zod";
import { defaultQuota, maxQuota } from "../contracts/shared/callback-quota.js";
import { KeyRing } from "../crypto/key-ring.js";
import { ConfigurationError, isRequired } from "./errors.js";
import { endpoint, list, plain, secret, text, url, whole } from "./fields.js";
import { load } from "./load.js";
import { Decisions, Operators } from "./operators.js";
import { processDefaults } from "./processes.js";

export { ConfigurationError } from "./errors.js";
export { isReadable, requireSecrets } from "./fields.js";

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
      /** Workers open with it the secrets that clients and relays seal. */
      secrets: secret().optional(),
      /** Clients and relays seal secrets with it: it is the public half of `secrets`. */
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
      /** Says what happens to a payload that is not encrypted; default: `accept` in the sandbox, else `refuse`. */
      plaintext: z.preprocess(plain, z.enum(["refuse", "accept"])).optional(),
      /** Says the same of a payload without a tag of `keys.codecWrite`; the default is that of `plaintext`, if the worker has that ring. */
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
  accounts: z
    .unknown()
    .transform(() => undefined)
    .optional(),
});
export type Config = Omit<z.infer<typeof Config>, "accounts">;

export const loadConfig = (env?: NodeJS.ProcessEnv): Config => load(Config, env);

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
