// What goes wrong in a simulation, and how it is done to the doors.
import type { Network, OtherAnswer, SeenRequest } from "./doors/sockets.js";
import type { Database } from "./doors/database.js";
import type { Files } from "./doors/files.js";
import type { World } from "./world.js";
import type { Checks } from "./checks.js";
import type { Fault, FaultKind } from "./plan.js";
import type { Idle } from "./idle.js";
import type { Random } from "./random.js";
import type { System } from "./system.js";

export interface Doors {
  world: World;
  network: Network;
  files: Files;
  database: Database;
}

export interface Stage extends Doors {
  system: System;
  checks: Checks;
  random: Random;
  idle: Idle;
  say(text: string): void;
}

/** What the network does to exchanges while a fault lasts. */
type Spoil = (request: SeenRequest) => ReturnType<Network["onRequest"]> | "next";

const webPage: OtherAnswer = {
  status: 200,
  headers: { "content-type": "text/html" },
  body: "<html><body>Maintenance</body></html>",
};
const answers: Partial<Record<FaultKind, OtherAnswer>> = {
  answer429: { status: 429, headers: { "retry-after": "20" } },
  answer503: { status: 503, headers: { "retry-after": "60" } },
  webPage,
};

const isProvider = ({ to, from }: SeenRequest) =>
  to?.name === "providers" && from?.name === "worker";
const isCallback = ({ to, url }: SeenRequest) =>
  to?.name === "receiver" && url.startsWith("/callbacks/");

const active = new Set<Spoil>();
let isWatching = false;

/** The first fault that has something to say of an exchange decides. */
function watch({ network }: Stage): void {
  if (isWatching) return;
  isWatching = true;
  network.onRequest = (request) => {
    for (const spoil of active) {
      const found = spoil(request);
      if (found !== "next") return found;
    }
    return undefined;
  };
}

export function strike(stage: Stage, { fault, forMs }: Fault): void {
  watch(stage);
  const { world, system, database, files } = stage;
  const lasting = (spoil: Spoil) => {
    active.add(spoil);
    world.after(forMs, () => active.delete(spoil));
  };
  /** For the next exchange that it concerns. */
  const once = (
    concerns: (request: SeenRequest) => boolean,
    what: ReturnType<Network["onRequest"]>,
  ) => {
    const spoil: Spoil = (request) => {
      if (!concerns(request)) return "next";
      active.delete(spoil);
      return what;
    };
    active.add(spoil);
  };
  const strikes: Record<FaultKind, () => void> = {
    killWorker: () => void system.roles.worker.kill(forMs),
    killRelay: () => void system.roles.relay.kill(forMs),
    killReceiver: () => void system.roles.receiver.kill(forMs),
    stopWorker: () => void system.roles.worker.restart(),
    secondWorker: () => {
      const second = system.startRole("worker");
      world.after(forMs, () => void second.stop());
    },
    refuse: () => {
      const before = stage.network.onConnection;
      stage.network.onConnection = (attempt) =>
        attempt.to?.name === "providers" && attempt.from?.name === "worker"
          ? "refuse"
          : before(attempt);
      world.after(forMs, () => (stage.network.onConnection = before));
    },
    cutBefore: () => once(isProvider, { before: "cut" }),
    cutAfter: () => once(isProvider, { after: "cut" }),
    answer500: () => once(isProvider, { after: { status: 500 } }),
    answer429: () =>
      lasting((request) => (isProvider(request) ? { before: answers.answer429! } : "next")),
    answer503: () =>
      lasting((request) => (isProvider(request) ? { before: answers.answer503! } : "next")),
    webPage: () => lasting((request) => (isProvider(request) ? { after: webPage } : "next")),
    slow: () =>
      lasting((request) =>
        isProvider(request) ? { answerDelayMs: stage.random.int(0, 40_000) } : "next",
      ),
    loseCallbacks: () => lasting((request) => (isCallback(request) ? { before: "cut" } : "next")),
    doubleCallbacks: () => lasting((request) => (isCallback(request) ? { after: "cut" } : "next")),
    lateCallbacks: () =>
      lasting((request) =>
        isCallback(request) ? { delayMs: stage.random.int(0, 5_000) } : "next",
      ),
    forgeCallback: () => void forge(stage),
    dropDatabase: () => {
      database.onStatement = ({ text }) => {
        if (!/insert|update|commit/i.test(text)) return undefined;
        database.onStatement = () => undefined;
        return stage.random.chance(0.5) ? "cutBefore" : "cutAfter";
      };
    },
    noDatabase: () => database.away(forMs),
    noTemporal: () => {
      system.faults.isTemporalAway = true;
      world.after(forMs, () => (system.faults.isTemporalAway = false));
    },
    loseTemporalAnswers: () => {
      system.faults.losesAnswers = true;
      world.after(forMs, () => (system.faults.losesAnswers = false));
    },
    fullDisk: () => {
      files.onWrite = () => "ENOSPC";
      world.after(forMs, () => (files.onWrite = () => undefined));
    },
    denyAccount: () => undefined,
    cleanUp: () => undefined,
  };
  strikes[fault]();
}

/** A stranger posts to an address that is not signed, and to one of a process with another's signature. */
async function forge({ system, world }: Stage): Promise<void> {
  const { TRUSTFLOW_CALLBACKS__PUBLIC_URL: url = "" } = system.env;
  await world.program("stranger").run(async () => {
    const body = JSON.stringify({
      Identifier: "forged",
      Kind: "Closed",
      Date: new Date().toISOString(),
    });
    await fetch(`${url}/callbacks/evi-post/default/sendPostal/any.${"0".repeat(64)}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    }).catch(() => undefined);
  });
}
