// The worker is stopped and killed in turn while everybody asks for the status of letters in each kind of wait (decision 15): none gets
// stuck, no workflow task fails, every history replays. A letter in each kind of wait and one restart of each kind are the sample on the real
// core; the simulation has restarts and questions of all processes at all moments.
import { afterAll, beforeAll, expect, test } from "vitest";
import { QueryNotRegisteredError } from "@temporalio/client";
import { setTimeout as delay } from "node:timers/promises";
import pLimit from "p-limit";
import { FinishedError } from "../../../src/errors/index.js";
import { queryTooEarly } from "../../../src/contracts/shared/messages.js";
import { examine } from "../../harness/restarts/histories.js";
import { isUnanswered } from "../../harness/outages/wait.js";
import { startRoleOf } from "../../harness/outages/roles.js";
import { startTestStack } from "../../harness/stack/stack.js";
import type { TestStack } from "../../harness/stack/stack.js";
import { fastSettings } from "../../processes/send-postal/inputs.js";
import { sendPostalUnderTest as letter } from "../../processes/send-postal/under-test.js";

const spans = { ...fastSettings, pollIntervalSeconds: 2, restingGraceSeconds: 120 };
/** How a letter waits, and how that ends. */
const kinds = [
  { name: "polled", words: "open,callback=lost*", more: {}, outcome: "delivered" },
  { name: "called-back", words: "open", more: {}, outcome: "delivered" },
  {
    name: "deadline",
    words: "open",
    more: { deadlineSeconds: 30 },
    outcome: "openAtDeadline",
  },
  {
    name: "affidavits",
    words: "open",
    more: { affidavitWindowSeconds: 30 },
    outcome: "delivered",
  },
];
type Kind = (typeof kinds)[number];
/** Fewer than are open, so that tasks and questions make the worker load processes all the time. */
const CACHED = 2;
const SIGNALS = ["SIGKILL", "SIGTERM"] as const;
const openStates = ["Processed", "Dispatched", "Issued", "Sent"];
/** `Cancelled` claims an end that does not come; a letter that stands there at its deadline would end. */
const claimedStates = [...openStates, "Cancelled"];

let system: TestStack;

beforeAll(async () => {
  system = await startTestStack({ roles: ["sandbox", "receiver", "relay"] });
}, 120_000);
afterAll(() => system?.close(), 60_000);

test("restarts among queries: none gets stuck, every history replays", async () => {
  const problems = new Set<string>();
  let [answered, isCalm] = [0, false];
  const oneByOne = pLimit(1);
  const env = {
    TRUSTFLOW_WORKER__STICKY_SECONDS: "2",
    TRUSTFLOW_WORKER__CACHED_PROCESSES: String(CACHED),
  };
  const worker = await startRoleOf(system, "worker", env, {
    graceMs: 60_000,
    // It ends by itself where the SDK does no more work (docs/upstream/frozen-worker.md); any other end is a fault.
    onDeath: (role, { code, signal }) => {
      if (code !== 1) problems.add(`the worker ended (${signal ?? code})`);
      void oneByOne(() => (role.isAlive() ? undefined : role.restart()));
    },
  });
  // Its submit is found, so that a submit whose worker is killed needs no person.
  await (await letter.start(system.client, "found")).result();

  async function live({ name, words, more, outcome }: Kind): Promise<string> {
    const variant = { words, input: { settings: { ...spans, ...more } } };
    const handle = await letter.start(system.client, name, variant);
    const workflow = system.client.temporal.workflow.getHandle(handle.workflowId);
    let isOver = false;
    /** Again and again, until it is over; no worker may answer, or one too early, and our client asks again by itself. */
    const again = async (pauseMs: number, turn: () => Promise<unknown>) => {
      for (; !isOver; await delay(Math.random() * 2 * pauseMs)) {
        try {
          await turn();
          answered += 1;
        } catch (error) {
          const isTooEarly =
            error instanceof QueryNotRegisteredError && error.message.includes(queryTooEarly);
          if (!isTooEarly && !isUnanswered(error) && !(error instanceof FinishedError))
            problems.add(String(error));
        }
      }
    };
    const others = [
      again(300, () => handle.status()),
      // What the Web UI asks when an operator opens the page of a process.
      again(300, () => workflow.query("__temporal_workflow_metadata")),
      // The provider's people, who move the letter on, and end it after the last restart.
      again(500, async () => {
        const { waitingFor, references } = await handle.status();
        const item = references["uniqueId"] ?? "";
        if (waitingFor === "late affidavits") await system.sandbox.publishAffidavit(item);
        if (waitingFor !== "news from EviPost") return;
        const states = name === "deadline" ? openStates : claimedStates;
        const state = states[Math.floor(Math.random() * states.length)] ?? "Sent";
        const isEnding = name === "affidavits" || (name !== "deadline" && isCalm);
        const closed = { state: "Closed", outcome: "Delivered" };
        await system.sandbox.move(item, isEnding ? closed : { state });
      }),
    ];
    const result = await handle.result();
    isOver = true;
    await Promise.all(others);
    expect([name, result.outcome]).toEqual([name, outcome]);
    return handle.workflowId;
  }

  try {
    const lives = Promise.all(kinds.map(live));
    for (const signal of SIGNALS) {
      const before = answered;
      await delay(500 + Math.random() * 2_500);
      // A busy machine gets as much done between two restarts as a quiet one.
      while (answered - before < 3 * kinds.length) await delay(50);
      await oneByOne(async () => {
        await (signal === "SIGKILL" ? worker.kill(signal) : worker.stop());
        await delay(Math.random() * 2_500);
        await worker.restart();
      });
    }
    isCalm = true;
    const { failedTasks, corrupt } = await examine(system, await lives);
    expect({ failedTasks, corrupt, problems: [...problems] }).toEqual({
      failedTasks: [],
      corrupt: [],
      problems: [],
    });
    const { duplicates, violations } = await system.sandbox.ledger();
    expect({ duplicates, violations }).toEqual({ duplicates: [], violations: [] });
  } finally {
    await worker.stop();
  }
}, 300_000);
