// What the package publishes as `trustflow/contracts`.
import { registry } from "./registry.js";
import type { ProcessName, Registry } from "./registry.js";

export * from "./shared/failures.js";
export * from "./issue-certificate.js";
export * from "./issue-certificate/messages.js";
export * from "./issue-credential.js";
export * from "./present-credential.js";
export * from "./shared/messages.js";
export * from "./shared/names.js";
export * from "./shared/provider-event.js";
export * from "./send-message.js";
export * from "./send-notice.js";
export * from "./send-notice/messages.js";
export * from "./send-notice/states.js";
export * from "./send-notice-batch.js";
export * from "./send-notice-batch/messages.js";
export * from "./send-notice-batch/states.js";
export * from "./send-postal.js";
export * from "./send-postal/messages.js";
export * from "./send-postal/states.js";
export * from "./serve-notice.js";
export * from "./serve-notice/messages.js";
export * from "./serve-notice/states.js";
export * from "./sign-envelope.js";
export * from "./sign-one-shot.js";
export * from "./sign-one-shot/messages.js";
export * from "./shared/status.js";
export * from "./shared/values.js";
export * from "./verify-identity.js";
export * from "./verify-identity/messages.js";
export { decisionUpdates, parseWorkflowId, processes } from "./registry.js";
export type { ProcessName } from "./registry.js";

/** The schemas of each process. */
export const contracts = Object.fromEntries(
  Object.entries(registry).map(([name, { input, result, status }]) => [
    name,
    { input, result, status },
  ]),
) as { [P in ProcessName]: Pick<Registry[P], "input" | "result" | "status"> };
