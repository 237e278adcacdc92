// What goes wrong in a simulation, and how it is done to the doors.
import type { Network, OtherAnswer, SeenRequest } from "./doors/sockets.js";
import type { Fault, FaultKind } from "./plan.js";
import { during } from "./stage.js";
import type { Stage } from "./stage.js";
import { closedEvent, post } from "./callbacks.js";
import { crashAtEvent } from "./crash.js";
import {
  denyAccount,
  isProvider,
  lagLookUps,
  lateRequest,
  MOST_DELAY_MS,
  outlastLease,
  skewClocks,
} from "./elsewhere.js";
import { askEarly, fillCache, loseTasks } from "./workers.js";
import { eraseOne } from "./erasure.js";
import { rotateKeys } from "./rotation.js";
import { cleanUpOften } from "./upkeep.js";

/** What the network does to exchanges while a fault lasts. */
type Spoil = (request: SeenRequest) => ReturnType<Network["onRequest"]> | "next";

const webPage: OtherAnswer = {
  status: 200,
  headers: { "content-type": "text/html" },
  body: "<html><body>Maintenance</body></html>",
};
/** What a provider says of when to come again; some say nothing. */
const retryAfter = [{ "retry-after": "20" }, { "retry-after": "soon" }, {}] as Record<
  string,
  string
>[];
/** An update that a person waits for has 15 s. */
const LATE_ANSWER_MS = 14_000;
/** The longest time for which `hideNew` hides something: the journal looks twice, a minute apart. */
const HIDDEN_MS = 45_000;

const isCallback = ({ to, url }: SeenRequest) =>
  to?.name === "receiver" && url.startsWith("/callbacks/");

const active = new Set<Spoil>();
let isWatching = false;
let isRefusing = false;

/** Who hears the callbacks of a provider. */
const listeners = new Set<(url: string, body: string) => void>();

/** The first fault that has something to say of an exchange decides. */
function watch({ network, checks }: Stage): void {
  if (isWatching) return;
  isWatching = true;
  const { onConnection } = network;
  network.onConnection = (attempt) =>
    isRefusing && isProvider(attempt) ? "refuse" : onConnection(attempt);
  network.onAnswer = (answer) => {
    if (!isCallback(answer)) return;
    const body = answer.body.toString();
    const isGenuine = answer.from?.name === "providers";
    if (answer.status < 300) checks.onAcknowledged(body, isGenuine);
    if (isGenuine) for (const hear of listeners) hear(answer.url, body);
  };
  network.onRequest = (request) => {
    for (const spoil of active) {
      const found = spoil(request);
      if (found !== "next") return found;
    }
    return undefined;
  };
}

export function strike(stage: Stage, { fault, at, forMs, skip = 0 }: Fault): void {
  watch(stage);
  const { world, system, database, files } = stage;
  const lasting = (spoil: Spoil) => {
    active.add(spoil);
    world.after(forMs, () => active.delete(spoil));
  };
  /** For the next exchange that it concerns, or one soon after it. */
  const once = (
    concerns: (request: SeenRequest) => boolean,
    what: ReturnType<Network["onRequest"]> | (() => ReturnType<Network["onRequest"]>),
  ) => {
    let left = skip;
    const spoil: Spoil = (request) => {
      if (!concerns(request)) return "next";
      if (left-- > 0) return "next";
      active.delete(spoil);
      return typeof what === "function" ? what() : what;
    };
    active.add(spoil);
  };
  const refusing = (status: number) => {
    const answer = { status, headers: stage.random.pick(retryAfter) };
    lasting((request) => (isProvider(request) ? { before: answer } : "next"));
  };
  const strikes: Record<FaultKind, () => void> = {
    killWorker: () => void system.roles.worker.kill(forMs),
    killRelay: () => void system.roles.relay.kill(forMs),
    killReceiver: () => void system.roles.receiver.kill(forMs),
    stopWorker: () => void system.roles.worker.restart(),
    crashAtEvent: () => crashAtEvent(stage, at, forMs),
    secondWorker: () => void system.addWorker(forMs),
    otherRelease: () => void system.addWorker(forMs, "other"),
    loseTasks: () => loseTasks(stage, forMs),
    fillCache: () => fillCache(stage, forMs),
    askEarly: () => askEarly(stage, forMs),
    refuse: () => during(stage, fault, forMs, (isOn) => (isRefusing = isOn)),
    cutBefore: () => once(isProvider, { before: "cut" }),
    cutAfter: () => once(isProvider, { after: "cut" }),
    answer500: () => once(isProvider, { after: { status: 500 } }),
    answer429: () => refusing(429),
    answer503: () => refusing(503),
    webPage: () => {
      const at = stage.random.pick(["before", "after"] as const);
      lasting((request) => (isProvider(request) ? { [at]: webPage } : "next"));
    },
    slow: () => {
      const slow = stage.random.pick([{ answerDelayMs: 40_000 }, { delayMs: MOST_DELAY_MS }]);
      const some = (ms: number) => stage.random.int(0, ms);
      lasting((request) =>
        isProvider(request)
          ? Object.fromEntries(Object.entries(slow).map(([name, ms]) => [name, some(ms)]))
          : "next",
      );
    },
    lateRequest: () => lateRequest(stage, once),
    loseCallbacks: () => lasting((request) => (isCallback(request) ? { before: "cut" } : "next")),
    doubleCallbacks: () => lasting((request) => (isCallback(request) ? { after: "cut" } : "next")),
    lateCallbacks: () =>
      lasting((request) =>
        isCallback(request) ? { delayMs: stage.random.int(0, 5_000) } : "next",
      ),
    forgeCallback: () => void forge(stage),
    oddCallbacks: () => {
      const hear = (url: string, body: string) => void sendOdd(stage, url, body);
      listeners.add(hear);
      world.after(forMs, () => listeners.delete(hear));
    },
    askLate: () => {
      during(stage, fault, forMs, (isOn) => (stage.persons.areLate = isOn));
      lasting((request) =>
        isProvider(request) && request.method !== "GET"
          ? { answerDelayMs: stage.random.int(0, LATE_ANSWER_MS) }
          : "next",
      );
    },
    oddMessages: () => void sendOddMessages(stage),
    hideNew: () => {
      const ms = stage.random.int(1, HIDDEN_MS);
      const { faults } = system.sandbox;
      faults.add({ operation: "*", kind: "invisible", ms, times: "always", forMs });
    },
    dropDatabase: () => {
      database.onStatement = ({ text }) => {
        if (!/insert|update|commit/i.test(text)) return undefined;
        database.onStatement = () => undefined;
        return stage.random.chance(0.5) ? "cutBefore" : "cutAfter";
      };
    },
    noDatabase: () => database.away(forMs),
    noTemporal: () => during(stage, fault, forMs, (isOn) => (system.faults.isTemporalAway = isOn)),
    loseTemporalAnswers: () =>
      during(stage, fault, forMs, (isOn) => (system.faults.losesAnswers = isOn)),
    fullDisk: () =>
      during(stage, fault, forMs, (isOn) => (files.onWrite = () => (isOn ? "ENOSPC" : undefined))),
    denyAccount: () => denyAccount(stage, forMs),
    lagLookUps: () => lagLookUps(stage, forMs),
    skewClocks: () => skewClocks(stage, forMs),
    outlastLease: () => outlastLease(stage, forMs, once),
    cleanUp: () => void cleanUpOften(stage, forMs),
    rotateKeys: () => void rotateKeys(stage),
    erase: () => void eraseOne(stage),
  };
  strikes[fault]();
}

const stranger = (stage: Stage, path: string, body: string) => {
  const { TRUSTFLOW_CALLBACKS__PUBLIC_URL: publicUrl = "" } = stage.system.env;
  return post(stage, "stranger", `${new URL(publicUrl).origin}${path}`, body);
};

/** A stranger posts to an address that is not signed. */
async function forge(stage: Stage): Promise<void> {
  const path = `/callbacks/evi-post/default/sendPostal/any.${"0".repeat(64)}`;
  const answer = await stranger(stage, path, closedEvent("forged"));
  if (answer?.ok)
    stage.checks.violate("callbackSettled", `a forged callback was answered with ${answer.status}`);
}

const odd: Record<string, unknown[]> = {
  Identifier: ["", 5, "x".repeat(600), "\u0000"],
  Date: ["0000-01-01T00:00:00Z", "9999-12-31T23:59:59-14:00", "1969-12-31", "yesterday", 0],
  Kind: ["Closed", "AffidavitPublished", "Unheard", "", null],
  AdditionalData: [null, [], "none", { State: 1, Outcome: {}, AffidavitId: [] }],
};
const noEnvelopes = ["null", "[]", '"closed"', "{", "{}"];

/** Whoever hears a callback knows an address, and sends to it what no provider would. */
async function sendOdd(stage: Stage, url: string, body: string): Promise<void> {
  const { random } = stage;
  const known = JSON.parse(body) as { Identifier?: string; AdditionalData?: object };
  // Without an id of its own, a callback that says the same is another event.
  const isEnvelope = known.Identifier !== undefined && random.chance(0.9);
  const id = `odd-${random.uint32()}`;
  const field = random.pick(Object.keys(odd));
  const changed = {
    ...known,
    Identifier: id,
    Date: new Date(Date.now() - random.int(0, 86_400_000)).toISOString(),
    AdditionalData: { ...known.AdditionalData, Details: id },
    [field]: random.pick(odd[field]!),
  };
  await stranger(stage, url, isEnvelope ? JSON.stringify(changed) : random.pick(noEnvelopes));
}

const ODD_MESSAGES = 6;
const oddMessages = [
  ["signal", ["providerEvents", "surplus", "repaired", "unheard"]],
  ["update", ["resolve", "submitOtp", "unheard"]],
] as const;
const oddArguments = [
  [],
  [null],
  ["text"],
  [[null]],
  [[{ id: 1 }]],
  [{}],
  [{ attention: "submit-9", decision: "retry", by: {} }],
  [{ attention: "submit-1", decision: "undo" }],
  [{ code: {} }],
  [{ count: "many", runId: 1 }],
];

/** An application with the keys, and with mistakes, sends to open processes what none of them can use. */
async function sendOddMessages({ system, random, world }: Stage): Promise<void> {
  const { workflow } = system.client.temporal;
  const open = [...system.temporal.runs.values()].filter(({ isOpen }) => isOpen);
  for (let sent = 0; sent < ODD_MESSAGES && open.length > 0; sent += 1) {
    const handle = workflow.getHandle(random.pick(open).id);
    const [kind, names] = random.pick(oddMessages);
    const [name, args] = [random.pick(names), random.pick(oddArguments)];
    await world
      .program("mistaken application")
      .run(() =>
        kind === "signal"
          ? handle.signal(name, ...args)
          : handle.executeUpdate(name, { args: args as [] }),
      )
      .catch(() => undefined);
  }
}
