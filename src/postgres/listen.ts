// LISTEN on its own connection, which reconnects by itself. A notification is only a hint and may be lost, so listeners also
// read at each connect and from time to time.
import pg from "pg";
import type { Pool } from "./pool.js";

export interface Listener {
  readonly connected: boolean;
  close(): Promise<void>;
}

const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 10_000;

/** `onNews` is called at each notification and each time the connection is there (again). */
export function listen(pool: Pool, channel: string, onNews: () => void): Listener {
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let connected = false;
  let closed = false;
  let pauseMs = FIRST_PAUSE_MS;

  const connect = async (): Promise<void> => {
    const mine = new pg.Client(pool.options);
    client = mine;
    const lost = (): void => {
      if (client !== mine) return;
      client = undefined;
      connected = false;
      void mine.end().catch(() => undefined);
      if (closed) return;
      timer = setTimeout(() => void connect(), pauseMs * (0.5 + Math.random()));
      pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
    };
    mine.on("error", lost);
    mine.on("end", lost);
    mine.on("notification", onNews);
    try {
      await mine.connect();
      await mine.query(`listen ${pg.escapeIdentifier(channel)}`);
      if (client !== mine) return;
      connected = true;
      pauseMs = FIRST_PAUSE_MS;
      onNews();
    } catch {
      lost();
    }
  };
  void connect();

  return {
    get connected() {
      return connected;
    },
    async close() {
      closed = true;
      connected = false;
      clearTimeout(timer);
      const last = client;
      client = undefined;
      await last?.end().catch(() => undefined);
    },
  };
}
