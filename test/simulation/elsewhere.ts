// What goes wrong around the calls to the providers: an account that is denied, look-ups that lag behind, answers that outlast a lease.
import { AsyncResource } from "node:async_hooks";
import type { ConnectionAttempt, ExchangeFault, SeenRequest } from "./doors/sockets.js";
import { during } from "./stage.js";
import type { Stage } from "./stage.js";

const SECOND_MS = 1_000;
/** Two look-ups `journal.lookUpSpacingSeconds` apart have to miss an item before it counts as absent. */
const LONGEST_LAG_MS = 50 * SECOND_MS;

/** A call of a worker to a provider. */
export const isProvider = ({ to, from }: ConnectionAttempt) =>
  to?.name === "providers" && from?.name === "worker";

/** All credentials of the account are changed at the provider, and later changed back. */
export function denyAccount({ system, world, say }: Stage, forMs: number): void {
  const { accounts } = system.sandbox;
  const before = accounts.get("sandbox");
  if (!before || before.password !== "sandbox") return;
  const { password, apiKey, token, apiToken } = before;
  const other = { password: "no", apiKey: "no", token: "no", apiToken: "no" };
  accounts.change("sandbox", other);
  world.after(forMs, () => {
    const own = { apiKey, token, apiToken };
    const given = Object.entries(own).filter(([, value]) => value !== undefined);
    accounts.change("sandbox", { password, ...Object.fromEntries(given) });
    say("the provider accepts the account again");
  });
}

/**
 * What is made while it lasts can be found a while later; and some calls are done without an answer, so that the provider would do them
 * once more under the same token.
 */
export function lagLookUps({ system, random }: Stage, forMs: number): void {
  const ms = random.int(SECOND_MS, LONGEST_LAG_MS);
  const { faults } = system.sandbox;
  faults.add({ operation: "*", kind: "invisible", times: "always", ms, forMs });
  for (const provider of ["evi-post", "evi-notice"])
    faults.add({ operation: `${provider}.submit`, kind: "cut-after-commit", times: 3, forMs });
}

/** From now on the clocks of roles and database differ by up to so much. */
export function skewClocks({ system, database, random, checks }: Stage, mostMs: number): void {
  const skew = () => (mostMs > 0 ? random.int(-mostMs, mostMs) : 0);
  for (const role of Object.values(system.roles)) role.skewMs = skew();
  database.backend.skewMs = skew();
  checks.mostSkewMs = Math.max(checks.mostSkewMs, mostMs);
}

/** The next call is answered after its lease; its worker is killed meanwhile, and another one takes the activity over. */
export function outlastLease(
  { system, world, random }: Stage,
  forMs: number,
  once: (concerns: (request: SeenRequest) => boolean, fault: object) => void,
): void {
  const second = system.addWorker(forMs);
  let isKilled = false;
  const concerns = (request: SeenRequest) => {
    if (!isProvider(request)) return false;
    if (!isKilled) {
      const caller = [second, system.roles.worker].find(({ program }) => program === request.from);
      world.after(random.int(SECOND_MS, 29 * SECOND_MS), () => void caller?.kill(3 * SECOND_MS));
    }
    return (isKilled = true);
  };
  once(concerns, { answerDelayMs: random.int(91 * SECOND_MS, 200 * SECOND_MS) });
}

/** A request comes to the provider so late at the most, also if its caller has gone: a lease of the journal lasts longer. */
export const MOST_DELAY_MS = 80 * SECOND_MS;

/**
 * The next call that has an effect comes to the provider late. Its caller does not wait for it: it is killed, sees its connection cut, or
 * works on while Temporal hears nothing of it and gives the activity to another attempt.
 */
export function lateRequest(
  stage: Stage,
  once: (concerns: (request: SeenRequest) => boolean, fault: () => ExchangeFault) => void,
): void {
  const { system, world, random, say } = stage;
  const delayMs = random.int(15 * SECOND_MS, MOST_DELAY_MS);
  const how = random.pick(["killed", "cut", "unheard"] as const);
  let from: SeenRequest["from"];
  const concerns = (request: SeenRequest) => {
    from = request.from;
    return isProvider(request) && request.method !== "GET";
  };
  const killSoon = AsyncResource.bind((caller: SeenRequest["from"]) => {
    const roles = [...system.seconds, system.roles.worker];
    const role = roles.find(({ program }) => program === caller);
    world.after(random.int(1, 2 * SECOND_MS), () => void role?.kill(SECOND_MS));
  });
  const loseHeartbeats = AsyncResource.bind((ms: number) =>
    during(stage, "loseHeartbeats", ms, (isOn) => (system.faults.losesHeartbeats = isOn)),
  );
  once(concerns, () => {
    say(`a request is under way for ${delayMs / SECOND_MS} s, and its caller is ${how}`);
    if (how === "killed") killSoon(from);
    if (how === "unheard") loseHeartbeats(delayMs);
    return { delayMs, ...(how === "cut" && { isAbandoned: true as const }) };
  });
}
