// What the JSON Schemas of a message say in the short form of docs/any-language.md: the members of its argument, with `?` where they may
// be left out, and the words of its answer.
import { z } from "zod";
import type { JsonSchema } from "../histories/canaries.js";
import type { MessageContract } from "../../../src/contracts/definition/message-contract.js";

export function messageSchemaOf({ argument, answer }: MessageContract) {
  const { properties = {}, required = [] } = argument ? jsonOf(argument) : {};
  const forms = answer ? formsOf(jsonOf(answer)) : [];
  return {
    members: Object.keys(properties).map((name) => (required.includes(name) ? name : `${name}?`)),
    words: forms.flatMap((form) => [
      ...Object.keys(form.properties ?? {}),
      ...Object.values(form.properties ?? {}).flatMap((each) => each.enum ?? each.const ?? []),
    ]),
  };
}

const jsonOf = (schema: z.ZodType) => z.toJSONSchema(schema, { io: "input" }) as JsonSchema;
const formsOf = (schema: JsonSchema) => schema.anyOf ?? [schema];
