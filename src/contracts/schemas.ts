// The JSON Schemas of a process: what `trustflow schema PROCESS` prints and the package has in `trustflow/schemas`.
import { z } from "zod";
import { contracts } from "./index.js";
import { queries, signals, updates } from "./message-contracts.js";
import type { MessageContract } from "./message-contracts.js";
import type { ProcessName } from "./shared/names.js";

export function schemasOf(process: ProcessName) {
  const { input, result, status } = contracts[process];
  return {
    input: z.toJSONSchema(input, { io: "input" }),
    result: z.toJSONSchema(result),
    status: z.toJSONSchema(status),
    updates: ofMessages(updates[process]),
    signals: ofMessages(signals),
    queries: ofMessages(queries),
  };
}

function ofMessages(contracted: MessageContract[]) {
  return Object.fromEntries(
    contracted.map(({ name, description, argument, answer }) => [
      name,
      {
        description,
        arguments: argument ? [z.toJSONSchema(argument, { io: "input" })] : [],
        ...(answer && { answer: z.toJSONSchema(answer) }),
      },
    ]),
  );
}
