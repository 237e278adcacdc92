// How a message is described once: for the JSON Schemas, for the methods of the client's handles, and for what the workers check.
// The definition, which workflows need, stands where no zod is; the compiler keeps both the same.
import type { QueryDefinition, SignalDefinition, UpdateDefinition } from "@temporalio/common";
import { z } from "zod";
import { resolve as resolveDefinition } from "./messages.js";
import type { Resolution } from "./messages.js";
import { Instant } from "./values.js";

export interface MessageContract {
  name: string;
  description: string;
  /** One at the most. */
  argument?: z.ZodType;
  /** A signal has none. */
  answer?: z.ZodType;
}

/** `Given`: what the method of the handle takes before `updateId`. `Decides`: a person decides by it, and may sign it. */
export interface UpdateContract<
  Given extends unknown[] = never,
  Answer = unknown,
  Decides extends boolean = boolean,
> extends MessageContract {
  definition: UpdateDefinition<Answer, [] | [unknown]>;
  decides: Decides;
  /** The argument of the update; undefined where it has none. Its parameters have no default values, because they are counted. */
  argumentOf: (...given: Given) => unknown;
}

/** Compiles only where the schema has each member and each word of the type, and no other. */
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
  Given extends unknown[],
  G extends z.ZodType = never,
  const D extends boolean = false,
>(
  definition: UpdateDefinition<R, A>,
  contract: {
    description: string;
    answer: SchemaOf<R, S>;
    decides?: D;
    argumentOf: (...given: Given) => A extends [infer One] ? One : undefined;
  } & (A extends [infer One] ? { argument: SchemaOf<One, G> } : object),
): UpdateContract<Given, R, NoInfer<D>> {
  const decides = (contract.decides ?? false) as D;
  return { definition, name: definition.name, ...contract, decides };
}

export function query<R, S extends z.ZodType>(
  { name }: QueryDefinition<R>,
  contract: { description: string; answer: SchemaOf<R, S> },
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

/** Who decides, and the proof of it. */
export const decider = {
  by: z.string().min(1).exactOptional(),
  note: z.string().exactOptional(),
  signature: z
    .strictObject({ operator: z.string(), at: Instant, value: z.base64() })
    .exactOptional(),
};

/** The update that every process takes. */
export const resolve = update(resolveDefinition, {
  description: "A person's decision on an open attention.",
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
  argumentOf: (resolution: Resolution) => resolution,
});
