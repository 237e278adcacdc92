// The whole system on this machine, for users' own tests and programs.
export { runDev } from "./dev.js";
export type { DevOptions, EnvironmentFiles } from "./dev.js";
export { EmbeddedTrustflow, Trustflow, VirtualTrustflow } from "./embedded.js";
export type { EmbeddedOptions, VirtualOptions } from "./embedded.js";
export type { VirtualClock } from "./clock/virtual-clock.js";
export { startStack } from "./stack/stack.js";
export type { Stack } from "./stack/stack.js";
