// Preloaded into a role under test (`node --import`): holds its work at chosen points until the role is killed, or until SIGUSR2
// lets all go on. HOLD_FILE says which points were reached and passed. Plain JavaScript, because the role runs from dist/. Production
// code knows nothing of it.
import { appendFileSync } from "node:fs";
import http from "node:http";
import { activityInfo } from "@temporalio/activity";
import pg from "pg";

/** @typedef {import("./roles.js").Hold} Hold */

/** @type {Hold[]} */
const holds = JSON.parse(process.env["HOLDS"] ?? "[]");
/** @type {Set<Hold>} */
const over = new Set();
/** Those before a request that wait for no statement, or whose statement of `since` was committed. */
const due = new Set(holds.filter((hold) => hold.when === "beforeRequest" && !hold.since));
/** @type {(() => void)[]} */
const held = [];

/** @param {string} what */
const say = (what) => appendFileSync(process.env["HOLD_FILE"] ?? "", `${what}\n`);

function runningActivity() {
  try {
    const { activityType, workflowExecution } = activityInfo();
    return { activity: activityType, workflowId: workflowExecution?.workflowId };
  } catch {
    return undefined;
  }
}

/** Those of the activity that runs. */
function holdsHere() {
  const running = runningActivity();
  return holds.filter(
    ({ work = running }) =>
      work?.workflowId === running?.workflowId && work?.activity === running?.activity,
  );
}

/**
 * Goes on at once, unless it is held here.
 * @param {(hold: Hold) => boolean} isAt
 * @param {() => void} goOn
 */
function pass(isAt, goOn) {
  const hold = holdsHere().find((one) => isAt(one) && !over.has(one));
  if (!hold) return goOn();
  const name = hold.work?.workflowId ?? "";
  // Of one activity, its second attempt is let through.
  if (hold.work) over.add(hold);
  say(`reached ${name}`);
  held.push(() => {
    goOn();
    say(`passed ${name}`);
  });
}

const { query } = pg.Pool.prototype;
/**
 * @this {pg.Pool}
 * @param {string | { text: string }} statement
 * @param {unknown[]} rest
 */
async function holdingQuery(statement, ...rest) {
  const text = typeof statement === "string" ? statement : statement.text;
  /** @param {"before" | "after"} when */
  const passStatement = (when) =>
    new Promise((resolve) =>
      pass(
        (hold) => hold.when === when && new RegExp(hold.statement).test(text),
        () => resolve(undefined),
      ),
    );
  await passStatement("before");
  const result = await Reflect.apply(query, this, [statement, ...rest]);
  if (result.rowCount > 0) {
    for (const hold of holdsHere())
      if (hold.when === "beforeRequest" && hold.since && new RegExp(hold.since).test(text))
        due.add(hold);
    await passStatement("after");
  }
  return result;
}
Reflect.set(pg.Pool.prototype, "query", holdingQuery);

/** @type {{ addRequest(request: unknown, ...rest: unknown[]): void }} */
const agent = /** @type {any} */ (http.Agent.prototype);
const { addRequest } = agent;
agent.addRequest = function (request, ...rest) {
  pass(
    (hold) => due.has(hold),
    () => addRequest.call(this, request, ...rest),
  );
};

process.on("SIGUSR2", () => {
  for (const release of held.splice(0)) release();
});
