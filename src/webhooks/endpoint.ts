import type { ProcessEventType } from "../contracts/shared/process-event.js";

/** Where webhooks go. */
export interface Endpoint {
  name: string;
  url: string;
  /** The new one first. */
  keys: readonly Buffer[];
  events: readonly ProcessEventType[];
  allowPrivate: boolean;
}
