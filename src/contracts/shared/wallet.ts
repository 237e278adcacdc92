// The two processes of the credential wallet share these parts: what is created or exists already, and the flow that is started (P1 §1.6,
// 2.11, 4.6). No field of any of them is shown: all are the caller's, in `providerFields`.
import { z } from "zod";
import type { Rule } from "./rules.js";
import { processResult } from "./status.js";
import { AccountName, Instant, PathId, ProviderFields, ProviderId } from "./values.js";
import { words } from "./words.js";

/** Either what exists already, such as what an earlier process has created, or what is created now. */
const madeWith = (id: typeof ProviderId) =>
  z
    .strictObject({
      id: id.optional().describe("The id of what exists already, instead of `providerFields`."),
      providerFields: ProviderFields.optional().describe(
        "The whole request that creates it, instead of `id`; passed on unchanged beside the ids that the process adds.",
      ),
    })
    .superRefine((made, context) => {
      const refuse = (message: string) =>
        context.addIssue({ code: "custom", path: ["providerFields"], message });
      if (made.id === undefined && !made.providerFields)
        refuse("is required, or id in its place, if it exists already");
      if (made.id !== undefined && made.providerFields)
        refuse("must be left out: it exists already, as id says");
    });
export const Made = madeWith(ProviderId);
export type Made = z.infer<typeof Made>;

export const walletFields = {
  account: AccountName.optional(),
  operator: Made.optional()
    .describe("The operator: one that exists, or a new one (P1 §1.6, 4.6).")
    .meta({ examples: [{ providerFields: { name: "Front desk" } }] }),
  template: Made.optional()
    .describe("The credential template: one that exists, or a new one (P1 §2.11, 4.6).")
    .meta({ examples: [{ providerFields: { name: "Membership" } }] }),
  service: madeWith(PathId)
    .describe("The service that starts the flow: one that exists, or a new one (P1 §2.11, 4.6).")
    .meta({ examples: [{ providerFields: { name: "Entrance" } }] }),
  init: z
    .strictObject({
      providerFields: ProviderFields.optional().describe(
        "The whole request that starts the flow, passed on unchanged.",
      ),
    })
    .optional()
    .describe(
      "Starts the flow once everything exists (P1 §4.6). Without it the process ends as `setUp`; required if the service exists already.",
    )
    .meta({ examples: [{ providerFields: { member: "A-1842" } }] }),
};

const exists = (made: Made | undefined) => made?.id !== undefined;
const isCreated = (made: Made | undefined) => made !== undefined && !exists(made);
/** `name` is a member of the input that holds a `Made`. */
const madeIn = (input: object, name: string) => (input as Record<string, Made | undefined>)[name];

/** An existing service is started. */
export const startsWhereServiceExists: Rule<{ service: Made; init?: object | undefined }> = {
  reads: ["service", "init"],
  check({ service, init }, refuse) {
    if (exists(service) && !init) refuse("init", "is required: the service exists already");
  },
};

/** A thing that exists already is linked to its own, so nothing would use these others if they were created now (P1 §2.11). */
export function whereExisting(existing: string, ...used: string[]): Rule<object> {
  return {
    reads: [existing, ...used],
    check(input, refuse) {
      if (!exists(madeIn(input, existing))) return;
      for (const name of used.filter((one) => isCreated(madeIn(input, one))))
        refuse(name, `must not be created: ${existing} exists already, and would not use it`);
    },
  };
}

/** A thing that is created needs these others (P1 §2.11). */
export function whereCreated(created: string, ...needed: string[]): Rule<object> {
  return {
    reads: [created, ...needed],
    check(input, refuse) {
      if (!isCreated(madeIn(input, created))) return;
      for (const name of needed.filter((one) => !madeIn(input, one)))
        refuse(name, `is required: ${created} is created with it (P1 §2.11)`);
    },
  };
}

/** No status call is shown, so the outcome says no more than that the flow was started, or that everything for it exists. */
export function walletResult<P extends string>(processName: P) {
  return processResult({
    process: z.literal(processName),
    outcome: words({
      initiated: "the flow was started; the provider reports no later status",
      setUp: "everything for the flow exists, and the input asked for no start",
    }),
    dates: z.strictObject({
      initiatedAt: Instant.optional().describe("When the flow was started."),
    }),
  });
}
