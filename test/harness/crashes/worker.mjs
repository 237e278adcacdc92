// A worker of the build that can be held at a chosen point of a chosen activity, to be killed or stopped there from outside.
// Says on stdout where it holds; SIGUSR2 lets all go on. Production code knows nothing of it: it hands in a pool that waits
// around the journal's statements, and an agent that waits before a request goes out.
import http from "node:http";
import { activityInfo } from "@temporalio/activity";

/** @param {string} path */
const built = (path) => import(new URL(`../../../dist/${path}.js`, import.meta.url).href);
const { loadConfig } = await built("config");
const { createPool } = await built("postgres/pool");
const { installRuntime } = await built("temporal/logging");
const { exitWithParent } = await built("local/processes/parent-watch");
const { startWorker } = await built("worker");

/** @type {Record<string, { activity: string, hold: string }>} by workflow id */
const plan = JSON.parse(process.env["CRASH_PLAN"] ?? "{}");
/** @type {Set<string>} */
const reached = new Set();
/** @type {(() => void)[]} */
const held = [];

/** @param {object} line */
function say(line) {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/**
 * The workflow whose running activity is to be held here, the first time it comes by.
 * @param {string} hold
 */
function toHold(hold) {
  let info;
  try {
    info = activityInfo();
  } catch {
    return undefined;
  }
  const id = info.workflowExecution?.workflowId ?? "";
  const wanted = plan[id];
  const fits = wanted?.activity === info.activityType && wanted.hold === hold && !reached.has(id);
  if (!fits) return undefined;
  reached.add(id);
  say({ reached: id });
  return id;
}

/** @param {string} hold */
async function pass(hold) {
  const id = toHold(hold);
  if (id === undefined) return;
  await new Promise((resolve) => held.push(() => resolve(undefined)));
  say({ passed: id });
}

/** @typedef {string | { text: string }} Statement */

/** @param {{ query(statement: Statement, values?: unknown[]): Promise<{ rowCount: number | null }> }} pool */
function holding(pool) {
  /**
   * @param {Statement} statement
   * @param {unknown[]} [values]
   */
  const query = async (statement, values) => {
    const text = typeof statement === "string" ? statement : statement.text;
    const answers = /set state = 'answered'/.test(text);
    if (answers) await pass("beforeAnswerIsStored");
    const result = await pool.query(statement, values);
    if (result.rowCount === 1) {
      if (answers) await pass("afterAnswerIsStored");
      else if (/insert into trustflow\.effects|set state = 'sending'/.test(text))
        await pass("afterTake");
    }
    return result;
  };
  return new Proxy(pool, {
    get(target, name) {
      if (name === "query") return query;
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** @type {{ addRequest(request: unknown, ...rest: unknown[]): void }} */
const agent = /** @type {any} */ (http.Agent.prototype);
const { addRequest } = agent;
agent.addRequest = function (request, ...rest) {
  const go = () => addRequest.call(this, request, ...rest);
  const id = toHold("beforeRequest");
  if (id === undefined) return go();
  held.push(() => {
    go();
    say({ passed: id });
  });
};

exitWithParent();
process.on("SIGUSR2", () => {
  for (const release of held.splice(0)) release();
});
const config = loadConfig();
installRuntime({ level: config.log.level });
const running = await startWorker(config, holding(createPool(config.database.url.reveal())));
say({ ready: "crash-worker" });
await running.run;
