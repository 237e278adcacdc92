// Messages and stack traces of failures travel encrypted, as payloads do. CommonJS, because the SDK loads it by require,
// on the client, on the worker and inside the workflow bundle.
const { DefaultFailureConverter } = require("@temporalio/common");

/** @type {import("@temporalio/common").FailureConverter} */
exports.failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
