// What other programs use: a sandbox in their own process, and the control of a running one.
export { sandboxControl } from "./control/client.js";
export type { SandboxControl } from "./control/client.js";
export type { Speed } from "./engine/clock.js";
export type { LedgerReport } from "./engine/ledger.js";
export { pdf } from "./exchange/pdf.js";
export type { PersonTime, SandboxOptions } from "./options.js";
export { startSandbox } from "./sandbox.js";
export type { Sandbox } from "./sandbox.js";
