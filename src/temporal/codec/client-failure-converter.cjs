// The failures that a client believes which refuses plaintext (decision 22). Its codec has opened what a failure carries, or has
// refused it: so a text or a detail that is there was encrypted by a worker. CommonJS, because the SDK loads it by require.
const { EncryptingFailureConverter } = require("./failure-converter.cjs");

/** The server's own answers to an update: they only make the client ask again, and see whether the process has ended. */
const ofServer = new Set(["AcceptedUpdateCompletedWorkflow", "UnprocessedUpdate"]);

class ClientFailureConverter extends EncryptingFailureConverter {
  /**
   * @override
   * @type {import("@temporalio/common").DefaultFailureConverter["failureToError"]}
   */
  failureToError(failure, payloadConverter, context) {
    const { encodedAttributes, applicationFailureInfo: own, serverFailureInfo } = failure;
    const isOfWorker = encodedAttributes || (own?.details?.payloads ?? []).length > 0;
    if (!isOfWorker && !serverFailureInfo && !ofServer.has(own?.type ?? "")) {
      // The name is that of src/temporal/codec/client-codec.ts.
      const message = "the failure that Temporal answered is not encrypted (codec.plaintext)";
      throw Object.assign(new Error(message), { name: "PlaintextRefused" });
    }
    return super.failureToError(failure, payloadConverter, context);
  }
}

/** @type {import("@temporalio/common").FailureConverter} */
exports.failureConverter = new ClientFailureConverter({ encodeCommonAttributes: true });
