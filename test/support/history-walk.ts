// What a way through a process is, and what the ways are made of.
import { expect } from "@jest/globals";
import { workflowTaskQueue } from "../../src/contracts/names.js";
import type { ProcessName } from "../../src/contracts/names.js";
import type { SendPostalInput, PostalHandle } from "../../src/client.js";
import type { FaultOptions } from "../../src/sandbox/faults.js";
import { letterInput } from "./letters.js";
import { statusWhere } from "./stack.js";
import type { TestStack } from "./stack.js";

/** Who writes the letters of a walk, and what persons write into it. */
export interface Author {
  /** By which the sandbox's faults know the process with this id. */
  intent(id: string): string;
  letter(id: string, words: string, more: Partial<SendPostalInput>): SendPostalInput;
  /** What a person says: a name, a note. */
  words(of: string): string;
}

export const plainAuthor: Author = {
  intent: (id) => id,
  letter: letterInput,
  words: (of) => of,
};

export interface Walk {
  system: TestStack;
  author: Author;
  /** The path's name; also the account of a path that is denied. */
  id: string;
  /** Of every account. */
  password: string;
}

/** Walks to its end, and checks that it is the one that the name says. */
export type Path = (walk: Walk) => Promise<void>;

export interface PathsOf {
  process: ProcessName;
  /** Paths that need an account of their own, because a fault hits all of it. */
  accounts: string[];
  paths: Record<string, Path>;
}

const advanced = { certificationLevel: "Advanced" } as const;
export const onDemand = { ...advanced, affidavitsOnDemandEnabled: true } as const;

export function begin(walk: Walk, words: string, more: Partial<SendPostalInput> = {}) {
  const options = { ...advanced, ...more.options };
  const input = walk.author.letter(walk.id, words, { ...more, options });
  return walk.system.client.sendPostal(walk.id, input);
}

export async function tracked(walk: Walk, words: string, more: Partial<SendPostalInput> = {}) {
  const handle = await begin(walk, words, more);
  await statusWhere(handle, ({ phase }) => phase === "tracking");
  return handle;
}

export async function ends(handle: PostalHandle, outcome: string): Promise<void> {
  expect((await handle.result()).outcome).toBe(outcome);
}

export const through =
  (words: string, outcome: string, more: Partial<SendPostalInput> = {}): Path =>
  async (walk) =>
    ends(await begin(walk, words, more), outcome);

/** The process's own account has the wrong password until that is mended. */
export async function denied(walk: Walk) {
  const { system, id: account, password } = walk;
  await system.sandbox.putAccount(account, { password: "changed" });
  const handle = await begin(walk, "delivered", { account });
  await attentionOf(handle, "accessDenied");
  return { handle, mend: () => system.sandbox.putAccount(account, { password }) };
}

/** The questions of the process's own account are refused until that is mended. */
export async function unreadable({ system, id: account }: Walk) {
  const refused = { operation: "evi-post.query", kind: "reject", status: 400, times: "always" };
  const { id: rule } = await system.sandbox.addFault({ ...refused, account } as FaultOptions);
  return () => system.sandbox.removeFault(rule);
}

export async function attentionOf(handle: PostalHandle, kind: string): Promise<string> {
  const { attention } = await statusWhere(handle, (status) => status.attention?.kind === kind);
  return attention?.id ?? "";
}

/** Nobody knows whether the letter was taken: the answer was lost and the question is refused. */
export async function uncertain(walk: Walk, words: string) {
  const mend = await unreadable(walk);
  const handle = await begin(walk, words, { account: walk.id });
  const attention = await attentionOf(handle, "protocol");
  const by = walk.author.words("name");
  const note = walk.author.words("note");
  return { handle, mend, decided: { attention, by, note } };
}

export const temporalHandle = ({ system, id }: Walk) =>
  system.client.temporal.workflow.getHandle(`sendPostal/${id}`);

/** The input as a plain Temporal client may send it: nobody has looked at it. */
export async function plainly(walk: Walk, input: unknown) {
  return walk.system.client.temporal.workflow.start("sendPostal", {
    workflowId: `sendPostal/${walk.id}`,
    taskQueue: workflowTaskQueue,
    args: [input],
  });
}

/** Waits until the sandbox has a letter of this process, although nobody was answered yet. */
export async function submitsSeen({ system, author, id }: Walk): Promise<void> {
  const intent = author.intent(id);
  for (const end = Date.now() + 20_000; Date.now() < end;) {
    if ((await system.sandbox.items({ intent })).total > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`no submit of ${intent} came`);
}
