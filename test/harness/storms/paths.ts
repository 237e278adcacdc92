// The paths of mixed load, by the descriptors alone: each call, each call that the provider refuses for a moment, each answer that
// is lost where it may be, and what happens to callbacks.
import { callbackFaultKinds } from "../../../packages/sandbox/src/engine/faults.js";
import type { FaultOptions } from "../../../packages/sandbox/src/engine/faults.js";
import { entryOf } from "../../../src/providers/registry.js";
import { effectsOf } from "../../processes/process-under-test.js";
import type { CallUnderTest, ProcessUnderTest } from "../../processes/process-under-test.js";

export interface LoadPath {
  underTest: ProcessUnderTest;
  name: string;
  call: Pick<CallUnderTest, "variant" | "ask" | "answer" | "thenPlay">;
  outcome: string;
  effects: Record<string, number>;
  /** For this intent alone. */
  fault?: Omit<FaultOptions, "lookupKey">;
}

export function loadPathsOf(underTest: ProcessUnderTest): LoadPath[] {
  const { process: name, provider, outcome, effects, calls } = underTest;
  const plain = { underTest, name, call: { variant: {} }, outcome, effects };
  const kinds = entryOf(provider).callback ? callbackFaultKinds : [];
  const own = calls.filter(({ ask }) => ask === undefined);
  const asked = calls.filter(({ ask }) => ask);
  return [
    plain,
    ...kinds.map((kind) => ({
      ...plain,
      name: `${name}-callbacks-${kind}`,
      fault: { operation: `${provider}.callback`, kind, times: "always" as const },
    })),
    ...own.flatMap((call) =>
      faultsOf(call).map((fault) => ({
        ...pathOf(underTest, call),
        name: `${name}-${call.operation}-${fault.kind}-${fault.status ?? ""}`,
        fault: { operation: call.sandbox, ...fault },
      })),
    ),
    ...asked.map((call) => pathOf(underTest, call)),
  ];
}

/** 429 says that nothing was done (P2 §7.1); after 503, or without an answer, a call of class `once` needs a person. */
function faultsOf({ effectClass }: CallUnderTest): Omit<FaultOptions, "operation">[] {
  const busy = { kind: "reject", status: 429, retryAfterSeconds: 1 } as const;
  const away = { kind: "reject", status: 503 } as const;
  if (effectClass === "once") return [busy];
  if (effectClass === "read" || effectClass === "repeatable") return [busy, away];
  return [busy, away, { kind: "cut-after-commit" }, { kind: "error-after-commit" }];
}

function pathOf(underTest: ProcessUnderTest, call: CallUnderTest): LoadPath {
  const { operation, outcome } = call;
  const all = Object.entries(effectsOf(underTest, call));
  const effects = Object.fromEntries(all.filter(([, count]) => count > 0));
  return { underTest, name: `${underTest.process}-${operation}`, call, outcome, effects };
}
