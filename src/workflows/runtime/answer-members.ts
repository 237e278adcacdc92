// Lists what the answer of each activity has at least, so that a workflow can read it. A stranger may put another encrypted payload of the
// process in its place (decision 22): read as the answer, that payload would throw in each workflow task from then on. A member of a later
// release must not be added: an answer that the journal keeps does not have it.
import type { Queues } from "../../activities/queues.js";
import type { LookActivities } from "../../activities/runtime/look.js";
import type { ProcessActivities } from "../../activities/runtime/process.js";

/** An object with these members, and whether nothing may be in its place. */
interface Members<K extends string> {
  has: readonly K[];
  isOptional?: true;
}
type Kind = "text" | "flag" | "list" | "nothing" | Members<string>;

type KeysOf<R> = R extends object ? keyof R & string : never;
type KindOf<R> = [R] extends [void]
  ? "nothing"
  : [R] extends [string]
    ? "text"
    : [R] extends [boolean]
      ? "flag"
      : [R] extends [readonly unknown[]]
        ? "list"
        : Members<KeysOf<R>>;
type KindsOf<A> = {
  [N in keyof A]: A[N] extends (...args: never[]) => Promise<infer R> ? KindOf<R> : never;
};

/** By the task queue without the prefix of ours, which the workflows' own queue has not, and by the name of the activity. */
type Kinds = { [Q in keyof Queues]: KindsOf<Queues[Q]> } & {
  "": KindsOf<ProcessActivities & LookActivities>;
};

const snapshot = { has: ["stamp", "state", "fingerprint"] } as const;
const document = { has: ["kind", "document"] } as const;
const answer = { has: ["answer"] } as const;
const sent = { has: ["sent"] } as const;
const verdict = { has: ["verdict"] } as const;
const anObject = { has: [] } as const;
const submitted = { has: ["uniqueId", "account", "settings", "submittedAt"] } as const;
const asked = { has: ["snapshot", "documents", "missing"] } as const;

const kinds: Kinds = {
  "": {
    // It is compared with the question (src/workflows/runtime/decisions.ts).
    checkDecision: anObject,
    decide: answer,
    isPast: "flag",
    withdraw: "text",
    lookAt: { has: ["found"] },
  },
  "credential-wallet": {
    prepareIssuance: { has: ["account", "environment"] },
    preparePresentation: { has: ["account", "environment"] },
    createOperator: { has: ["operatorId"] },
    createTemplate: { has: ["templateId"] },
    createIssuanceService: { has: ["issuanceServiceId"] },
    initIssuance: { has: ["initiatedAt"] },
    createVerificationTemplate: { has: ["verificationTemplateId"] },
    createPresentationService: { has: ["verificationServiceId"] },
    initPresentation: { has: ["initiatedAt"] },
  },
  "disposable-certificate": {
    prepare: { has: ["account", "settings"] },
    checkData: { has: ["code", "refused"], isOptional: true },
    enroll: anObject,
    sendOtp: sent,
    resendOtp: sent,
    validate: verdict,
  },
  "envelope-signature": {
    prepare: { has: ["account", "documents", "settings"] },
    create: { has: ["reqPk", "esawToken"] },
    upload: { has: ["fileId"] },
    send: { has: ["sentAt"] },
  },
  "evi-notice": {
    submit: submitted,
    ask: asked,
    attachments: { has: ["documents", "missing"] },
    requestAffidavit: answer,
    prepareNotice: { has: ["account", "input", "settings"] },
    readNotice: { has: ["state"] },
    deleteBatch: answer,
    requestBatchAffidavit: answer,
  },
  "evi-notice-batch": {
    prepareBatch: { has: ["account", "list", "settings"] },
    createBatch: { has: ["batchId"] },
    setBatchBody: "nothing",
    addRecipients: "nothing",
    addBatchAttachments: "nothing",
    configureBatch: "nothing",
    verifyBatch: "nothing",
    startBatch: { has: ["startedAt"] },
    deleteBatch: answer,
    requestBatchAffidavit: answer,
    followBatch: { has: ["stamp", "state"] },
    watchItems: { has: ["states", "at"] },
    writeReport: { has: ["counts", "csv", "jsonLines"] },
    archiveAffidavits: { has: ["collected", "missing"] },
  },
  "evi-post": {
    submit: submitted,
    ask: asked,
    cancel: answer,
    requestAffidavit: answer,
    preparePost: { has: ["account", "input"] },
  },
  "messaging-gateway": { send: { has: ["account", "environment"] } },
  "one-shot-signature": {
    prepare: { has: ["account", "documents", "settings"] },
    create: { has: ["requestPk"] },
    upload: "nothing",
    createVideo: "nothing",
    uploadEvidences: "nothing",
    uploadVideo: "nothing",
    decideVideo: answer,
    updateVideo: answer,
    contract: document,
    sendOtp: sent,
    resendOtp: sent,
    sign: verdict,
    ask: snapshot,
    fetchSigned: "list",
    deleteDocuments: "nothing",
  },
  "video-identification": {
    prepare: { has: ["account", "settings"] },
    claim: anObject,
    registerAlert: anObject,
    removeAlert: anObject,
    ask: snapshot,
    keepConference: { ...document, isOptional: true },
    keepAudit: { ...document, isOptional: true },
    deleteAudit: { ...document, isOptional: true },
    rejectCall: answer,
  },
};

const known: Record<string, Record<string, Kind> | undefined> = { ...kinds };

/** False where `given` is not of the kind that the activity of this name gives; an unknown activity may answer anything. */
export function isAnswerOf(queue: string, name: string, given: unknown): boolean {
  const [, provider = ""] = queue.split(".");
  const kind = known[provider]?.[name];
  if (kind === undefined || kind === "nothing") return true;
  if (kind === "text") return typeof given === "string";
  if (kind === "flag") return typeof given === "boolean";
  if (kind === "list") return Array.isArray(given);
  if (given === undefined || given === null) return kind.isOptional === true;
  return typeof given === "object" && kind.has.every((member) => Object.hasOwn(given, member));
}
