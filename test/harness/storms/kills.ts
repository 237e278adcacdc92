// Kills roles during a storm. The first receiver and the first relay are killed at the worst moment: after the commit and
// before the answer, and after the signal and before the mark.
import { setTimeout as delay } from "node:timers/promises";
import type { RoleName } from "../../../src/local/stack/stack.js";
import { holdRole } from "../outages/roles.js";
import type { Hold } from "../outages/roles.js";
import type { TestStack } from "../stack/stack.js";
import type { Sending } from "./sender.js";

interface Kill {
  /** The share of the postings that are over by then. */
  at: number;
  role: RoleName;
  hold?: Hold;
}

/** One that was done. */
export interface Killed {
  role: RoleName;
  /** The share of the postings that were over. */
  at: number;
  /** Whether it stood where it was to be killed. */
  reached?: boolean;
}

const kills: readonly Kill[] = [
  {
    at: 0.02,
    role: "relay",
    hold: { statement: "update trustflow.callbacks set state", when: "before" },
  },
  {
    at: 0.1,
    role: "receiver",
    hold: { statement: "trustflow.store_callbacks", when: "after" },
  },
  { at: 0.25, role: "worker" },
  { at: 0.35, role: "receiver" },
  { at: 0.45, role: "relay" },
  { at: 0.6, role: "receiver" },
  { at: 0.7, role: "relay" },
  { at: 0.8, role: "worker" },
  { at: 0.9, role: "receiver" },
];

const REACHED_WITHIN_MS = 10_000;

export async function killInTurn(system: TestStack, sending: Sending): Promise<Killed[]> {
  const killed: Killed[] = [];
  for (const [index, { at, role: name, hold }] of kills.entries()) {
    // However slowly a role starts again, callbacks are left for the next kill.
    sending.allowed = ((kills[index + 1]?.at ?? 1) + 1) / 2;
    while (sending.progress < at) await delay(10);
    if (hold) {
      const held = await holdRole(system, name, hold);
      for (const end = Date.now() + REACHED_WITHIN_MS; !held.isReached() && Date.now() < end;)
        await delay(10);
      killed.push({ role: name, at: sending.progress, reached: held.isReached() });
      await held.killAndReplace();
    } else {
      const role = system.stack.role(name);
      killed.push({ role: name, at: sending.progress });
      await role.kill();
      await role.restart();
    }
  }
  sending.allowed = 1;
  return killed;
}
