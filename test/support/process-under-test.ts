// A process as the harnesses of crashes, storms, time and speed take it: how it is started with an intent that the
// sandbox's ledger counts by, the calls it makes, and how it ends well. A new process adds a descriptor, never a harness.
import type {
  ProcessHandle,
  SendPostalInput,
  SendPostalResult,
  Trustflow,
} from "../../src/client.js";
import type { ProcessName } from "../../src/contracts/names.js";
import { effectClassOf } from "../../src/providers/effects.js";
import type { EffectClass, Operation, Provider } from "../../src/providers/effects.js";
import { fastSettings, letterInput } from "./letters.js";

/** What makes a process take another way than the plain one. */
export interface Variant {
  /** Words of docs/sandbox.md; default: the descriptor's `words`. */
  words?: string;
  /** More of the process's own input. */
  input?: object;
}

/** One operation of the provider, as the process calls it. */
export interface CallUnderTest<Result = unknown> {
  /** The name in providers/effects.ts. */
  operation: string;
  effectClass: EffectClass;
  /** The name in the sandbox's faults and in its ledger. */
  sandbox: string;
  /** The activity that makes the call; for a call with an effect also the step of its row in the journal. */
  activity: string;
  /** Brings the call about; without it, the process makes it by itself. */
  ask?(handle: ProcessHandle<Result>, updateId: string): Promise<{ answer: string }>;
  /** What `ask` answers when all is well. */
  answer?: string;
  /** A way on which the call is made. */
  variant: Variant;
  /** How the process ends once the call was made. */
  outcome: string;
}

export interface ProcessUnderTest<Result extends { outcome: string } = { outcome: string }> {
  process: ProcessName;
  provider: Provider;
  /** The sandbox's words for the plain, good way. */
  words: string;
  /** How that ends. */
  outcome: string;
  /** What the ledger has for its intent then, by the sandbox's operation. */
  effects: Record<string, number>;
  /** Virtual time after which every way of this descriptor has ended. */
  spanMs: number;
  /** A way that stays open, with its polls far apart. */
  staysOpen: Variant & { words: string };
  /** A callback that claims no end; its identifier is the note that the timeline shows too. */
  callback(identifier: string, at: Date): object;
  /** Every operation of the provider that the process uses. */
  calls: CallUnderTest<Result>[];
  /** The same id and variant twice is the same process. The id is the intent too. */
  start(trustflow: Trustflow, id: string, variant?: Variant): Promise<ProcessHandle<Result>>;
}

const DAY = 86_400_000;
const registered = { certificationLevel: "Advanced" } as const;
const onDemand = { options: { ...registered, affidavitsOnDemandEnabled: true } };

/** Complete by its type: an operation without an entry does not compile. */
const postalCalls = {
  submit: { activity: "submit", outcome: "delivered", variant: {} },
  cancel: {
    activity: "cancel",
    outcome: "cancelled",
    variant: { words: "cancellable" },
    ask: (handle, updateId) => handle.cancel(updateId),
    answer: "cancelled",
  },
  requestAffidavit: {
    activity: "requestAffidavit",
    outcome: "delivered",
    variant: { input: onDemand },
    ask: (handle, updateId) => handle.requestAffidavit({}, updateId),
    answer: "requested",
  },
  query: { activity: "ask", outcome: "delivered", variant: {} },
  downloadAffidavits: { activity: "ask", outcome: "delivered", variant: {} },
} satisfies Record<
  Operation<"evi-post">,
  Omit<CallUnderTest<SendPostalResult>, "operation" | "effectClass" | "sandbox">
>;

const postalSandboxNames: Record<Operation<"evi-post">, string> = {
  submit: "evi-post.submit",
  cancel: "evi-post.cancel",
  requestAffidavit: "evi-post.affidavitRequest",
  query: "evi-post.query",
  downloadAffidavits: "evi-post.affidavitDownload",
};

export const sendPostalUnderTest: ProcessUnderTest<SendPostalResult> = {
  process: "sendPostal",
  provider: "evi-post",
  words: "delivered",
  outcome: "delivered",
  effects: { "evi-post.submit": 1 },
  spanMs: 60 * DAY,
  staysOpen: { words: "open", input: { settings: { ...fastSettings, pollIntervalSeconds: 600 } } },
  callback: (identifier, at) => ({
    Identifier: identifier,
    Kind: "Sent",
    Date: at.toISOString(),
    EvidenceType: "eviPost",
    AdditionalData: { State: "Sent", Details: identifier },
  }),
  calls: (Object.keys(postalCalls) as Operation<"evi-post">[]).map((operation) => ({
    ...postalCalls[operation],
    operation,
    effectClass: effectClassOf("evi-post", operation),
    sandbox: postalSandboxNames[operation],
  })),
  start(trustflow, id, { words = sendPostalUnderTest.words, input } = {}) {
    const more: Partial<SendPostalInput> = { options: registered, ...input };
    return trustflow.sendPostal(id, letterInput(id, words, more));
  },
};
