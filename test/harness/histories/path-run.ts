// The type of a path through a process, and the shared parts of all paths.
import { secretsOf, wrongSecrets } from "../stack/account-secrets.js";
import { expect } from "vitest";
import { setTimeout as delay } from "node:timers/promises";
import type { z } from "zod";
import type { AnyHandle, CertificateHandle, OneShotHandle } from "../../../src/client.js";
import type { HandleOf } from "../../../src/client/processes.js";
import { contracts } from "../../../src/contracts/index.js";
import type { ProcessName } from "../../../src/contracts/registry.js";
import type { Decision } from "../../../src/contracts/shared/messages.js";
import { workflowTaskQueue } from "../../../src/contracts/shared/names.js";
import type { FaultOptions } from "../../../packages/sandbox/src/engine/faults.js";
import { statusWhere, type TestStack } from "../stack/stack.js";

/** The author of a path's inputs and of a person's texts. */
export interface Author {
  /** By which the sandbox's ledger and faults know the process. */
  intent(name: string): string;
  /** What a person says: a name, a note. */
  words(of: string): string;
  /** The secrets that a path has made or received. */
  secret(of: string, text: string): string;
  /** An input in this author's words; `kept` are the paths of texts that the provider checks. */
  write<I extends object>(schema: z.ZodType, input: I, kept: readonly string[]): I;
}

type CodeHandle = CertificateHandle | OneShotHandle;

export const plainAuthor: Author = {
  intent: (name) => name,
  words: (of) => of,
  secret: (_, text) => text,
  write: (_, input) => input,
};

export interface PathRun {
  system: TestStack;
  author: Author;
  of: PathsOf;
  /** The path's name, which is the process's id too. */
  id: string;
  intent: string;
  /** The path's own account, if it has one. */
  account: string;
  /** Of every account; part of its API key and of its token. */
  password: string;
}

/** What an input is written with. */
export type Writing = Pick<PathRun, "author" | "intent">;

/** What a provider may be given freely, however deep, with the author's words in it. */
export const freeFields = ({ author }: Writing) => ({
  person: { name: "Ada", addresses: ["Calle Mayor 1", { floor: "first" }] },
  [author.words("a member")]: "whatever it is",
});

/** Runs the path to its end, and checks that the end is the one in the name. */
export type Path = (run: PathRun) => Promise<void>;

export interface PathsOf {
  process: ProcessName;
  /** The speed of the sandbox's clock: a letter takes weeks, a code lives for minutes. */
  speed: number;
  /** Paths that need an account of their own, because what happens to it hits all of it. */
  accounts: string[];
  /** More keys of the configuration of such an account. */
  accountKeys?: Record<string, Record<string, string>>;
  kept: string[];
  /** Good inputs by a name for each, steered by the sandbox's words. */
  inputs: Record<string, (writing: Writing) => object>;
  paths: Record<string, Path>;
}

export const idOf = ({ of, id }: Pick<PathRun, "of" | "id">) => `${of.process}/${id}` as const;

/** Through the client, in the author's words. */
export function start<P extends ProcessName>(
  { system, author, of, id }: PathRun,
  processName: P,
  input: object,
): Promise<HandleOf<P>> {
  const written = author.write(contracts[processName].input, input, of.kept);
  return system.client.start(processName, id, written);
}

/** The input as a plain Temporal client may send it, unchecked. */
export function plainly(run: PathRun, input: unknown) {
  return run.system.client.temporal.workflow.start(run.of.process, {
    workflowId: idOf(run),
    taskQueue: workflowTaskQueue,
    args: [input],
  });
}

async function refuses(run: PathRun, input: object): Promise<void> {
  const handle = await plainly(run, input);
  await expect(handle.result()).rejects.toMatchObject({ cause: { type: "InvalidInput" } });
}

/** The path's own input with an unknown field: the process itself refuses it, and names no value. */
export const refusesInput = (run: PathRun, input: object) =>
  refuses(run, { ...input, [run.author.words("key")]: run.author.words("value") });

export const knowsNoAccount = (run: PathRun, input: object) =>
  refuses(run, { ...input, account: run.author.words("account") });

export const temporalHandle = (run: PathRun) =>
  run.system.client.temporal.workflow.getHandle(idOf(run));

export async function ends(handle: AnyHandle, outcome: string): Promise<void> {
  expect((await handle.result()).outcome).toBe(outcome);
}

/** The path's own account has a wrong password and wrong tokens until that is fixed. */
export async function changePassword({ system, account, password }: PathRun) {
  await system.sandbox.putAccount(account, wrongSecrets);
  return () => system.sandbox.putAccount(account, secretsOf(account, password));
}

/** A fault of the path's own account, until that is fixed. */
export async function faulty({ system, account }: PathRun, fault: FaultOptions) {
  const { id } = await system.sandbox.addFault({ ...fault, account });
  return () => system.sandbox.removeFault(id);
}

/** Asks for another code until it is sent: at first it may be too soon. */
export async function resentWhenDue(handle: CodeHandle): Promise<void> {
  for (;;) {
    const answer = await handle.resendOtp();
    if (answer.answer === "sent") return;
    expect(answer).toMatchObject({ answer: "tooSoon" });
    await delay(200);
  }
}

export async function attentionOf(handle: AnyHandle, kind: string): Promise<string> {
  const { attention } = await statusWhere(handle, (status) => status.attention?.kind === kind);
  return attention?.id ?? "";
}

/** What every decision of the author's says beside the decision itself. */
export const decidedBy = ({ author }: PathRun) => ({
  by: author.words("name"),
  note: author.words("note"),
});

/** A person's decision on an attention of this kind, again when an attempt cannot be running any more, or when it could not be checked. */
export async function decide(
  run: PathRun,
  handle: AnyHandle,
  kind: string,
  decision: Decision,
  result?: Record<string, unknown>,
): Promise<void> {
  const attention = await attentionOf(handle, kind);
  const resolution = {
    ...decidedBy(run),
    attention,
    decision,
    ...(decision === "retry" && { confirmRetry: true }),
    ...(result && { result }),
  };
  for (;;) {
    const { answer, until } = await handle.resolve(resolution);
    if (answer === "resolved") return;
    expect(["notYet", "unavailable"]).toContain(answer);
    const leftMs = until === undefined ? 0 : Date.parse(until) - Date.now();
    await delay(Math.max(100, leftMs + 100));
  }
}

/** What a path does with its process at the end. */
export type After<H = AnyHandle> = (run: PathRun, handle: H) => Promise<void>;

export const endsAs =
  (outcome: string): After =>
  (_, handle) =>
    ends(handle, outcome);

export const isAbandonedWith =
  (effect: "none" | "unknown" | "exists"): After =>
  (_, handle) =>
    isAbandoned(handle, effect);

/** For a process that needs a decision of this kind with some words: what is decided, and what comes after it. */
export const decided =
  <W, H extends AnyHandle>(begin: (run: PathRun, words: W) => Promise<H>, kind: string) =>
  (words: W, decision: Decision, after: After<H>): Path =>
  async (run) => {
    const handle = await begin(run, words);
    await decide(run, handle, kind, decision);
    await after(run, handle);
  };

/** Begun with these words, the process fails: this provider refuses what it is asked for. */
export function notAccepted<W>(
  begin: (run: PathRun, words: W) => Promise<AnyHandle>,
  words: W,
  provider: string,
): Path {
  return async (run) => {
    const handle = await begin(run, words);
    await expect(handle.result()).rejects.toMatchObject({ details: { provider } });
  };
}

/** Terminated, and begun again with another input. */
export function mismatches(
  before: (run: PathRun) => Promise<unknown>,
  again: (run: PathRun) => Promise<AnyHandle>,
): Path {
  return async (run) => {
    await before(run);
    await temporalHandle(run).terminate();
    const handle = await again(run);
    await expect(handle.result()).rejects.toThrow(/another input/);
  };
}

/** A process that waits is cancelled in the Web UI, and a person decides about that. */
export const cancelledWhile =
  <W extends { handle: AnyHandle }>(begin: (run: PathRun) => Promise<W>) =>
  async (run: PathRun, decision: Decision): Promise<W> => {
    const waiting = await begin(run);
    await cancels(run, waiting.handle, decision);
    return waiting;
  };

/** Cancelled in the Web UI while it waits, and what a person makes of it. */
export async function cancels(run: PathRun, handle: AnyHandle, decision: Decision): Promise<void> {
  await temporalHandle(run).cancel();
  await decide(run, handle, "cancelRequested", decision);
}

export async function isAbandoned(
  handle: AnyHandle,
  effect: "none" | "unknown" | "exists",
): Promise<void> {
  await expect(handle.result()).rejects.toMatchObject({ details: { effect } });
}
