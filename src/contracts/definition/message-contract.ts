// One description per message, for the JSON Schemas, the methods of the client's handles, and the checks of the workers. Its
// definition, which workflows need, is in a file without zod; the compiler keeps both equal.
import type { QueryDefinition, SignalDefinition, UpdateDefinition } from "@temporalio/common";
import { z } from "zod";
import { resolve as resolveDefinition } from "../shared/messages.js";
import { Instant } from "../shared/values.js";

export interface MessageContract {
  name: string;
  description: string;
  /** At most one argument. */
  argument?: z.ZodType;
  /** Absent for a signal. */
  answer?: z.ZodType;
}

export interface UpdateContract extends MessageContract {
  definition: UpdateDefinition<unknown, [] | [unknown]>;
  /** True if a person decides with the update, and may sign it. */
  decides: boolean;
}

/** Compiles only if the schema has exactly the members and words of the type. */
type SchemaOf<T, S extends z.ZodType> = S &
  ([Required<T>] extends [Required<z.output<S>>]
    ? [Required<z.output<S>>] extends [Required<T>]
      ? unknown
      : never
    : never);

export function update<
  R,
  A extends [] | [unknown],
  S extends z.ZodType,
  G extends z.ZodType = never,
  const D extends boolean = false,
>(
  definition: UpdateDefinition<R, A>,
  contract: {
    description: string;
    answer: SchemaOf<R, S>;
    decides?: D;
  } & (A extends [infer One] ? { argument: SchemaOf<One, G> } : object),
): UpdateContract & { decides: NoInfer<D> } {
  const decides = (contract.decides ?? false) as D;
  return { definition, name: definition.name, ...contract, decides };
}

export function query<R, One, G extends z.ZodType, S extends z.ZodType>(
  { name }: QueryDefinition<R, [One?]>,
  contract: { description: string; argument: SchemaOf<One, G>; answer: SchemaOf<R, S> },
): MessageContract {
  return { name, ...contract };
}

export function signal<One, G extends z.ZodType>(
  { name }: SignalDefinition<[One]>,
  contract: { description: string; argument: SchemaOf<One, G> },
): MessageContract {
  return { name, ...contract };
}

export const answer = <const Words extends [string, ...string[]]>(...words: Words) =>
  z.strictObject({ answer: z.enum(words) });

/** The person who decides, and the proof. */
export const decider = {
  by: z.string().min(1).exactOptional(),
  note: z.string().exactOptional(),
  signature: z
    .strictObject({ operator: z.string(), at: Instant, value: z.base64() })
    .exactOptional(),
};

/** The update that every process accepts. */
export const resolve = update(resolveDefinition, {
  description: "An operator's decision on an open attention.",
  argument: z.strictObject({
    attention: z.string(),
    decision: z.enum(["retry", "happened", "abandon"]),
    ...decider,
    by: z.string().min(1),
    confirmRetry: z.boolean().exactOptional(),
    result: z.record(z.string(), z.unknown()).exactOptional(),
  }),
  answer: z.strictObject({
    answer: z.enum(["resolved", "pending", "notYet", "unavailable"]),
    until: Instant.exactOptional(),
  }),
  decides: true,
});
