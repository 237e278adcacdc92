// PostgreSQL for the pool of production code: PGlite behind the in-memory network, spoken to by the unchanged driver. PGlite reads
// the clock by Date.now, so now() and clock_timestamp() are virtual. It has one session. A connection with an open transaction owns
// it and the others wait, so races between transactions, row locks and isolation are not shown. All connect as the owner: rights
// are not shown either. A statement takes no time. Each connection has its own prepared statements, LISTEN, session advisory locks
// and statement timeout, which ends a wait for the session.
import { PGlite } from "@electric-sql/pglite";
import type { Random } from "../random.js";
import type { Program, World } from "../world.js";
import type { Endpoint, Network } from "./sockets.js";

export interface Statement {
  /** Who sent it. */
  from: Program | undefined;
  text: string;
}

interface Unit {
  text: string;
  bytes: Buffer;
  stopWaiting?: () => void;
}

const PORT = 5432;
/** No other wait of a program for itself takes so long. */
const PEEK_MS = 1_000;
const SSL_REQUEST = 80_877_103;
const STARTUP = 196_608;

/** Emulated, because all connections share the session that PostgreSQL would tie a lock to. */
const LOCKS = `
  create schema if not exists simulated;
  create table if not exists simulated.locks (key bigint primary key, holder int not null);
  create or replace function simulated.try_lock(who int, lock bigint) returns boolean language sql as $$
    insert into simulated.locks values (lock, who) on conflict do nothing;
    select holder = who from simulated.locks where key = lock $$;
  create or replace function simulated.unlock(who int, lock bigint) returns boolean language sql as $$
    with gone as (delete from simulated.locks where key = lock and holder = who returning 1) select exists (select from gone) $$;
  truncate simulated.locks;`;

export class Database {
  readonly url = `postgres://postgres@postgres:${PORT}/postgres`;
  /** PGlite runs as it; its clock may be skewed. It has ended, so that PGlite's own timers (for statistics) never fire. */
  readonly backend: Program;
  /** Faults: cuts the connection of a statement, before it runs or with its answer. */
  onStatement: (statement: Statement) => "cutBefore" | "cutAfter" | undefined = () => undefined;
  readonly #world: World;
  readonly #network: Network;
  readonly #pg: PGlite;
  readonly #random: Random;
  readonly #connections = new Set<Connection>();
  readonly #waiting: Connection[] = [];
  /** What ended connections leave to do. */
  readonly #leftOver: string[] = [];
  #owner: Connection | undefined;
  #stop: () => void = () => undefined;
  /** A second outage takes the place of one that is not over. */
  #stopAway: () => void = () => undefined;
  #lastId = 0;
  /** How many statements may have changed something. */
  #changes = 0;
  readonly #known = new Map<string, { changes: number; hasRow: boolean }>();

  private constructor(network: Network, backend: Program, pg: PGlite) {
    this.#network = network;
    this.#world = network.world;
    this.#pg = pg;
    this.#random = this.#world.fork("database");
    this.backend = backend;
    this.execute(query(LOCKS));
    this.#listen();
  }

  /** On the content of `dump`, or empty. */
  static async open(network: Network, dump?: Blob): Promise<Database> {
    const backend = network.world.program("postgres backend");
    backend.kill();
    const options = dump ? { loadDataDir: dump } : {};
    return new Database(network, backend, await backend.run(() => PGlite.create(options)));
  }

  /** For `open`; a fresh world begins on it in half a second. */
  dump(): Promise<Blob> {
    return this.backend.run(() => this.#pg.dumpDataDir("none"));
  }

  /** For checks of the harness, past all connections; only while no transaction is open. */
  async rows<R>(sql: string, values: unknown[] = []): Promise<R[]> {
    if (this.#owner) throw new Error("a transaction is open");
    return (await this.backend.run(() => this.#pg.query<R>(sql, values))).rows;
  }

  /** Whether this gives a row; past all connections, and only while no transaction is open. Asked again only after a change. */
  hasRow(sql: string): boolean {
    const known = this.#known.get(sql);
    if (known?.changes === this.#changes) return known.hasRow;
    const hasRow = has("D", this.execute(query(sql)));
    this.#known.set(sql, { changes: this.#changes, hasRow });
    return hasRow;
  }

  /** Whether a connection has an open transaction. */
  get isBusy(): boolean {
    return this.#owner !== undefined;
  }

  /** Cuts all connections, with rollback, and refuses new ones for so long. */
  away(ms: number): void {
    this.#stop();
    for (const connection of this.#connections) connection.cut();
    this.#stopAway();
    this.#stopAway = this.#world.after(ms, () => this.#listen());
  }

  async close(): Promise<void> {
    this.#stop();
    await this.backend.run(() => this.#pg.close());
  }

  #listen(): void {
    this.#world.program("postgres").run(() => {
      const accept = (endpoint: Endpoint) =>
        void this.#connections.add(new Connection(this, endpoint, ++this.#lastId));
      const { close } = this.#network.listen("postgres", PORT, { accept });
      this.#stop = close;
    });
  }

  execute(bytes: Buffer): Buffer {
    return this.backend.run(() => Buffer.from(this.#pg.execProtocolRawSync(bytes)));
  }

  /** Runs the connection's next unit now, or once the transaction of another one has ended. */
  arrived(connection: Connection, unit: Unit): void {
    if (this.#owner === connection || (!this.#owner && this.#waiting.length === 0))
      return this.#run(connection, unit);
    connection.units.push(unit);
    this.#waiting.push(connection);
    if (isRead(unit.text)) this.#world.after(PEEK_MS, () => this.#peek(connection, unit));
    if (connection.timeoutMs > 0)
      unit.stopWaiting = this.#world.after(connection.timeoutMs, () => {
        connection.units.splice(connection.units.indexOf(unit), 1);
        this.#waiting.splice(this.#waiting.indexOf(connection), 1);
        connection.answer(timedOut());
      });
  }

  #run(connection: Connection, unit: Unit): void {
    const cut = this.onStatement({ from: connection.program, text: unit.text });
    if (cut === "cutBefore") return connection.cut();
    this.#world.trace("sql", connection.program?.name ?? "-", unit.bytes.length);
    if (!isRead(unit.text)) this.#changes += 1;
    const { answer, status, news } = split(this.execute(unit.bytes));
    connection.status = status;
    this.#owner = status === "I" ? undefined : connection;
    for (const { channel, message } of news)
      for (const one of this.#connections) if (one.channels.has(channel)) one.answer(message);
    if (cut === "cutAfter") return connection.cut();
    connection.answer(answer);
    this.#next();
  }

  /**
   * A program that reads by a second connection, while its first one is in a transaction, would wait for itself: PostgreSQL has a session
   * for each. It sees here what is not committed.
   */
  #peek(connection: Connection, unit: Unit): void {
    const at = connection.units.indexOf(unit);
    const owner = this.#owner;
    if (at < 0 || owner?.program !== connection.program || owner?.status !== "T") return;
    connection.units.splice(at, 1);
    this.#waiting.splice(this.#waiting.indexOf(connection), 1);
    unit.stopWaiting?.();
    const { answer, status } = split(this.execute(unit.bytes));
    if (status !== "T")
      throw new Error(`a read has failed in the transaction of another: ${unit.text}`);
    connection.answer(Buffer.concat([answer.subarray(0, -1), Buffer.from("I")]));
  }

  #next(): void {
    // Not in the transaction of another one, whose rollback would take it back.
    if (!this.#owner) for (const sql of this.#leftOver.splice(0)) this.execute(query(sql));
    while (!this.#owner && this.#waiting.length > 0) {
      const [next] = this.#waiting.splice(this.#random.int(0, this.#waiting.length), 1);
      const unit = next?.units.shift();
      unit?.stopWaiting?.();
      if (next && unit) this.#run(next, unit);
    }
  }

  /** What PostgreSQL does when a session ends. */
  ended(connection: Connection): void {
    if (!this.#connections.delete(connection)) return;
    for (const unit of connection.units) unit.stopWaiting?.();
    for (let at = this.#waiting.length - 1; at >= 0; at -= 1)
      if (this.#waiting[at] === connection) this.#waiting.splice(at, 1);
    const isOwner = this.#owner === connection;
    if (isOwner) this.execute(query("rollback"));
    this.#owner = isOwner ? undefined : this.#owner;
    this.#leftOver.push(...connection.leftOver());
    this.#next();
  }
}

class Connection {
  readonly program: Program | undefined;
  readonly channels = new Set<string>();
  readonly units: Unit[] = [];
  status = "I";
  timeoutMs = 0;
  readonly #database: Database;
  readonly #endpoint: Endpoint;
  readonly #id: number;
  readonly #names = new Set<string>();
  #startTimeoutMs = 0;
  #hasLocks = false;
  #isStarted = false;
  #input: Buffer = Buffer.alloc(0);
  #batch: Buffer[] = [];
  #texts: string[] = [];

  constructor(database: Database, endpoint: Endpoint, id: number) {
    this.#database = database;
    this.#endpoint = endpoint;
    this.#id = id;
    this.program = endpoint.peer?.program;
    endpoint.on("data", (chunk: Buffer) => this.#read(chunk));
    endpoint.on("error", () => undefined);
    endpoint.on("end", () => endpoint.end());
    endpoint.on("close", () => database.ended(this));
  }

  answer(bytes: Buffer): void {
    if (this.#endpoint.writable) this.#endpoint.write(bytes);
  }

  cut(): void {
    this.#endpoint.destroy();
    this.#database.ended(this);
  }

  leftOver(): string[] {
    const names = [...this.#names].map((name) => `deallocate "${name}"`);
    return this.#hasLocks
      ? [...names, `delete from simulated.locks where holder = ${this.#id}`]
      : names;
  }

  #read(chunk: Buffer): void {
    this.#input = Buffer.concat([this.#input, chunk]);
    for (;;) {
      const head = this.#isStarted ? 1 : 0;
      if (this.#input.length < head + 4) return;
      const end = head + this.#input.readInt32BE(head);
      if (this.#input.length < end) return;
      const message = this.#input.subarray(0, end);
      this.#input = this.#input.subarray(end);
      if (this.#isStarted)
        this.#take(String.fromCharCode(message[0] as number), message.subarray(5));
      else this.#start(message);
    }
  }

  #start(message: Buffer): void {
    const code = message.readInt32BE(4);
    if (code === SSL_REQUEST) return this.answer(Buffer.from("N"));
    if (code !== STARTUP) return this.cut();
    const given = message.subarray(8).toString().split("\0");
    const at = given.indexOf("statement_timeout");
    this.timeoutMs = this.#startTimeoutMs = at < 0 ? 0 : Number(given[at + 1]);
    this.#isStarted = true;
    const parameters = {
      server_version: "18.0",
      client_encoding: "UTF8",
      DateStyle: "ISO, MDY",
      TimeZone: "UTC",
      integer_datetimes: "on",
      standard_conforming_strings: "on",
    };
    const secret = Buffer.alloc(8);
    secret.writeInt32BE(this.#id);
    this.answer(
      Buffer.concat([
        reply("R", Buffer.alloc(4)),
        ...Object.entries(parameters).map(([name, value]) => reply("S", text(name), text(value))),
        reply("K", secret),
        this.#ready(),
      ]),
    );
  }

  #ready(): Buffer {
    return reply("Z", Buffer.from(this.status));
  }

  /** One message of the driver: a whole query, or a part of one that ends with Sync. */
  #take(type: string, body: Buffer): void {
    if (type === "X") return void this.#endpoint.end();
    if (type === "H") return;
    if (type === "Q") {
      const sql = body.toString("utf8", 0, body.length - 1);
      if (this.#isTimeout(sql))
        return this.answer(Buffer.concat([reply("C", text("SET")), this.#ready()]));
      return this.#database.arrived(this, { text: sql, bytes: query(this.#rewritten(sql)) });
    }
    this.#batch.push(this.#renamed(type, body));
    if (type !== "S") return;
    const unit = { text: this.#texts.join("; "), bytes: Buffer.concat(this.#batch) };
    this.#batch = [];
    this.#texts = [];
    this.#database.arrived(this, unit);
  }

  /** Names of prepared statements are those of the connection. */
  #renamed(type: string, body: Buffer): Buffer {
    if (type === "P") {
      const [name, sql] = [cut(body, 0), cut(body, body.indexOf(0) + 1)];
      this.#texts.push(sql);
      const rest = body.subarray(Buffer.byteLength(name) + Buffer.byteLength(sql) + 2);
      return reply("P", this.#own(name), text(this.#rewritten(sql)), rest);
    }
    if (type === "B") {
      const from = body.indexOf(0) + 1;
      const name = cut(body, from);
      this.#texts.push(`bind ${name}`);
      return reply(
        "B",
        body.subarray(0, from),
        this.#own(name),
        body.subarray(from + Buffer.byteLength(name) + 1),
      );
    }
    if ((type === "D" || type === "C") && body[0] === "S".charCodeAt(0))
      return reply(type, body.subarray(0, 1), this.#own(cut(body, 1)));
    return reply(type, body);
  }

  #own(name: string): Buffer {
    if (name === "") return text("");
    const own = `${this.#id}:${name}`;
    this.#names.add(own);
    return text(own);
  }

  #rewritten(sql: string): string {
    for (const [, channel] of sql.matchAll(/^\s*listen\s+"?(\w+)"?/gi))
      this.channels.add(channel as string);
    if (!/advisory|fsync/.test(sql)) return sql;
    this.#hasLocks ||= /pg_try_advisory_lock/.test(sql);
    return sql
      .replaceAll(/pg_try_advisory_lock\(/g, `simulated.try_lock(${this.#id}, `)
      .replaceAll(/pg_advisory_unlock\(/g, `simulated.unlock(${this.#id}, `)
      .replaceAll("current_setting('fsync')", "'on'");
  }

  #isTimeout(sql: string): boolean {
    const set = /^set statement_timeout = (\d+)$/i.exec(sql);
    if (!set && !/^reset statement_timeout$/i.test(sql)) return false;
    this.timeoutMs = set ? Number(set[1]) : this.#startTimeoutMs;
    return true;
  }
}

function has(type: string, output: Buffer): boolean {
  const code = type.charCodeAt(0);
  for (let at = 0; at < output.length; at += 1 + output.readInt32BE(at + 1))
    if (output[at] === code) return true;
  return false;
}

/** Takes the notifications, which are for those that listen, out of an answer. */
function split(output: Buffer) {
  const parts: Buffer[] = [];
  const news: { channel: string; message: Buffer }[] = [];
  let status = "I";
  for (let at = 0; at < output.length;) {
    const end = at + 1 + output.readInt32BE(at + 1);
    const message = output.subarray(at, end);
    const type = String.fromCharCode(output[at] as number);
    if (type === "A") news.push({ channel: cut(message, 9), message });
    else parts.push(message);
    if (type === "Z") status = String.fromCharCode(output[at + 5] as number);
    at = end;
  }
  return { answer: Buffer.concat(parts), status, news };
}

function timedOut(): Buffer {
  const fields = [
    "SERROR",
    "VERROR",
    "C57014",
    "Mcanceling statement due to statement timeout",
    "",
  ];
  return Buffer.concat([reply("E", ...fields.map(text)), reply("Z", Buffer.from("I"))]);
}

const isRead = (sql: string) => /^\s*select\b(?!.*\bfor (update|share|no key))/is.test(sql);

function query(sql: string): Buffer {
  return reply("Q", text(sql));
}

function reply(type: string, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(4 + body.length, 1);
  return Buffer.concat([head, body]);
}

function text(value: string): Buffer {
  return Buffer.from(`${value}\0`);
}

/** The text at this place, up to its zero. */
function cut(bytes: Buffer, from: number): string {
  return bytes.toString("utf8", from, bytes.indexOf(0, from));
}
