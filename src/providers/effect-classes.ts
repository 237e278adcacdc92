// What a repeated call would do: one class per operation, for activities, tests and docs alike.
// The class alone decides what a retry may do after a lost answer.

export type EffectClass =
  /** Changes nothing; repeat. */
  | "read"
  /** The same call twice leaves the same state; repeat. */
  | "repeatable"
  /** Takes an idempotency token (P2 §4.1); look up first, then send again with the same token. */
  | "keyed"
  /** No token, but the provider can be asked whether it happened; ask, then decide. */
  | "lookup"
  /** No token and nobody to ask: without an answer the outcome is unknown. */
  | "once";

export const effects = {
  "evi-post": {
    submit: "keyed",
    query: "read",
    requestAffidavit: "once",
    cancel: "lookup",
    downloadAffidavits: "read",
  },
  "disposable-certificate": {
    checkData: "read",
    checkDataWitheIDAssertion: "read",
    enroll: "once",
    enrollDisposableWitheIDAssertion: "once",
    sendOtp: "once",
    validate: "once",
  },
  "messaging-gateway": { send: "once" },
  "one-shot-signature": {
    listTokens: "read",
    createToken: "once",
    create: "once",
    uploadDocument: "lookup",
    uploadHash: "lookup",
    contract: "read",
    otp: "once",
    sign: "once",
    retrieve: "read",
    deleteDocuments: "repeatable",
    createVideo: "once",
    uploadEvidences: "once",
    uploadVideo: "once",
    approveVideo: "once",
    cancelVideo: "once",
    getVideo: "read",
    updateVideo: "once",
  },
  "envelope-signature": { esawoneshot: "once", uploadFile: "repeatable", sendEnvelope: "once" },
} as const satisfies Record<string, Record<string, EffectClass>>;

export type Provider = keyof typeof effects;
export type Operation<P extends Provider> = keyof (typeof effects)[P] & string;

export function effectClassOf<P extends Provider>(
  provider: P,
  operation: Operation<P>,
): EffectClass {
  return effects[provider][operation] as EffectClass;
}
