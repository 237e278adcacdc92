// What the package publishes as `trustflow/contracts`, and the registry behind the JSON Schemas and the CLI.
import { SendPostalInput, SendPostalResult, SendPostalStatus } from "./send-postal.js";

export * from "./failures.js";
export * from "./messages.js";
export * from "./names.js";
export * from "./provider-event.js";
export * from "./send-postal.js";
export * from "./status.js";
export * from "./values.js";

/** One entry for each process. */
export const contracts = {
  sendPostal: { input: SendPostalInput, result: SendPostalResult, status: SendPostalStatus },
};
