// One seeded world in one process: clock, timers and randomness of everything that runs in it. Import this file before anything
// that it is to rule: a module that is loaded earlier may have kept the real functions. Without an installed world all is as before.
// Real time passes only for real I/O (the import of a module, PGlite's start); virtual time then stands still.
import { AsyncLocalStorage, AsyncResource } from "node:async_hooks";
import { createHash } from "node:crypto";
import { createRequire, syncBuiltinESMExports } from "node:module";
import { withGlobal } from "@sinonjs/fake-timers";
import type { Clock } from "@sinonjs/fake-timers";
import { seedCrypto } from "./doors/crypto.js";
import { Random } from "./random.js";

const require = createRequire(import.meta.url);
const fakes = withGlobal(globalThis);
const native = {
  setTimeout,
  setInterval,
  clearTimeout,
  clearInterval,
  setImmediate,
  Date,
  dateNow: Date.now.bind(Date),
  random: Math.random.bind(Math),
  hrtime: process.hrtime.bind(process),
  bigint: process.hrtime.bigint.bind(process.hrtime),
  performanceNow: performance.now.bind(performance),
  abortAfter: AbortSignal.timeout.bind(AbortSignal),
};
const programs = new AsyncLocalStorage<Program>();
let current: World | undefined;
let programsMade = 0;
let pending = 0;
/** Of what other threads have done, in the order in which it was asked for. */
const unanswered: (() => void)[] = [];

/** A process of the system: everything that is started within `run` belongs to it, and ends at once with `kill`. */
export class Program {
  readonly name: string;
  readonly world: World;
  /** Unique in this Node process, also among worlds. */
  readonly id = (programsMade += 1);
  /** What its code draws from. */
  readonly random: Random;
  isAlive = true;
  /** How far its clock is ahead. */
  skewMs = 0;
  /** Of which release of the product it is; undefined: of this one. */
  release: string | undefined;
  readonly #ends = new Set<() => void>();

  /** `started`: how many programs the world has started before; one that is started again draws other numbers. */
  constructor(world: World, name: string, started: number) {
    this.world = world;
    this.name = name;
    this.random = world.fork(`program/${name}/${started}`);
  }

  run<T>(work: () => T): T {
    return programs.run(this, work);
  }

  /** Its timers never fire again, its I/O never ends, and others see its connections break. */
  kill(): void {
    if (!this.isAlive) return;
    this.isAlive = false;
    this.world.trace("kill", this.name);
    for (const end of [...this.#ends]) end();
    this.#ends.clear();
  }

  /** What a door does when the program ends; returns how to forget it. */
  atEnd(end: () => void): () => void {
    this.#ends.add(end);
    return () => void this.#ends.delete(end);
  }
}

/** The program whose code runs now; undefined in the harness itself. */
export function runningProgram(): Program | undefined {
  return programs.getStore();
}

/** The installed world, for the doors. */
export function theWorld(): World | undefined {
  return current;
}

export interface WorldOptions {
  seed: number | string;
  startAt: Date;
}

/** Of a timer in Node. */
const MAX_TIMER_MS = 2_147_483_647;
const MAX_TURNS = 1_000_000;
/** Of `process.getActiveResourcesInfo`: what ends by itself, without a timer. */
const REAL_WORK = /^(Immediate|MessagePort|.*Req(Wrap|Callback|Promise|uest)?$)/;

type Watch = (kind: string, details: readonly unknown[]) => void;

export class World {
  readonly seed: string;
  readonly clock: Clock;
  readonly startAt: number;
  /** What code outside all programs draws from. */
  readonly random: Random;
  /** Fired timers. */
  steps = 0;
  #started = 0;
  readonly #programs = new Set<Program>();
  readonly #watches = new Set<Watch>();
  readonly #hash = createHash("sha256");
  readonly #log: string[] | undefined = process.env.SIMULATION_TRACE ? [] : undefined;

  constructor({ seed, startAt }: WorldOptions) {
    this.seed = String(seed);
    this.startAt = startAt.getTime();
    this.clock = fakes.createClock(this.startAt, Number.POSITIVE_INFINITY);
    this.random = this.fork("harness");
  }

  /** Virtual milliseconds since the epoch. */
  get now(): number {
    return this.clock.now;
  }

  /** A stream of random numbers that depends on the seed and the name alone. */
  fork(name: string): Random {
    return new Random(`${this.seed}/${name}`);
  }

  program(name: string): Program {
    const made = new Program(this, name, this.#started++);
    this.#programs.add(made);
    return made;
  }

  /** Ends all programs. */
  end(): void {
    for (const program of this.#programs) program.kill();
  }

  /** Runs `work` after `ms`, in the context of the call; not at all if its program has ended by then. */
  after(ms: number, work: () => void): () => void {
    const bound = guarded(work);
    const wait = (left: number): void => {
      const next = () => (left > MAX_TIMER_MS ? wait(left - MAX_TIMER_MS) : bound());
      timer = this.clock.setTimeout(ofProgram(next), Math.min(left, MAX_TIMER_MS));
    };
    let timer: ReturnType<typeof this.clock.setTimeout>;
    wait(ms);
    return () => this.clock.clearTimeout(timer);
  }

  /** Tells `watch` of each event of the trace from now on; returns how to stop. */
  watch(watch: Watch): () => void {
    this.#watches.add(watch);
    return () => void this.#watches.delete(watch);
  }

  /** Adds an event to the hash of the trace, with the virtual time. */
  trace(kind: string, ...details: (string | number | Uint8Array)[]): void {
    for (const watch of this.#watches) watch(kind, details);
    this.#hash.update(`\n${this.now} ${kind}`);
    for (const detail of details)
      this.#hash.update(" ").update(typeof detail === "number" ? String(detail) : detail);
    this.#log?.push(
      `${this.now - this.startAt} ${kind} ${details.map((one) => (one instanceof Uint8Array ? Buffer.from(one).toString("latin1") : one)).join(" ")}`,
    );
  }

  /** The hash of the trace so far. */
  get hash(): string {
    return this.#hash.copy().digest("hex");
  }

  /** The trace itself; kept only where SIMULATION_TRACE is set. */
  get log(): readonly string[] {
    return this.#log ?? [];
  }

  /** Lets everything run that waits for no timer. */
  async drain(): Promise<void> {
    for (let turn = 0; turn < MAX_TURNS; turn += 1) {
      await new Promise<void>((resolve) => void native.setImmediate(resolve));
      if (pending > 0 || process.getActiveResourcesInfo().some((name) => REAL_WORK.test(name)))
        continue;
      const answer = unanswered.shift();
      if (!answer) return;
      answer();
    }
    throw new Error("the world does not become quiet: something waits for itself without a timer");
  }

  /** Fires the next timer, if there is one, once all else is quiet. */
  async step(): Promise<boolean> {
    await this.drain();
    if (this.clock.countTimers() === 0) return false;
    this.steps += 1;
    this.clock.next();
    return true;
  }

  /** Steps until the condition holds; throws if it does not hold within `limitMs` of virtual time. */
  async runUntil(
    condition: () => boolean | Promise<boolean>,
    { limitMs = 60_000 }: { limitMs?: number } = {},
  ): Promise<void> {
    const end = this.now + limitMs;
    for (;;) {
      await this.drain();
      if (await condition()) return;
      if (this.now > end || !(await this.step()))
        throw new Error(`not within ${limitMs} ms of virtual time`);
    }
  }

  /** Steps until the promise has settled, and returns what it gives. */
  async settle<T>(promise: Promise<T>, options: { limitMs?: number } = {}): Promise<T> {
    let isSettled = false;
    const settled = () => void (isSettled = true);
    promise.then(settled, settled);
    await this.runUntil(() => isSettled, options);
    return promise;
  }

  /** Lets so much virtual time pass. */
  async pass(ms: number): Promise<void> {
    let isOver = false;
    this.after(ms, () => (isOver = true));
    await this.runUntil(() => isOver, { limitMs: ms });
  }
}

/** Makes a world the one of this process, in place of an earlier one. */
export function installWorld(options: WorldOptions): World {
  current?.end();
  current = new World(options);
  return current;
}

/** Ends all programs; real time and real randomness again. */
export function removeWorld(): void {
  current?.end();
  current = undefined;
}

function randomHere(): Random | undefined {
  return current && (programs.getStore()?.random ?? current.random);
}

/** By its program a timer is told apart (idle.ts). */
function ofProgram<F extends (...args: never[]) => unknown>(fire: F): F {
  return Object.assign(fire, { program: programs.getStore() });
}

/** In the context of the call, and only while its program lives. */
function guarded<A extends unknown[]>(work: (...args: A) => void): (...args: A) => void {
  const program = programs.getStore();
  // AsyncResource.bind costs ten times as much in Node 20.
  const scope = new AsyncResource("Timer");
  return (...args) => {
    if (program?.isAlive !== false) scope.runInAsyncScope(work, undefined, ...args);
  };
}

function replace(target: object, values: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(values))
    Object.defineProperty(target, name, { value, configurable: true, writable: true });
}

type Callback = (...args: unknown[]) => void;

function timers() {
  const wait = (kind: "setTimeout" | "setInterval") =>
    function wait(work: Callback, ms?: number, ...args: unknown[]): unknown {
      if (!current) return native[kind](work, ms, ...args);
      const { clock } = current;
      const program = programs.getStore();
      const bound = guarded(work);
      const timer = clock[kind](
        ofProgram((...given: unknown[]) => {
          if (program?.isAlive === false) clock.clearTimeout(timer);
          else bound(...given);
        }),
        Math.max(1, ms ?? 1),
        ...args,
      );
      return timer;
    };
  const clear = (timer?: NodeJS.Timeout | number | string) => {
    const isNative = typeof timer === "object" && timer?.constructor?.name === "Timeout";
    if (current && !isNative) current.clock.clearTimeout(timer as never);
    else native.clearTimeout(timer);
  };
  const functions = {
    setTimeout: wait("setTimeout"),
    setInterval: wait("setInterval"),
    clearTimeout: clear,
    clearInterval: clear,
    setImmediate: (work: Callback, ...args: unknown[]) =>
      native.setImmediate(current ? guarded(work) : work, ...args),
  };
  Object.assign(functions.setTimeout, { [PROMISIFIED]: delay });
  Object.assign(functions.setImmediate, { [PROMISIFIED]: nativePromises.setImmediate });
  return functions;
}

const PROMISIFIED = Symbol.for("nodejs.util.promisify.custom");
const nativePromises = {
  ...(require("node:timers/promises") as typeof import("node:timers/promises")),
};

function delay<T>(
  ms?: number,
  value?: T,
  options: { signal?: AbortSignal } = {},
): Promise<unknown> {
  if (!current) return nativePromises.setTimeout(ms, value, options);
  const { signal } = options;
  return new Promise((resolve, reject) => {
    const aborted = () => {
      clearTimeout(timer);
      const error = new Error("The operation was aborted", { cause: signal?.reason });
      reject(Object.assign(error, { name: "AbortError", code: "ABORT_ERR" }));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", aborted);
      resolve(value);
    }, ms);
    if (signal?.aborted) aborted();
    else signal?.addEventListener("abort", aborted, { once: true });
  });
}

function abortAfter(ms: number): AbortSignal {
  if (!current) return native.abortAfter(ms);
  const controller = new AbortController();
  const reason = () => new DOMException("The operation was aborted due to timeout", "TimeoutError");
  setTimeout(() => controller.abort(reason()), ms);
  return controller.signal;
}

function replaceClock(): void {
  const functions = timers();
  replace(globalThis, functions);
  replace(require("node:timers") as object, functions);
  replace(require("node:timers/promises") as object, {
    setTimeout: delay,
    setInterval: () => {
      throw new Error("setInterval of node:timers/promises is not simulated");
    },
    scheduler: {
      wait: (ms: number, options?: object) => delay(ms, undefined, options),
      yield: nativePromises.setImmediate,
    },
  });
  replace(AbortSignal, { timeout: abortAfter });
  const now = () => (current ? current.now + (programs.getStore()?.skewMs ?? 0) : native.dateNow());
  replace(Date, { now });
  globalThis.Date = new Proxy(native.Date, {
    construct: (target, args, self) =>
      Reflect.construct(target, args.length === 0 && current ? [now()] : args, self) as object,
    apply: () => new Date().toString(),
  });
  const elapsed = () => (current as World).now - (current as World).startAt;
  replace(performance, { now: () => (current ? elapsed() : native.performanceNow()) });
  const bigint = () => (current ? BigInt(Math.round(elapsed() * 1e6)) : native.bigint());
  const hrtime = (since?: [number, number]) => {
    if (!current) return native.hrtime(since);
    const ms = elapsed() - (since ? since[0] * 1e3 + since[1] / 1e6 : 0);
    return [Math.floor(ms / 1e3), Math.round((ms % 1e3) * 1e6)];
  };
  replace(process, { hrtime: Object.assign(hrtime, { bigint }) });
  Math.random = () => randomHere()?.next() ?? native.random();
}

/** What other threads do, and Node does not name among its resources: no virtual time passes meanwhile. */
function awaited<T>(work: Promise<T>): Promise<T> {
  pending += 1;
  const ended = () => void (pending -= 1);
  work.then(ended, ended);
  // However fast the thread is, a program goes on once all others wait.
  if (!programs.getStore()?.isAlive) return work;
  return new Promise((resolve) => unanswered.push(() => resolve(work)));
}

/** What was imported once: the thread would be asked again each time. */
const imported = new Map<string, Promise<unknown>>();

// loader.mjs wraps each import() in it.
Object.assign(globalThis, {
  awaitedImport(what: string, load: () => Promise<unknown>): Promise<unknown> {
    const known = imported.get(what);
    if (known) return known;
    return awaited(load()).then((module) => {
      imported.set(what, Promise.resolve(module));
      return module;
    });
  },
});
// The SDK compiles the reader of source maps with it.
const { WebAssembly } = globalThis as unknown as {
  WebAssembly: Record<string, (...args: unknown[]) => Promise<unknown>>;
};
for (const name of ["compile", "instantiate"]) {
  const compile = WebAssembly[name]!;
  replace(WebAssembly, { [name]: (...args: unknown[]) => awaited(compile(...args)) });
}

/** A worker's identity has them. */
function replaceHost(): void {
  const os = require("node:os") as typeof import("node:os");
  const { hostname } = os;
  const { pid } = process;
  os.hostname = () => (current ? "simulated" : hostname());
  Object.defineProperty(process, "pid", { get: () => (current ? 1 : pid), configurable: true });
}

replaceClock();
replaceHost();
seedCrypto(randomHere);
syncBuiltinESMExports();
