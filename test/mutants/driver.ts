// What scripts/mutants.mjs runs: the named tests once to see which of them reach a mutant, and then for each mutant those that do, all in
// one process, because a new one loads all modules again.
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterAll, afterEach, beforeAll, beforeEach, describe, test } from "vitest";
import type { RunnerTask, RunnerTestCase, RunnerTestSuite } from "vitest";
import { getFn, setFn } from "vitest/suite";

type Counts = Record<string, number>;
interface Reached {
  /** While modules are loaded. */
  static: Counts;
  perTest: Record<string, Counts>;
  /** How long each test takes without a mutant, by its name. */
  tookMs?: Record<string, number>;
}
/** The mutants read and write these members (Stryker). */
interface Switch {
  activeMutant?: string | undefined;
  currentTestId?: string;
  mutantCoverage?: Reached;
  hitCount?: number;
  hitLimit?: number;
}

const { MUTANTS_FOLDER: folder = "", MUTANTS_PASS: pass = "", MUTANTS_TESTS = "" } = process.env;
const files = MUTANTS_TESTS.split(",");
const mutant: Switch = {};
Object.assign(globalThis, { __stryker__: mutant });
const resultsFile = join(folder, "results.jsonl");
const reachedFile = join(folder, "reached.json");

function read<T>(name: string): T {
  return JSON.parse(readFileSync(join(folder, name), "utf8")) as T;
}

// Those of a test's own clock are others.
const now = performance.now.bind(performance);
const { setTimeout: startTimer, clearTimeout: endTimer } = globalThis;

/** How long a test may take with a mutant. */
const limitMs = (tookMs: number) => 2_000 + 4 * tookMs;

const hooksOf = (file: string) => `hooks of ${file}`;

/** Of a test: its file and its titles. */
function nameOf(file: string, task: Readonly<RunnerTask>): string {
  const titles: string[] = [];
  for (let one: RunnerTask | undefined = task; one && one.name !== file; one = one.suite)
    titles.unshift(one.name);
  return [file, ...titles].join(" > ");
}

/** The test itself; a suite, which fails with it, only where its hooks fail. */
function failedIn(task: RunnerTask): RunnerTask | undefined {
  const within = task.type === "suite" ? task.tasks.map(failedIn).find(Boolean) : undefined;
  return (
    within ?? (task.result?.state === "fail" || task.result?.errors?.length ? task : undefined)
  );
}

function findWhatIsReached(): void {
  const tookMs: Record<string, number> = {};
  let beganAt = 0;
  for (const file of files)
    describe(file, async () => {
      const outsideOfTests = () => void (mutant.currentTestId = hooksOf(file));
      beforeAll(outsideOfTests);
      beforeEach(({ task }) => {
        mutant.currentTestId = nameOf(file, task);
        beganAt = now();
      });
      afterEach(({ task }) => {
        outsideOfTests();
        tookMs[nameOf(file, task)] = now() - beganAt;
      });
      await import(file);
    });
  afterAll(() => writeFileSync(reachedFile, JSON.stringify({ ...mutant.mutantCoverage, tookMs })));
}

/** Ends this process where a mutant never lets it go on: a new process tries the others. */
function endIfStuck(): void {
  const kill = `process.kill(process.pid, "SIGKILL")`;
  const watch = `let timer;
    require("node:worker_threads").parentPort.on("message", () => {
      clearTimeout(timer);
      timer = setTimeout(() => ${kill}, 30_000);
    });`;
  const watcher = new Worker(watch, { eval: true });
  watcher.unref();
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is no window
  setInterval(() => watcher.postMessage("it goes on"), 1_000).unref();
}

function tryEach(): void {
  endIfStuck();
  const reached = read<Reached>("reached.json");
  const said = readFileSync(resultsFile, "utf8").split("\n").filter(Boolean);
  const known = new Set(said.map((line) => (JSON.parse(line) as { id: string }).id));
  for (const { id } of read<{ id: string }[]>("mutants.json"))
    if (!known.has(id)) tryOne(id, reached);
}

function tryOne(id: string, { static: loaded, perTest, tookMs = {} }: Reached): void {
  const say = (state: string, by?: string) =>
    appendFileSync(resultsFile, `${JSON.stringify({ id, state, by })}\n`);
  const names = Object.keys(perTest).filter((name) => perTest[name]?.[id]);
  const own = files.filter((file) =>
    names.some((name) => name === hooksOf(file) || name.startsWith(`${file} > `)),
  );
  if (own.length === 0) return say(loaded[id] ? "static" : "unreached");
  const title = `mutant ${id}`;
  let whole: RunnerTestSuite | undefined;
  describe(title, () => {
    beforeAll(() => {
      const hits = names.reduce((sum, name) => sum + (perTest[name]?.[id] ?? 0), 0);
      // One that never ends throws.
      Object.assign(mutant, { activeMutant: id, hitCount: 0, hitLimit: 1_000 + 100 * hits });
      // Until its end is known: it may end this process.
      say("late");
    });
    for (const file of own)
      describe(file, async () => {
        // Before what the file makes for its tests.
        beforeAll(() => {
          if (whole && failedIn(whole)) throw new Error("another file has killed it");
        });
        beforeEach(({ task, skip }) => {
          for (let one = task.suite; one; one = one.suite) if (one.name === title) whole = one;
          const name = nameOf(file, task);
          const isReached = names.includes(hooksOf(file)) || names.includes(name);
          if (!isReached || (whole && failedIn(whole))) skip();
          limit(task, limitMs(tookMs[name] ?? 0));
        });
        await import(`${file}?mutant=${id}`);
      });
    afterAll(() => {
      mutant.activeMutant = undefined;
      // No test began: the set-up of its file fails.
      const failed = whole ? failedIn(whole) : { name: "its set-up" };
      const isLate =
        failed && "result" in failed && /timed out/.test(failed.result?.errors?.[0]?.message ?? "");
      say(failed ? (isLate ? "late" : "killed") : "survived", failed?.name);
    });
  });
}

/** So that a mutant costs little whose test waits for what never comes. */
function limit(task: Readonly<RunnerTestCase>, ms: number): void {
  const run = getFn(task);
  setFn(task, async () => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = startTimer(() => reject(new Error(`timed out after ${ms} ms`)), ms);
    });
    await Promise.race([run(), late]).finally(() => endTimer(timer));
  });
}

if (pass === "reach") findWhatIsReached();
else tryEach();
test("the driver itself", () => undefined);
