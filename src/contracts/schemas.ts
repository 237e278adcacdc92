// Makes the JSON Schemas of a process: `trustflow schema PROCESS` prints them, and the package has them in `trustflow-client/schemas`.
import { z } from "zod";
import { queries, signals } from "./message-contracts.js";
import type { MessageContract } from "./definition/message-contract.js";
import { contractOf, updatesOf } from "./registry.js";
import type { ProcessName } from "./registry.js";

export function schemasOf(processName: ProcessName) {
  const { input, result, status } = contractOf(processName);
  return {
    input: z.toJSONSchema(input, { io: "input" }),
    result: z.toJSONSchema(result),
    status: z.toJSONSchema(status),
    updates: ofMessages(updatesOf(processName)),
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
