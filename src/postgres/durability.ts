// Checks that PostgreSQL keeps committed data after a crash of the server and after a failover (docs/design.md §6). The
// journal and acknowledged callbacks are only as durable as these settings.
import type { Pool } from "./pool.js";

export interface Durability {
  /** Settings that lose commits, each with what it loses: nothing may be sent on the word of such a server. */
  problems: string[];
  /** Each says what a failover may lose. */
  warnings: string[];
}

interface Settings {
  fsync: string;
  fullPageWrites: string;
  /** A session of this user begins with it, before pool.ts sets its own. */
  commitLevel: string;
  standbyNames: string;
  asynchronousStandbys: number;
}

/** They wait for no standby. */
const localLevels = new Set(["off", "local"]);

export async function durabilityOf(pool: Pool): Promise<Durability> {
  // Without the right to read the states of standbys, each one counts as asynchronous unless some are named as synchronous.
  const { rows } = await pool.query<Settings>(
    `select current_setting('fsync') as fsync, current_setting('full_page_writes') as "fullPageWrites",
       (select reset_val from pg_settings where name = 'synchronous_commit') as "commitLevel",
       current_setting('synchronous_standby_names') as "standbyNames",
       (select count(*)::int from pg_stat_replication r
        where coalesce(r.state, 'streaming') <> 'backup'
          and coalesce(r.sync_state = 'async', current_setting('synchronous_standby_names') = '')
          and r.pid not in (select active_pid from pg_replication_slots
                            where slot_type = 'logical' and active_pid is not null)) as "asynchronousStandbys"`,
  );
  const [settings] = rows;
  return settings ? judge(settings) : { problems: [], warnings: [] };
}

function judge(settings: Settings): Durability {
  const { fsync, fullPageWrites, commitLevel, standbyNames, asynchronousStandbys } = settings;
  const waits = !localLevels.has(commitLevel);
  return {
    problems: [
      fsync !== "on" && "fsync is off: a crash of the server loses committed data",
      fullPageWrites !== "on" &&
        "full_page_writes is off: a crash of the server may leave damaged pages",
      standbyNames !== "" &&
        !waits &&
        `synchronous_standby_names is set, but synchronous_commit is ${commitLevel}, which waits for no standby: a failover loses committed data`,
    ].filter((problem) => problem !== false),
    warnings: [
      asynchronousStandbys > 0 &&
        `${asynchronousStandbys} standby(s) replicate asynchronously: a failover to one of them loses the last commits, such as sent effects and acknowledged callbacks`,
    ].filter((warning) => warning !== false),
  };
}
