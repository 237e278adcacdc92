// The two sides behind one interface: start a process, wait for its end, and say which operating system processes work for it.
import { randomUUID } from "node:crypto";
import { workflowIdOf } from "../src/contracts/shared/names.js";
import { cpuMs } from "./proc.js";
import type { Part, Stand } from "./stand.js";

/** What each group of measures is given. */
export interface Bench {
  stand: Stand;
  sides: Sides;
  quick: boolean;
  say(line: string): void;
}

export interface Started {
  workflowId: string;
  result(): Promise<unknown>;
}

export type Sides = [floor: Side, trustflow: Side, floorWithStatus: Side];

export interface Side {
  start(): Promise<Started>;
  /** CPU time so far by part. */
  cpu(): Record<string, number>;
  worker(): Part;
}

/** A PDF of usual form; both sides send the same one. */
const pdf = Buffer.from(`%PDF-1.4\n${"% a line of a letter\n".repeat(100)}%%EOF\n`).toString(
  "base64",
);

const letter = {
  recipientName: "A Recipient",
  recipientAddress: {
    streetAddress: "Calle Mayor 1",
    postalCode: "28013",
    locality: "Madrid",
    region: "Madrid",
    country: "ES",
  },
};

const DEADLINE_SECONDS = 86_400;

export function sidesOf(stand: Stand): Sides {
  const { stack, serverPids, plain, trustflow, floor } = stand;
  const server = () => serverPids.reduce((sum, pid) => sum + cpuMs(pid), 0);
  const floorOf = (workflowType: string): Side => ({
    async start() {
      const workflowId = `floor/${randomUUID()}`;
      const input = {
        ...letter,
        document: pdf,
        lookupKey: workflowId,
        deadlineSeconds: DEADLINE_SECONDS,
      };
      return plain.workflow.start(workflowType, { workflowId, taskQueue: "floor", args: [input] });
    },
    cpu: () => ({
      server: server(),
      worker: cpuMs(floor.worker.pid),
      receiver: cpuMs(floor.receiver.pid),
    }),
    worker: () => floor.worker,
  });
  return [
    floorOf("floor"),
    {
      async start() {
        const id = randomUUID();
        const handle = await trustflow.sendPostal(id, {
          ...letter,
          document: { base64: pdf, mediaType: "application/pdf" },
          lookupKey: id,
          settings: {
            // As the floor: the process ends with the provider's own word that it is over.
            affidavitWindowSeconds: 0,
            deadlineSeconds: DEADLINE_SECONDS,
            pollIntervalSeconds: 21_600,
          },
        });
        return { workflowId: workflowIdOf("sendPostal", id), result: () => handle.result() };
      },
      cpu: () => ({
        server: server(),
        worker: cpuMs(stack.role("worker").pid),
        receiver: cpuMs(stack.role("receiver").pid),
        relay: cpuMs(stack.role("relay").pid),
        database: cpuMs(stack.postgres?.pid ?? 0),
      }),
      worker: () => stack.role("worker"),
    },
    floorOf("floorWithStatus"),
  ];
}

/** Starts `number` processes at once and waits until all have ended. */
export async function runAll(side: Side, number: number): Promise<Started[]> {
  const started = await Promise.all(Array.from({ length: number }, () => side.start()));
  await Promise.all(started.map((one) => one.result()));
  return started;
}
