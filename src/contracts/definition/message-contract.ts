// One description per message, for the JSON Schemas, the methods of the client's handles, and the checks of the workers. Its
// definition, which workflows need, is in a file without zod; the compiler keeps both equal.
import type { QueryDefinition, SignalDefinition, UpdateDefinition } from "@temporalio/common";
import { z } from "zod";
import { resolve as resolveDefinition } from "../shared/messages.js";
import { Instant } from "../shared/values.js";
import { words } from "../shared/words.js";

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

/** An answer with one of these words; `members` stand beside it. */
export const answer = <const M extends Record<string, string>, S extends z.ZodRawShape = {}>(
  meanings: M,
  members?: S,
) => z.strictObject({ answer: words(meanings), ...(members as S) });

/** The same words mean the same in every answer. */
export const unavailable = "the provider or a service of Trustflow did not answer: try again later";
export const notAwaited = "the process does not wait for it";
export const refused = "the provider refused";

/** The person who decides, and the proof. */
export const decider = {
  by: z
    .string()
    .min(1)
    .exactOptional()
    .describe("The name of the person, as the caller states it."),
  note: z.string().exactOptional().describe("The reason of the decision, kept in the timeline."),
  signature: z
    .strictObject({
      operator: z.string().describe("The operator's name in the configuration of the workers."),
      at: Instant.describe("When the decision was signed, RFC 3339 in UTC."),
      value: z.base64().describe("The Ed25519 signature, in base64."),
    })
    .exactOptional()
    .describe(
      "The proof of who decides: an operator's signature of this one decision (docs/any-language.md). Required where the workers are configured so.",
    ),
};

/** The update that every process accepts. */
export const resolve = update(resolveDefinition, {
  description: "An operator's decision on an open attention.",
  argument: z.strictObject({
    attention: z.string().describe("The id of the attention, as the status shows it."),
    decision: words({
      retry: "try the step again",
      happened: "it happened at the provider, so go on",
      abandon: "end the process as failed; nothing is undone at the provider",
    }),
    ...decider,
    by: z.string().min(1).describe("The name of the person, as the caller states it."),
    confirmRetry: z
      .boolean()
      .exactOptional()
      .describe(
        "Required with `note` for a `retry` that may cause a second effect. It states that the provider was checked and the first attempt did not arrive, or that a second effect is wanted.",
      ),
    result: z
      .record(z.string(), z.unknown())
      .exactOptional()
      .describe("With `happened`: the result of the step; `happenedNeeds` names its members."),
  }),
  answer: answer(
    {
      resolved: "the decision takes effect",
      pending: "a second operator has to make the same decision",
      notYet: "an attempt may still be running: decide again at `until`",
      unavailable,
    },
    {
      until: Instant.exactOptional().describe(
        "With `notYet`: when the decision can be made. RFC 3339 in UTC.",
      ),
    },
  ),
  decides: true,
});
