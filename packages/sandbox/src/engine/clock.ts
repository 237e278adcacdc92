// The virtual clock and the schedule: real time × speed; manual, where only `advance` moves it; or auto, which hurries while
// something is scheduled.
// What is scheduled is data (task name and JSON), so that a snapshot can carry it over a restart.
import TinyQueue from "tinyqueue";

export interface ScheduledEntry {
  seq: number;
  /** Virtual time, milliseconds since the epoch. */
  at: number;
  task: string;
  data: unknown;
  /** The automatic clock does not hurry towards it: a person or a server of ours needs the time. */
  inRealTime?: true;
}

export type TaskHandler = (data: never, at: number) => void | Promise<void>;
export type Speed = number | "manual" | "auto";

export interface ClockState {
  now: number;
  wall: number;
  seq: number;
  entries: ScheduledEntry[];
}

/** Of the automatic clock while something is scheduled: a day passes in 4.3 seconds. */
const HURRIED_SPEED = 20_000;
const MAX_TIMER_MS = 2_147_483_647;
const ENTRIES_PER_TURN = 500;

export class Clock {
  #queue = emptyQueue();
  readonly #handlers = new Map<string, TaskHandler>();
  readonly #derived = new Set<string>();
  readonly #inFlight = new Set<Promise<void>>();
  #speed: Speed;
  /** How many scheduled entries the automatic clock hurries to. */
  #hurried = 0;
  #base: number;
  #realBase = performance.now();
  #frozen: number | undefined;
  #seq = 0;
  #timer: NodeJS.Timeout | undefined;
  #running = false;
  #walk: Promise<unknown> = Promise.resolve();

  constructor(startAt: number, speed: Speed) {
    this.#base = startAt;
    this.#speed = speed;
  }

  /** Virtual milliseconds since the epoch. */
  now(): number {
    return (
      this.#frozen ?? Math.floor(this.#base + (performance.now() - this.#realBase) * this.#factor)
    );
  }

  get speed(): Speed {
    return this.#speed;
  }

  setSpeed(speed: Speed): void {
    this.#rebase(this.now());
    this.#speed = speed;
    this.#arm();
  }

  get pending(): number {
    return this.#queue.length;
  }

  get next(): number | undefined {
    return this.#queue.peek()?.at;
  }

  /** A derived task is scheduled again by its owner at load, and is not part of a snapshot. */
  on(task: string, handler: TaskHandler, options: { isDerived?: boolean } = {}): void {
    this.#handlers.set(task, handler);
    if (options.isDerived) this.#derived.add(task);
  }

  schedule(at: number, task: string, data: unknown, how: { inRealTime?: true } = {}): void {
    this.#push({ seq: this.#seq++, at, task, data, ...how });
    this.#arm();
  }

  /** Moves the clock on; what falls due runs in order, and each instant is finished before the next begins. */
  advance(ms: number): Promise<{ now: number; ran: number }> {
    const walk = this.#walk.then(() => this.#advance(ms));
    this.#walk = walk.catch(() => undefined);
    return walk;
  }

  start(): void {
    this.#running = true;
    this.#arm();
  }

  async stop(): Promise<void> {
    this.#running = false;
    clearTimeout(this.#timer);
    await Promise.allSettled([...this.#inFlight, this.#walk]);
  }

  clear(): void {
    this.#empty();
    this.#arm();
  }

  save(): ClockState {
    const entries = this.#queue.data.filter((entry) => !this.#derived.has(entry.task));
    return { now: this.now(), wall: Date.now(), seq: this.#seq, entries };
  }

  /** Goes on where it stood; the pause counts as real time, whatever the speed. */
  load(state: ClockState): void {
    this.#empty();
    for (const entry of state.entries) this.#push(entry);
    this.#seq = state.seq;
    const pause = this.#speed === "manual" ? 0 : Math.max(0, Date.now() - state.wall);
    this.#rebase(state.now + pause);
    this.#arm();
  }

  /** Virtual seconds per second. */
  get #factor(): number {
    if (this.#speed === "manual") return 0;
    if (this.#speed === "auto") return this.#hurried > 0 ? HURRIED_SPEED : 1;
    return this.#speed;
  }

  #push(entry: ScheduledEntry): void {
    this.#queue.push(entry);
    if (!entry.inRealTime) this.#hurry(this.#hurried + 1);
  }

  #pop(): void {
    if (this.#queue.pop()?.inRealTime === undefined) this.#hurry(this.#hurried - 1);
  }

  #empty(): void {
    this.#queue = emptyQueue();
    this.#hurry(0);
  }

  /** Past time counts at the previous speed. */
  #hurry(hurried: number): void {
    if (this.#hurried === 0 || hurried === 0) this.#rebase(this.now());
    this.#hurried = hurried;
  }

  #rebase(now: number): void {
    this.#base = now;
    this.#realBase = performance.now();
  }

  async #advance(ms: number): Promise<{ now: number; ran: number }> {
    clearTimeout(this.#timer);
    const end = this.now() + ms;
    let ran = 0;
    try {
      for (let head = this.#queue.peek(); head && head.at <= end; head = this.#queue.peek()) {
        this.#frozen = Math.max(this.now(), head.at);
        const group: Promise<void>[] = [];
        for (
          let due = this.#queue.peek();
          due && due.at <= this.#frozen;
          due = this.#queue.peek()
        ) {
          this.#pop();
          group.push(this.#perform(due));
          ran += 1;
        }
        await Promise.all(group);
        if (!this.#running) break;
      }
    } finally {
      this.#frozen = undefined;
      this.#rebase(end);
      this.#arm();
    }
    return { now: end, ran };
  }

  #arm(): void {
    clearTimeout(this.#timer);
    const head = this.#queue.peek();
    const factor = this.#factor;
    if (!this.#running || factor === 0 || this.#frozen !== undefined || !head) return;
    const delay = Math.min(MAX_TIMER_MS, Math.max(0, (head.at - this.now()) / factor));
    this.#timer = setTimeout(() => this.#runDue(), Math.ceil(delay));
  }

  #runDue(): void {
    for (let count = 0; count < ENTRIES_PER_TURN; count += 1) {
      const head = this.#queue.peek();
      if (!head || head.at > this.now()) break;
      this.#pop();
      void this.#perform(head);
    }
    this.#arm();
  }

  #perform(entry: ScheduledEntry): Promise<void> {
    const handler = this.#handlers.get(entry.task);
    const done = (async () => handler?.(entry.data as never, entry.at))().catch(
      (error: unknown) => {
        process.emitWarning(`sandbox task ${entry.task} failed: ${String(error)}`);
      },
    );
    this.#inFlight.add(done);
    void done.then(() => this.#inFlight.delete(done));
    return done;
  }
}

/** The earliest entry first; of one instant, the one that was scheduled first. */
function emptyQueue(): TinyQueue<ScheduledEntry> {
  return new TinyQueue<ScheduledEntry>([], (a, b) => a.at - b.at || a.seq - b.seq);
}
