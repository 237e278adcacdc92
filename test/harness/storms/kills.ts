// Kills roles during a storm. The first receiver and the first relay are killed at the worst moment: after the commit and
// before the answer, and after the signal and before the mark.
import { setTimeout as delay } from "node:timers/promises";
import type { RoleName } from "../../../packages/dev/src/stack/stack.js";
import { holdRole, type HoldPoint } from "../outages/roles.js";
import { killAndRestart } from "../outages/victims.js";
import type { TestStack } from "../stack/stack.js";
import type { Sending } from "./sender.js";

const beforeMark: HoldPoint = { statement: "update trustflow.callbacks set state", when: "before" };
const afterCommit: HoldPoint = { statement: "trustflow.store_callbacks", when: "after" };

/** `at`: the share of the postings that are over by then. */
const kills: readonly { at: number; role: RoleName; hold?: HoldPoint }[] = [
  { at: 0.02, role: "relay", hold: beforeMark },
  { at: 0.1, role: "receiver", hold: afterCommit },
  { at: 0.25, role: "worker" },
  { at: 0.35, role: "receiver" },
  { at: 0.45, role: "relay" },
  { at: 0.6, role: "receiver" },
  { at: 0.7, role: "relay" },
  { at: 0.8, role: "worker" },
  { at: 0.9, role: "receiver" },
];

const REACHED_WITHIN_MS = 10_000;

export async function killInTurn(system: TestStack, sending: Sending, postings: number) {
  const progress = () => sending.over / postings;
  /** `at`: the share of the postings that were over; `reached`: whether it stood where it was to be killed. */
  const killed: { role: RoleName; at: number; reached?: boolean }[] = [];
  for (const [index, { at, role: name, hold }] of kills.entries()) {
    // However slowly a role starts again, callbacks are left for the next kill.
    sending.allowed = (postings * ((kills[index + 1]?.at ?? 1) + 1)) / 2;
    while (progress() < at) await delay(10);
    if (hold) {
      const held = await holdRole(system, name, hold);
      for (const end = Date.now() + REACHED_WITHIN_MS; !held.isReached() && Date.now() < end;)
        await delay(10);
      killed.push({ role: name, at: progress(), reached: held.isReached() });
      await held.killAndReplace();
    } else {
      killed.push({ role: name, at: progress() });
      await killAndRestart(system, name);
    }
  }
  sending.allowed = Infinity;
  return killed;
}
