// What the activities of a process answer, as far as a test says nothing else.
import type { BatchPlan } from "../../src/activities/evi-notice-batch/context.js";

export const at = "2026-01-01T00:00:00.000Z";

export const document = {
  uri: `document:${"1".repeat(32)}`,
  sha256: "a".repeat(64),
  size: 1,
  mediaType: "application/pdf",
};

export const place = { environment: "sandbox", account: "default" } as const;

/** Each person is accepted, and each decision is stored. */
export const decisions = {
  checkDecision: () => ({}),
  decide: () => ({ answer: "resolved", occurrence: "1", effect: "none" }),
};

/** What the submission of a letter or of a notice answers. */
export const submitted = (settings: object) => ({
  ...place,
  ...{ uniqueId: "u-1", document, attachments: [], affidavitsOnDemand: false },
  ...{ postServiceType: "Registered", submittedAt: at, settings },
});

export const batchPlan: BatchPlan = {
  ...place,
  settings: {
    affidavitWindowSeconds: 100,
    deadlineSeconds: 1_000,
    deadlineMarginSeconds: 0,
    pollIntervalSeconds: 50,
    askIntervalSeconds: 5,
    progressIntervalSeconds: 10,
    failureBudgetCount: 10,
    failureBudgetPercent: 0,
    collectAffidavits: false,
  },
  deadlineSeconds: 1_000,
  list: { document, recipients: 100, addressDigest: "d", hasChallenges: false, unique: "address" },
  check: { recipients: 100, invalidRows: 0, problems: [] },
  ...{ given: document, body: document, attachments: [], fields: {}, allowedFailures: 10 },
};

/** A sweep over the notices of a batch. */
export const totals = (open: number, more: object = {}) => ({
  at,
  states: { read: 100 - open },
  failed: 0,
  open,
  isLast: open === 0,
  ...more,
});

/** A batch all of whose notices are read. */
export const batchFakes = (plan: BatchPlan) => ({
  prepareBatch: () => plan,
  createBatch: () => ({ batchId: "b-1" }),
  setBatchBody: () => null,
  addRecipients: () => null,
  addBatchAttachments: () => null,
  configureBatch: () => null,
  verifyBatch: () => null,
  startBatch: () => ({ startedAt: at }),
  followBatch: () => ({
    ...{ stamp: "2026-01-01T00:01:00.000Z", state: "Processed", sentCount: 100, failedCount: 0 },
  }),
  watchItems: () => totals(0),
  writeReport: () => ({
    ...{ csv: document, jsonLines: document },
    counts: { recipients: 100, withoutNotice: 0, states: {}, outcomes: {}, sources: {} },
  }),
  archiveAffidavits: () => ({ archive: document, collected: 100, missing: 0 }),
});

/** The dialogue about a code, and what follows a signature. */
export const oneShotSettings = {
  ...{ holderDeadlineSeconds: 1_000, otpTries: 3, otpResends: 3, resendSpacingSeconds: 0 },
  ...{ answerSeconds: 15, requireContractAccepted: false, deadlineSeconds: 100 },
  ...{ pollIntervalSeconds: 10_000, askIntervalSeconds: 10_000 },
};

/** A one-shot signature, until its signer is asked for the code. */
export const oneShotFakes = (plan: object, settings: object = {}) => ({
  prepare: () => ({
    ...{ ...place, variant: "classic", documents: [], canRetrieve: true },
    ...plan,
    settings: { ...oneShotSettings, ...settings },
  }),
  create: () => ({ requestPk: "r-1", createdAt: at }),
  createVideo: () => null,
  uploadEvidences: () => null,
  uploadVideo: () => null,
  contract: () => ({ kind: "contract", document }),
  sendOtp: () => ({ sent: "sent" }),
  fetchSigned: () => [],
});
