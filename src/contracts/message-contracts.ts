// The messages of each process with the JSON Schemas of their arguments and answers, for applications in any language
// (docs/any-language.md). What workflows need of them is in messages.ts; the compiler keeps both the same.
import type { QueryDefinition, SignalDefinition, UpdateDefinition } from "@temporalio/common";
import { z } from "zod";
import { EidAssertion } from "./issue-certificate.js";
import { provideAssertion as provideAssertionUpdate } from "./issue-certificate/messages.js";
import * as postal from "./send-postal/messages.js";
import * as messages from "./shared/messages.js";
import * as oneShot from "./sign-one-shot/messages.js";
import type { ProcessName } from "./shared/names.js";
import { longestCode } from "./shared/one-time-password.js";
import { ProviderEvent } from "./shared/provider-event.js";
import { PostalAffidavitRequest } from "./send-postal.js";
import { ProcessStatus } from "./shared/status.js";
import { Instant } from "./shared/values.js";

export interface MessageContract {
  name: string;
  description: string;
  /** One at the most. */
  argument?: z.ZodType;
  /** A signal has none. */
  answer?: z.ZodType;
}

/** Compiles only where the schema has each member and each word of the type, and no other. */
type SchemaOf<T, S extends z.ZodType> = S &
  ([Required<T>] extends [Required<z.output<S>>]
    ? [Required<z.output<S>>] extends [Required<T>]
      ? unknown
      : never
    : never);

function update<R, A extends [] | [unknown], S extends z.ZodType, G extends z.ZodType = never>(
  { name }: UpdateDefinition<R, A>,
  contract: { description: string; answer: SchemaOf<R, S> } & (A extends [infer One]
    ? { argument: SchemaOf<One, G> }
    : object),
): MessageContract {
  return { name, ...contract };
}

function query<R, S extends z.ZodType>(
  { name }: QueryDefinition<R>,
  contract: { description: string; answer: SchemaOf<R, S> },
): MessageContract {
  return { name, ...contract };
}

function signal<One, G extends z.ZodType>(
  { name }: SignalDefinition<[One]>,
  contract: { description: string; argument: SchemaOf<One, G> },
): MessageContract {
  return { name, ...contract };
}

const answer = <const Words extends [string, ...string[]]>(...words: Words) =>
  z.strictObject({ answer: z.enum(words) });
const count = z.int().min(0);

/** Who decides, and the proof of it. */
const decider = {
  by: z.string().min(1).exactOptional(),
  note: z.string().exactOptional(),
  signature: z
    .strictObject({ operator: z.string(), at: Instant, value: z.base64() })
    .exactOptional(),
};

const cancel = update(postal.cancel, {
  description:
    "Cancel the communication while it is not dispatched (P2 §4.1 Cancel). The argument may be left out.",
  argument: z.strictObject(decider),
  answer: answer(
    "cancelled",
    "tooLate",
    "notOwner",
    "notPermitted",
    "unknown",
    "pending",
    "unavailable",
  ),
});

const requestAffidavit = update(postal.requestAffidavit, {
  description: "Request an affidavit on demand (P2 §4.1 AffidavitRequest).",
  argument: PostalAffidavitRequest,
  answer: z.union([
    z.strictObject({ answer: z.literal("requested"), requestId: z.string() }),
    z.strictObject({ answer: z.literal("refused"), reason: z.string() }),
    answer("notEligible", "unknown", "unavailable"),
  ]),
});

const notCode = "must be the code that the holder received";
const submitOtp = update(messages.submitOtp, {
  description: "The code that the holder or signer entered.",
  argument: z.strictObject({
    code: z
      .string()
      .min(1, notCode)
      .refine((code) => code.trim() !== "" && code.length <= longestCode, notCode)
      .meta({ writeOnly: true }),
  }),
  answer: z.union([
    answer("accepted", "expired", "locked", "unavailable"),
    z.strictObject({ answer: z.literal("wrong"), triesLeft: count }),
    z.strictObject({ answer: z.literal("unknown"), providerCode: z.string().exactOptional() }),
  ]),
});

const resendOtp = update(messages.resendOtp, {
  description: "Send the holder or signer another code.",
  answer: z.union([
    z.strictObject({ answer: z.enum(["sent", "unknown"]), resendsLeft: count }),
    z.strictObject({ answer: z.literal("tooSoon"), until: Instant }),
    z.strictObject({ answer: z.literal("refused"), providerCode: z.string().exactOptional() }),
    answer("limitReached", "expired", "unavailable"),
  ]),
});

const provideAssertion = update(provideAssertionUpdate, {
  description: "A new eID assertion after one was refused as expired or invalid.",
  argument: z.strictObject({ assertion: EidAssertion }),
  answer: answer("accepted", "expired", "invalid", "pending", "notAwaited"),
});

const acceptContract = update(oneShot.acceptContract, {
  description: "Whether the contract is accepted, where `requireContractAccepted` waits for that.",
  argument: z.strictObject({ accepted: z.boolean(), ...decider }),
  answer: answer("accepted", "refused", "notAwaited", "unavailable"),
});

const decideVideo = update(oneShot.decideVideo, {
  description: "Approve or cancel the identity video (P1 §1.4).",
  argument: z.strictObject({ decision: z.enum(["approve", "cancel"]), ...decider }),
  answer: answer("approved", "cancelled", "notAwaited", "refused", "unknown", "unavailable"),
});

const resolve = update(messages.resolve, {
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
});

export const updates: Record<ProcessName, MessageContract[]> = {
  sendPostal: [cancel, requestAffidavit, resolve],
  issueCertificate: [submitOtp, resendOtp, provideAssertion, resolve],
  sendMessage: [resolve],
  signOneShot: [submitOtp, resendOtp, acceptContract, decideVideo, resolve],
  signEnvelope: [resolve],
};

const secretId = z.unknown().meta({ writeOnly: true });
/** Of the ids that the decision `happened` brings, those that are secret. */
export const secretIds = z.looseObject({ deviceCode: secretId, esawToken: secretId });

/** Of every process. */
export const signals = [
  signal(messages.providerEvents, {
    description: "Callbacks of the provider, at most 100. Only Trustflow's relay sends it.",
    argument: z.array(ProviderEvent),
  }),
  signal(messages.surplus, {
    description:
      "There are more callbacks than the process was told of. Only Trustflow's relay sends it.",
    argument: z.strictObject({ count: z.int().nonnegative() }),
  }),
  signal(messages.repaired, {
    description: "A reset has repaired the process. Only Trustflow's clean-up sends it.",
    argument: z.strictObject({ runId: z.string(), since: Instant }),
  }),
];

/** Of every process. */
export const queries = [
  query(messages.status, {
    description: "Where the process stands.",
    answer: ProcessStatus,
  }),
];
