// A relay with a real PostgreSQL, the real parsers and the keys of the workers, for events that carry secrets. The file that asks for it
// has its own database.
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { CallbackArchive } from "../../../src/callbacks/inbox/archive.js";
import { startRelay } from "../../../src/callbacks/relay/relay.js";
import type { Relay, RelayOptions } from "../../../src/callbacks/relay/relay.js";
import { KeyRing } from "../../../src/crypto/key-ring.js";
import { generateBoxRing } from "../../../src/crypto/sealed-box.js";
import { Journal } from "../../../src/journal/journal.js";
import { callbackParsers } from "../../../src/providers/callbacks.js";
import { SecretSealer, WorkerSecrets } from "../../../src/temporal/codec/secrets.js";
import { testDatabase } from "../../harness/stack/postgres.js";
import type { TestDatabase } from "../../harness/stack/postgres.js";
import { sealersIn } from "../../harness/stack/sealers.js";
import { bodyKeys, FakeTemporal, ring } from "../support.js";

/** As a JWT. */
export const TOKEN = "head.token-of-the-call.mark";

export interface SecretsStand {
  database: TestDatabase;
  archive: CallbackArchive;
  journal: Journal;
  /** Another one for each test. */
  temporal: FakeTemporal;
  sealer: SecretSealer;
  /** Of the worker. */
  secrets: WorkerSecrets;
  /** Until the end of the test. */
  start(over?: Partial<RelayOptions>): Promise<void>;
}

/** `usual`: of each relay that the file starts. */
export function secretsStand(usual: Partial<RelayOptions>): SecretsStand {
  const box = generateBoxRing("secrets");
  const relays: Relay[] = [];
  const stand = {
    sealer: new SecretSealer(KeyRing.parse(box.publicRing)),
    secrets: new WorkerSecrets(KeyRing.parse(box.privateRing)),
    async start(over = {}) {
      const relay = await startRelay({
        pool: stand.database.pool,
        ring,
        bodyKeys,
        ...(await callbackParsers({ accounts: {} })),
        clientFor: () => stand.temporal,
        sealSecret: (secret, processKey) => stand.sealer.seal(secret, processKey),
        leaseMs: 1_000,
        signalTimeoutMs: 300,
        ...usual,
        ...over,
      });
      relays.push(relay);
    },
  } as SecretsStand;

  beforeAll(async () => {
    stand.database = await testDatabase();
    stand.archive = new CallbackArchive(stand.database.pool);
    const sealers = sealersIn();
    const times = { leaseMs: 1_000, lookUpSpacingMs: 1_000 };
    stand.journal = new Journal(stand.database.pool, sealers, times);
  });
  beforeEach(() => {
    stand.temporal = new FakeTemporal();
  });
  afterEach(async () => {
    await Promise.all(relays.splice(0).map((relay) => relay.close()));
    await stand.database.pool.query(
      "truncate trustflow.callbacks, trustflow.correlations, trustflow.event_secrets, trustflow.unaddressed_tokens",
    );
  });
  afterAll(() => stand.database?.close());
  return stand;
}
