// A relay with a real PostgreSQL; the test gives Temporal's answers, so that each can be had at will. The file that asks for it has its own
// database.
import { randomUUID } from "node:crypto";
import { ServiceError } from "@temporalio/client";
import { afterEach } from "vitest";
import type { Subject } from "../../../src/callbacks/address.js";
import { CallbackArchive } from "../../../src/callbacks/inbox/archive.js";
import { Inbox } from "../../../src/callbacks/inbox/inbox.js";
import { Arrivals } from "../../../src/callbacks/receiver/arrivals.js";
import { Relay } from "../../../src/callbacks/relay/relay.js";
import type { RelayOptions } from "../../../src/callbacks/relay/relay.js";
import { defaultQuota } from "../../../src/contracts/shared/callback-quota.js";
import { Journal } from "../../../src/journal/journal.js";
import { ofFile } from "../../harness/of-file.js";
import { until } from "../../harness/outages/wait.js";
import { testDatabase } from "../../harness/stack/postgres.js";
import { sealersIn } from "../../harness/stack/sealers.js";
import { bodyKeys, FakeTemporal, parsers, ring, sealRing, sources } from "../support.js";

/** `usual`: of each relay that the file starts. */
export function relayStand(usual: Partial<RelayOptions>) {
  const relays: Relay[] = [];
  const temporal = new FakeTemporal();
  const database = ofFile(() => testDatabase({ hasClock: true }));
  const archive = ofFile(() => new CallbackArchive(database.pool));
  const inbox = ofFile(() => new Inbox(database.pool));
  const times = { leaseMs: 1_000, lookUpSpacingMs: 1_000 };
  const journal = ofFile(() => new Journal(database.pool, sealersIn(), times));
  afterEach(async () => {
    await Promise.all(relays.splice(0).map((relay) => relay.close()));
    temporal.forget();
    await database.pool.query(
      `truncate trustflow.callbacks, trustflow.callback_addresses, trustflow.correlations,
         trustflow.event_secrets, trustflow.unaddressed_tokens`,
    );
  });

  const statesOf = async ({ workflowId }: { workflowId?: string } = {}) => {
    const rows = await archive.list({ ...(workflowId && { workflowId }), limit: 1_000 });
    return rows.toReversed().map(({ state, reason }) => (reason ? `${state}: ${reason}` : state));
  };

  return {
    ...{ temporal, database, archive, inbox, journal, statesOf },

    /** Until the end of the test. */
    async start(over: Partial<RelayOptions> = {}): Promise<Relay> {
      const relay = new Relay({
        ...{ pool: database.pool, ring, bodyKeys, parsers, sources, clientFor: () => temporal },
        ...usual,
        ...over,
      });
      relays.push(relay);
      await until(() => relay.health().listening);
      return relay;
    },

    /** In one commit. */
    async arrive(
      subject: Subject,
      bodies: object[],
      { sealedWith = sealRing, eventsPerProcess = 1_000 } = {},
    ): Promise<void> {
      const arrivals = bodies.map((body) => ({
        address: `address of ${JSON.stringify(subject)}`,
        identifier: (body as { Identifier?: string }).Identifier ?? randomUUID(),
        subject,
        body: Buffer.from(JSON.stringify(body)),
      }));
      const quota = { ...defaultQuota, eventsPerProcess };
      await new Arrivals(database.pool, sealedWith, quota).insert(arrivals, 10_000);
    },

    /** While the database does not have the table. */
    async without(table: string, during: () => Promise<void>): Promise<void> {
      const { pool } = database;
      await pool.query(`alter table trustflow.${table} rename to away_${table}`);
      try {
        await during();
      } finally {
        await pool.query(`alter table trustflow.away_${table} rename to ${table}`);
      }
    },

    /** In the order of arrival. */
    settled: (subject: { workflowId?: string }, states: string[]) =>
      until(async () => JSON.stringify(await statesOf(subject)) === JSON.stringify(states)),
  };
}

export const grpc = (code: number, details: string): ServiceError =>
  new ServiceError("failed", {
    cause: Object.assign(new Error(details), { code, details, metadata: {} }),
  });
