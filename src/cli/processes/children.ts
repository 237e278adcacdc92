// `status` and `result` show the processes that a process has started: where each stands, and where a decision is made.
import type { ChildStatus, ProcessStatus } from "../../contracts/shared/status.js";
import { shellWord } from "../../contracts/shared/text.js";
import { paint, terminal } from "../output/terminal.js";
import type { Terminal } from "../output/terminal.js";

const childrenOf = ({ children = [] }: ProcessStatus & { children?: ChildStatus[] }) => children;

export function childFacts(status: ProcessStatus): [string, string | undefined][] {
  return childrenOf(status).map(({ process: name, id, state, outcome, waitingFor }) => [
    `${name}/${id}`,
    [outcome ?? state, waitingFor && `waits for ${waitingFor}`].filter(Boolean).join(", ") ||
      "started",
  ]);
}

/** The decision is made at the child, whose status has what it needs: one decision, one place. */
export function childLines(status: ProcessStatus): Terminal[] {
  return asking(status).map(({ workflowId }) => {
    const command = `trustflow status ${shellWord(workflowId)}`;
    return paint("yellow", terminal`${workflowId} needs an operator decision: ${command}`);
  });
}

/** The first child that waits for a decision. */
export function childAsking(status: ProcessStatus): ReturnType<typeof asking>[number] | undefined {
  return asking(status)[0];
}

function asking(status: ProcessStatus) {
  return childrenOf(status).flatMap(({ process: name, id, attention }) =>
    attention ? [{ workflowId: `${name}/${id}`, attention }] : [],
  );
}

type Ended = Record<"process" | "id" | "outcome", string>;

/** A parent's result has the results of its children; `--json` prints them whole. */
export function childResults(members: object): [string, string][] {
  return Object.values(members)
    .filter(isChildResult)
    .map(({ process: name, id, outcome }) => [`${name}/${id}`, outcome]);
}

export function withoutChildren(members: object): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => !isChildResult(value)));
}

function isChildResult(value: unknown): value is Ended {
  const { process: name, id, outcome } = (value ?? {}) as Record<string, unknown>;
  return [name, id, outcome].every((part) => typeof part === "string");
}
