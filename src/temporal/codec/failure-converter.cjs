// Messages and stack traces of failures travel encrypted, as payloads do. CommonJS, because the SDK loads it by require,
// on the client, on the worker and inside the workflow bundle.
const { ApplicationFailure, DefaultFailureConverter } = require("@temporalio/common");

/** Of src/contracts/shared/payload-marks.ts. */
const refusals = [
  "must be encrypted with a key of this deployment",
  "must be tagged with a key of keys.codecWrite, for this process",
];

/**
 * A client without a key must be able to read them, and they tell nothing of the process. The first is `queryTooEarly`
 * of src/contracts/shared/messages.ts.
 */
const inClear = new Set([
  "the process has just gone on: ask again",
  ...refusals.map((why) => `Invalid input: (input): ${why}`),
  ...refusals.map((why) => `Invalid input: (argument): ${why}`),
]);

class EncryptingFailureConverter extends DefaultFailureConverter {
  #clear = new DefaultFailureConverter();

  /**
   * @override
   * @type {DefaultFailureConverter["errorToFailure"]}
   */
  errorToFailure(error, payloadConverter) {
    const { message } = /** @type {{ message?: unknown }} */ (error ?? {});
    if (typeof message === "string" && inClear.has(message)) {
      // It may come from the workflow's own context, whose `Error` is another one.
      const shown = error instanceof ApplicationFailure ? error : new Error(message);
      return { ...this.#clear.errorToFailure(shown, payloadConverter), stackTrace: "" };
    }
    return super.errorToFailure(error, payloadConverter);
  }
}

exports.EncryptingFailureConverter = EncryptingFailureConverter;
/** @type {import("@temporalio/common").FailureConverter} */
exports.failureConverter = new EncryptingFailureConverter({ encodeCommonAttributes: true });
