// Messages and stack traces of failures travel encrypted, as payloads do. CommonJS, because the SDK loads it by require,
// on the client, on the worker and inside the workflow bundle.
const { DefaultFailureConverter } = require("@temporalio/common");

/** `queryTooEarly` of src/contracts/messages.ts. Each client must be able to read it, and it tells nothing of the process. */
const inClear = "the process has just gone on: ask again";

class EncryptingFailureConverter extends DefaultFailureConverter {
  #clear = new DefaultFailureConverter();

  /**
   * @override
   * @type {DefaultFailureConverter["errorToFailure"]}
   */
  errorToFailure(error, payloadConverter) {
    // It comes from the workflow's own context, whose `Error` is another one.
    const { message } = /** @type {{ message?: unknown }} */ (error ?? {});
    if (message === inClear)
      return this.#clear.errorToFailure(new Error(inClear), payloadConverter);
    return super.errorToFailure(error, payloadConverter);
  }
}

/** @type {import("@temporalio/common").FailureConverter} */
exports.failureConverter = new EncryptingFailureConverter({ encodeCommonAttributes: true });
