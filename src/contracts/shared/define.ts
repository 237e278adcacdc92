// The definitions of messages, which Temporal's SDK has in the library of workflows alone. No zod: workflows import this file.
import type { QueryDefinition, SignalDefinition, UpdateDefinition } from "@temporalio/common";

export function defineUpdate<R, A extends unknown[] = []>(name: string) {
  return { type: "update", name } as UpdateDefinition<R, A>;
}

export function defineSignal<A extends unknown[] = []>(name: string) {
  return { type: "signal", name } as SignalDefinition<A>;
}

export function defineQuery<R, A extends unknown[] = []>(name: string) {
  return { type: "query", name } as QueryDefinition<R, A>;
}
