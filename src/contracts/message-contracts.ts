// Describes the messages of every process by JSON Schemas, for applications in any language (docs/any-language.md). The registry has the
// updates of each process.
import { z } from "zod";
import { contractOf, processes } from "./registry.js";
import { query, signal } from "./definition/message-contract.js";
import * as messages from "./shared/messages.js";
import { ProviderEvent } from "./shared/provider-event.js";
import { ProcessStatus } from "./shared/status.js";
import { Instant } from "./shared/values.js";

const secretId = z.unknown().meta({ writeOnly: true });
export const secretIds = z.looseObject(
  Object.fromEntries(
    processes.flatMap((processName) =>
      (contractOf(processName).secretIds ?? []).map((name) => [name, secretId] as const),
    ),
  ),
);

export const signals = [
  signal(messages.providerEvents, {
    description: "Callbacks of the provider, at most 100. Only Trustflow's relay sends this.",
    argument: z.array(ProviderEvent),
  }),
  signal(messages.surplus, {
    description:
      "The process has more callbacks than it receives as signals. Only Trustflow's relay sends this.",
    argument: z.strictObject({
      count: z.int().nonnegative().describe("How many callbacks stay in the inbox."),
    }),
  }),
  signal(messages.repaired, {
    description: "A reset has repaired the process. Only Trustflow's clean-up sends this.",
    argument: z.strictObject({
      runId: z.string().describe("The run that was reset."),
      since: Instant.describe("When the first of its workflow tasks failed, RFC 3339 in UTC."),
    }),
  }),
];

export const queries = [
  query(messages.status, {
    description:
      "The status of the process; full: with what the provider has said (personal data).",
    argument: z.strictObject({
      full: z
        .boolean()
        .exactOptional()
        .describe("Whether `reported` and `shown` are in the answer: personal data."),
    }),
    answer: ProcessStatus,
  }),
];
